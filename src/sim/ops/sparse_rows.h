// SPDX-License-Identifier: Apache-2.0
// Rows of a sparse A, of mma.sp, wgmma.sp and tcgen05.mma.sp. A row keeps half of its elements and
// stores no others. Its metadata says which: four bits for each group of neighbours, the lowest bits
// for the first group. A group has four units of which two are kept; the lower two bits of its metadata
// are the place of the first, the upper two that of the second.
//
//   element    unit             a group keeps
//   8, 16 bit  an element       2 of 4
//   4 bit      two elements     2 pairs of 4
//   tf32       half an element  1 of 2: metadata 0b0100 the first, 0b1110 the second
//
// What an H200 does with metadata that the manual does not allow is done here, too: it takes these units
// of B, be it one of them twice or halves of two elements.
//
// Each row meets elements of B of its own, so products go row by row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "num/matrix_tile.h"
#include "sim/lanes.h"

namespace ww::sim {

class Warp;

constexpr unsigned kMaxKept = 64;      // elements
constexpr unsigned kMetadataBits = 4;  // of a group
constexpr unsigned kGroupsOfWord = 8;  // of metadata
constexpr unsigned kMaxSparseGroups = 16;

/// What the rows of a sparse A have in common.
struct SparseRows {
  unsigned bits = 16;  // of an element as it is stored: 4, 8, 16 or 32
  unsigned kept = 16;  // elements of a row

  /// Elements that a group keeps; it has twice as many.
  [[nodiscard]] unsigned kept_of_group() const { return bits == 32 ? 1 : bits == 4 ? 4 : 2; }
  [[nodiscard]] unsigned groups() const { return kept / kept_of_group(); }
};

/// The metadata of the rows of mma and wgmma: 16 rows in 32 lanes, rows g and g + 8 in the quad 4g.
/// One lane of it, two or all four have metadata:
///
///   16 and 32 bits, 4 groups   lane `selector`; row g in its lower half, row g + 8 in the upper
///   16 and 32 bits, 8 groups   lane 2 * selector + group / 4, halves alike
///   4 and 8 bits, 8 groups     lane 2 * selector + row / 8, the whole word
///   4 and 8 bits, 16 groups    lane row / 8 + 2 * (group / 8), the whole word
using RowMetadata = std::array<std::uint64_t, num::kMaxTileM>;
RowMetadata metadata_of_rows(const SparseRows& rows, const std::uint32_t* words, unsigned selector);
/// The lanes that have metadata.
Mask metadata_lanes(const SparseRows& rows, unsigned selector);
/// The lane with the metadata of a group.
unsigned metadata_lane(const SparseRows& rows, unsigned row, unsigned group, unsigned selector);

/// The order of places in metadata. The manual of tcgen05 has ascending ones and 0b0110.
enum class PlaceOrder : std::uint8_t { Ascending, AscendingOrTwoOne, Any };

/// A group of a row whose metadata the manual does not allow.
struct BadGroup {
  unsigned group;
  std::string text;  // what is there, and what may be
};
std::optional<BadGroup> find_bad_group(const SparseRows& rows, std::uint64_t metadata,
                                       PlaceOrder order);

/// Reports metadata of 16 rows that the manual does not allow (`align`); they are rows `first` and on.
void check_metadata(Warp& warp, const SparseRows& rows, const RowMetadata& metadata,
                    unsigned selector, PlaceOrder order, unsigned first = 0);

/// The elements of eight columns of B, [8][2 * kept], that a row meets: [8][kept].
void take_columns(const SparseRows& rows, std::uint64_t metadata, const std::uint32_t* b,
                  std::uint32_t* columns);

}  // namespace ww::sim
