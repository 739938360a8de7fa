// SPDX-License-Identifier: Apache-2.0
// A tile in shared memory taken apart into digits: each dimension is a mixed-radix number, and each of
// its digits has one distance in shared memory. Row 5, column 70 of a tile in two columns of 64
// elements, of 32 rows each, is digits 5 (at 64), 6 (at 1) and 1 (at 2048).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

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

}  // namespace ww::lower
