// SPDX-License-Identifier: Apache-2.0
// How the copy engine makes a copy between global and shared memory: the tensor map, the box, and how
// often an instruction is issued.
//
// A box lies in shared memory row by row, its dimension 0 first, then dimension 1, and so on, without
// gaps; a swizzle exchanges 16-byte chunks afterwards. So the tile's places in shared memory are
// taken apart into digits: each dimension of the region is a mixed-radix number, and each digit has
// one distance in shared memory. Digits sorted by that distance, as long as each begins where the
// ones before it end, make up the box; every other digit is an axis along which instructions are
// issued. A digit that is not the lowest of its dimension needs a dimension of the map of its own.
//
//     A_smem[0:128, 0:64]      swizzle of 128 bytes, float16: digits (64 at 1), (128 at 64)
//     A[m:m + 128, k:k + 64]   a map of K by M elements, a box of 64 by 128, one instruction
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/tensor_map.h"
#include "lower/copy/problem.h"
#include "lower/operand_places.h"

namespace ww::lower {

// --- digits --------------------------------------------------------------------------------------

// A tile in shared memory taken apart into digits: each dimension is a mixed-radix number, and each of
// its digits has one distance in shared memory. Row 5, column 70 of a tile in two columns of 64
// elements, of 32 rows each, is digits 5 (at 64), 6 (at 1) and 1 (at 2048).

/// Part of a coordinate: coordinate / weight % extent.
struct Digit {
  std::size_t dim = 0;
  std::int64_t weight = 1;
  std::int64_t extent = 1;
  std::int64_t distance = 0;  // in shared memory, in elements
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// The digits of a region of `counts` elements, nearest first, before the swizzle; nothing when places
/// are no sum of such distances.
std::optional<std::vector<Digit>> tile_digits(const OperandPlaces& shared,
                                              std::span<const std::int64_t> counts);

/// The same with digits cut in two that are longer than a dimension of a box may be, the first one
/// longer than `longest_row`.
std::vector<Digit> cut_digits(std::vector<Digit> digits, std::int64_t longest_row);

// --- boxes ---------------------------------------------------------------------------------------

/// Instructions are issued for each value of it.
struct IssueAxis {
  std::int64_t extent = 1;
  std::int64_t distance = 0;  // in shared memory, in elements
};

/// A dimension of the map.
struct BoxDim {
  ir::ExprId extent = {};
  ir::ExprId stride = {};  // elements; none: 1
  std::int64_t box = 1;
  ir::ExprId start = {};  // coordinate of the first instruction
  // By which an axis, given by its number, moves it.
  std::vector<std::pair<std::size_t, std::int64_t>> steps = {};
};

struct BoxPlan {
  std::vector<BoxDim> dims = {};  // innermost first
  std::vector<IssueAxis> axes = {};
  std::int64_t first = 0;    // element of the region that comes first in shared memory: its place
  std::int64_t swizzle = 0;  // bytes
  ir::ExprId pointer = {};   // to the first element of the array

  [[nodiscard]] std::int64_t issues() const;
  [[nodiscard]] std::int64_t box_elements() const;
  /// "64 x 128", the innermost dimension first.
  [[nodiscard]] std::string box_text() const;
};

/// The plan with the fewest instructions. `global` and `shared` are the numbers of the operands.
/// Declines with the rule of the copy engine that does not hold, and the numbers.
Match<BoxPlan> plan_boxes(const Call& call, const CopyProblem& problem, std::size_t global,
                          std::size_t shared);

}  // namespace ww::lower
