// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/sparse_rows.h"

#include <fmt/format.h>

#include "sim/run/warp.h"

namespace ww::sim {
namespace {

constexpr unsigned kQuadLanes = 4;  // lanes that share two rows
constexpr unsigned kHalfRows = 8;   // rows g and g + 8 are in one quad
constexpr unsigned kHalfGroups = kGroupsOfWord / 2;

/// Where the metadata of a group lies in its quad.
struct MetadataPlace {
  unsigned lane;  // of the four
  unsigned bit;
};

MetadataPlace place_of(const SparseRows& rows, unsigned row, unsigned group, unsigned selector) {
  const unsigned half = row / kHalfRows;
  if (rows.bits <= 8)
    return {2 * selector + half + 2 * (group / kGroupsOfWord),
            group % kGroupsOfWord * kMetadataBits};
  const unsigned lanes = rows.groups() / kHalfGroups;
  return {lanes * selector + group / kHalfGroups,
          (half * kHalfGroups + group % kHalfGroups) * kMetadataBits};
}

unsigned code_of(std::uint64_t metadata, unsigned group) {
  return static_cast<unsigned>(metadata >> (group * kMetadataBits)) & 0xFU;
}

bool is_allowed(const SparseRows& rows, unsigned code, PlaceOrder order) {
  if (rows.bits == 32) return code == 0x4 || code == 0xE;
  const unsigned first = code & 3U, second = code >> 2U;
  if (order == PlaceOrder::Any) return first != second;
  return first < second || (order == PlaceOrder::AscendingOrTwoOne && code == 0x6);
}

std::string_view allowed_codes(const SparseRows& rows, PlaceOrder order) {
  if (rows.bits == 32) return "it is 0b0100 or 0b1110";
  switch (order) {
    case PlaceOrder::Ascending:
      return "it has two places in ascending order, the lower one in its lower bits";
    case PlaceOrder::AscendingOrTwoOne:
      return "it has two places in ascending order, or is 0b0110";
    case PlaceOrder::Any:
      break;
  }
  return "it has two different places";
}

/// The place in the whole row of each element that is kept; of tf32, of each half.
using KeptPlaces = std::array<std::uint8_t, kMaxKept>;
KeptPlaces kept_places(const SparseRows& rows, std::uint64_t metadata) {
  KeptPlaces places{};
  auto next = places.begin();
  const unsigned unit = rows.bits == 4 ? 2 : 1;  // places
  for (unsigned group = 0; group < rows.groups(); ++group) {
    const unsigned code = code_of(metadata, group);
    for (const unsigned kept : {code & 3U, code >> 2U}) {
      for (unsigned i = 0; i < unit; ++i)
        *next++ = static_cast<std::uint8_t>((group * 4 + kept) * unit + i);
    }
  }
  return places;
}

}  // namespace

unsigned metadata_lane(const SparseRows& rows, unsigned row, unsigned group, unsigned selector) {
  return row % kHalfRows * kQuadLanes + place_of(rows, row, group, selector).lane;
}

RowMetadata metadata_of_rows(const SparseRows& rows, const std::uint32_t* words,
                             unsigned selector) {
  RowMetadata metadata{};
  for (unsigned row = 0; row < metadata.size(); ++row) {
    for (unsigned group = 0; group < rows.groups(); ++group) {
      const MetadataPlace at = place_of(rows, row, group, selector);
      const std::uint64_t code = (words[row % kHalfRows * kQuadLanes + at.lane] >> at.bit) & 0xFU;
      metadata[row] |= code << (group * kMetadataBits);
    }
  }
  return metadata;
}

Mask metadata_lanes(const SparseRows& rows, unsigned selector) {
  Mask lanes = 0;
  for (unsigned row = 0; row < 2 * kHalfRows; ++row) {
    for (unsigned group = 0; group < rows.groups(); ++group)
      lanes |= lane_bit(metadata_lane(rows, row, group, selector));
  }
  return lanes;
}

std::optional<BadGroup> find_bad_group(const SparseRows& rows, std::uint64_t metadata,
                                       PlaceOrder order) {
  for (unsigned group = 0; group < rows.groups(); ++group) {
    const unsigned code = code_of(metadata, group);
    if (is_allowed(rows, code, order)) continue;
    const unsigned length = 2 * rows.kept_of_group();
    return BadGroup{group,
                    fmt::format("metadata 0b{:04b} for elements {} to {}; {}", code, group * length,
                                (group + 1) * length - 1, allowed_codes(rows, order))};
  }
  return std::nullopt;
}

void check_metadata(Warp& warp, const SparseRows& rows, const RowMetadata& metadata,
                    unsigned selector, PlaceOrder order, unsigned first) {
  if (!warp.checks(Check::Align)) return;
  for (unsigned row = 0; row < metadata.size(); ++row) {
    const auto bad = find_bad_group(rows, metadata[row], order);
    if (!bad) continue;
    if (warp.is_new(Check::Align))
      warp.report(Check::Align, lane_bit(metadata_lane(rows, row, bad->group, selector)),
                  fmt::format("row {} of A has {}", first + row, bad->text));
    return;
  }
}

void take_columns(const SparseRows& rows, std::uint64_t metadata, const std::uint32_t* b,
                  std::uint32_t* columns) {
  const KeptPlaces places = kept_places(rows, metadata);
  const auto half = [](const std::uint32_t* from, unsigned place) {
    return (from[place / 2] >> (place % 2 * 16)) & 0xFFFFU;
  };
  for (unsigned column = 0; column < num::kMaxTileN; ++column) {
    const std::uint32_t* const from = b + std::size_t{column} * rows.kept * 2;
    for (unsigned i = 0; i < rows.kept; ++i) {
      *columns++ = rows.bits == 32
                       ? half(from, places[2 * i]) | half(from, places[2 * i + 1]) << 16U
                       : from[places[i]];
    }
  }
}

}  // namespace ww::sim
