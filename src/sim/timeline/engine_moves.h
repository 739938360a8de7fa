// SPDX-License-Identifier: Apache-2.0
// Which bytes the copy engine and the tensor core moved for an instruction: the boxes of tensor copies
// in global and in shared memory, runs of bytes, the slices of A and B that a descriptor names, and who
// holds which element of a matrix in registers. It uses the virtual GPU's own functions, so it
// shows what really moved.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/lanes.h"
#include "sim/program.h"
#include "sim/timeline/engine_work.h"

namespace ww::sim {

/// Bytes that are neighbours in memory and in what is moved.
struct MovedPiece {
  std::uint32_t at = 0;  // bytes from the start of what is moved
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

/// What is moved lies in rows: of a box, of one run, lines of a matrix (of an MN-major one: its k).
struct MovedRows {
  std::uint64_t rows = 1;
  std::uint32_t row_bytes = 0;
};

/// One side of a copy. What lies outside the tensor has no bytes in global memory.
struct CopySide {
  MovedRows shape = {};
  bool is_k_major = true;  // of a matrix: a row is a line of it, not the lines at one k
  std::vector<MovedPiece> pieces = {};  // in the order of the box
};
CopySide copied_from(const EngineCopy& copy);
CopySide copied_to(const EngineCopy& copy, const CopyTarget& target);

/// The part of a matrix in shared memory that one warp multiplies (of A: 16 lines) or that all of them
/// do. Addresses are offsets in the shared memory of their CTA.
CopySide slice_of_a(const Op& op, const EngineProduct& product, unsigned warp);
CopySide slice_of_b(const Op& op, const EngineProduct& product);

/// A matrix in registers: by lane of one warp the elements it holds, row by row of the whole matrix.
struct Fragment {
  std::uint32_t rows = 0, columns = 0;
  std::array<std::vector<std::uint32_t>, kLanes> held = {};
};
/// Of the instruction's D, 64 rows by N.
Fragment fragment_of_d(const Op& op, unsigned warp);
/// Of its A, 64 rows by K as stored, where that is in registers.
Fragment fragment_of_a(const Op& op, unsigned warp);
bool has_a_in_registers(const Op& op);

}  // namespace ww::sim
