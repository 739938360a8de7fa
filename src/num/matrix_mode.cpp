// SPDX-License-Identifier: Apache-2.0
#include "num/matrix_mode.h"

#include "base/check.h"

namespace ww::num {
namespace {

constexpr MatrixUnit kNone{0, 0, 0};

// Sources: Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores" (arXiv 2512.07004), and
// MMA-Sim (arXiv 2511.10909). All of the Hopper row was compared with an H200: f16, bf16, tf32 and
// fp8 in halves by mma.sync, all but the last by wgmma. Turing's lowest exponents are Ampere's, by
// analogy.
// clang-format off
constexpr MatrixMode kModes[] = {
    // name            sm  half            half_result    tf32            fp8                  fp8_half_result in_halves is_measured
    {"Turing",         75, { 8, 24, -132}, { 8, 24, -20}, kNone,          kNone,               kNone,         false, false},
    {"Ampere",         80, { 8, 24, -132}, { 8, 24, -20}, {4, 24, -132},  kNone,               kNone,         false, false},
    {"Ada",            89, { 8, 24, -132}, { 8, 24, -20}, {4, 24, -132},  {16, 13, -132, 13},  {16, 13, -20}, false, false},
    {"Hopper",         90, kHopper16,      kHopper16Half, kHopperTf32,    {32, 13, -133, 13},  {32, 13, -21}, true,  true},
    {"Blackwell",     100, {16, 25, -133}, {16, 25, -21}, {8, 25, -133},  {32, 25, -133},      {32, 25, -21}, true,  false},
    {"RTX Blackwell", 120, {16, 25, -133}, {16, 25, -21}, {8, 25, -133},  {32, 25, -133},      {32, 25, -21}, false, false},
};
// clang-format on

}  // namespace

const MatrixMode& mode_of(int sm_number) {
  const MatrixMode* mode = nullptr;
  for (const MatrixMode& row : kModes) {
    if (row.first_sm <= sm_number) mode = &row;
  }
  WW_CHECK(mode != nullptr, "sm_{} is older than sm_75", sm_number);
  return *mode;
}

std::span<const MatrixMode> all_matrix_modes() { return kModes; }

}  // namespace ww::num
