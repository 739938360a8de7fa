// SPDX-License-Identifier: Apache-2.0
#include "num/host_lanes.h"

#include <cstdlib>
#include <utility>

namespace ww::num {

#if defined(__x86_64__) && !defined(__AVX2__)
namespace {

bool has_instructions() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}

}  // namespace

bool has_wide_lanes = has_instructions() && std::getenv("WW_PLAIN_LANES") == nullptr;

bool use_wide_lanes(bool are_wanted) {
  return std::exchange(has_wide_lanes, are_wanted && has_instructions());
}
#else
bool use_wide_lanes(bool) { return false; }
#endif

}  // namespace ww::num
