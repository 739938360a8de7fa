// SPDX-License-Identifier: Apache-2.0
// How the matrix units of each GPU generation add, as a table: num/matrix_unit.h explains the
// numbers, docs/evidence/numbers.md says which rows were compared with a device.
#pragma once

#include <span>
#include <string_view>

#include "num/matrix_unit.h"

namespace ww::num {

/// One generation. A unit with no products to a block is one it does not have.
struct MatrixMode {
  std::string_view name;   // "Hopper"
  int first_sm;            // the lowest number of its architectures
  MatrixUnit half;         // f16 and bf16 inputs, f32 result
  MatrixUnit half_result;  // f16 inputs and result
  MatrixUnit tf32;
  MatrixUnit fp8;              // fp8, fp6 and fp4 inputs, f32 result
  MatrixUnit fp8_half_result;  // the same, f16 result
  // mma.sync converts fp8 to f16 and multiplies in two halves with the units for f16; wgmma and
  // tcgen05 never do: clear this for them.
  bool fp8_in_halves;
  bool is_measured;  // on a device, rather than taken from publications
};

/// The mode of `sm_<number>`, e.g. 90; of a number between two generations, the older one's. A
/// number below 75 is a bug of the caller.
const MatrixMode& mode_of(int sm_number);

/// All of them, oldest first.
std::span<const MatrixMode> all_matrix_modes();

}  // namespace ww::num
