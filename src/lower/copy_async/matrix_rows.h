// SPDX-License-Identifier: Apache-2.0
// Rows in shared memory as a matrix descriptor finds them. Rows are 16 bytes, or two times 16; in
// these units
//
//     row r, half k  at  start + r % 8 · (units of the swizzle) + r / 8 · SBO + k · LBO
//
// and then the swizzle, which exchanges units by their address: 32, 64 or 128 bytes wide, or none.
// With a swizzle LBO is 1. PTX manual, "Shared memory descriptor".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lower/operand_places.h"

namespace ww::lower {

inline constexpr std::int64_t kRowUnitBits = 128;
inline constexpr std::int64_t kRowUnitBytes = 16;
inline constexpr std::int64_t kMaxDescriptorField = 0x3FFF;  // units, of a field of the descriptor

struct MatrixSwizzle {
  std::int64_t units;  // of a row of the pattern; 8 rows make it up
  std::uint64_t code;  // bits 61 to 63

  /// Eight rows; without a swizzle, nothing but whole units.
  [[nodiscard]] std::int64_t pattern_bytes() const {
    return units == 1 ? kRowUnitBytes : 8 * units * kRowUnitBytes;
  }
};

/// What a descriptor says, in units from a side's base on.
struct MatrixRows {
  MatrixSwizzle swizzle{};
  std::int64_t start = 0;    // before the swizzle
  std::int64_t leading = 0;  // LBO
  std::int64_t stride = 0;   // SBO

  /// All of the descriptor but for the start.
  [[nodiscard]] std::uint64_t fields() const;
  /// "swizzle of 128 bytes, groups of 8 rows 1024 bytes apart"
  [[nodiscard]] std::string text() const;
};

/// A base that begins no pattern of the swizzle: by how many units at most it is off one.
struct BaseInside {
  std::int64_t units;  // of a row of the pattern
  std::int64_t most;
};

/// How far the side's base is from the start of a pattern, where it begins none. Declines a swizzle
/// that no descriptor has, and a base that may go beyond the first row.
Match<std::optional<BaseInside>> base_inside(const Call& call, const OperandPlaces& src);

/// Finds descriptors for rows of one side.
class RowFinder {
 public:
  RowFinder(const OperandPlaces& src, std::optional<BaseInside> inside)
      : src_(src), inside_(inside) {}

  /// The descriptor of rows whose units are given, `per_row` of each; nothing when there is none.
  [[nodiscard]] std::optional<MatrixRows> find(const std::vector<std::int64_t>& units,
                                               std::int64_t per_row) const;
  /// The swizzle with which there would be one, if storage and base were aligned to its pattern.
  [[nodiscard]] std::optional<MatrixSwizzle> misaligned(const std::vector<std::int64_t>& units,
                                                        std::int64_t per_row) const;

 private:
  [[nodiscard]] bool begins_with_pattern(const MatrixSwizzle& swizzle) const;
  [[nodiscard]] std::optional<MatrixRows> with(const MatrixSwizzle& swizzle,
                                               const std::vector<std::int64_t>& units,
                                               std::int64_t per_row) const;

  const OperandPlaces& src_;
  std::optional<BaseInside> inside_;
};

}  // namespace ww::lower
