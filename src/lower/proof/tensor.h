// SPDX-License-Identifier: Apache-2.0
// What tcgen05.ld, .st and .cp move, by their definition, for lower/proof/proof.h: from the words
// of the instruction, and the bits of a descriptor, to lanes and columns of tensor memory.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/catalogue.h"
#include "lower/proof/names.h"

namespace ww::lower {

/// Bits of a register of a lane of the warp, and where they are: from the lane and the column of
/// the instruction's address on.
struct TensorCell {
  std::size_t lane, reg;
  int bit, bits;
  std::int64_t row, column;
};

/// All of a tcgen05.ld or .st with so many registers; `split` is the immediate of 16x32bx2.
std::vector<TensorCell> tensor_cells(const isa::Binding& binding, std::int64_t split,
                                     std::size_t registers);

/// 16 bytes of shared memory, and where they go: four columns of some lanes, from the address of
/// the instruction on.
struct TensorUnit {
  std::int64_t from = 0;  // byte of the shared window
  std::int64_t column = 0;
  std::vector<std::int64_t> lanes;
};

/// All of a tcgen05.cp, or what is wrong with the descriptor.
Try<std::vector<TensorUnit>> tensor_copy_units(const isa::Binding& binding,
                                               std::uint64_t descriptor);

}  // namespace ww::lower
