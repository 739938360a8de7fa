// SPDX-License-Identifier: Apache-2.0
// Which bytes of a tensor a copy moves, and where they lie in the box in shared memory: rows of
// dimension 0, one after the other, the next dimension first. Rows that are narrower than their
// swizzle start at multiples of its width; the bytes between them are neither written nor counted.
// `swizzled` then says where a byte is. Elements outside the tensor take room and are counted like
// all others. All of this follows an H200.
//
// Packed elements of 4 or 6 bits count as the bytes that hold them in global memory. Padded ones take
// more room in the box, a group of sixteen its first bytes of every 16; the other bytes there are
// undefined after a load. This is by the PTX manual, for sm_100.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/tensor_map/map.h"

namespace ww::sim {

/// Where a copy starts: coordinates in the tensor, and of im2col copies the offsets of the filter.
struct TensorPoint {
  std::array<std::int32_t, kMaxTensorRank> at{};
  std::array<std::uint32_t, 3> offsets{};
  std::optional<std::array<std::int32_t, 4>> rows{};  // of dimension 1, instead of neighbours
  bool writes_chunks = false;  // of stores: all 16 bytes of a chunk of which some are inside
};

/// Elements that are neighbours in the tensor and in the box, all inside the tensor.
struct BoxRun {
  std::uint32_t at = 0;  // bytes from the start of the box, without gaps between rows
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

/// Bytes that swizzles keep together, but for the halves of one of them.
constexpr std::uint32_t kBoxChunk = 16;

/// The rows of a box.
struct BoxShape {
  std::uint64_t rows = 1;
  std::uint32_t row_bytes = 0;
  std::uint32_t pitch = 0;          // from the start of a row to that of the next one
  std::uint32_t group = kBoxChunk;  // bytes of a row that lie in the same 16 of the box

  /// The bytes that a copy counts: those in global memory.
  [[nodiscard]] std::uint64_t bytes() const { return rows * row_bytes; }
  /// Where a byte is, before it is swizzled.
  [[nodiscard]] std::uint64_t place(std::uint64_t at) const {
    const std::uint64_t in_row = at % row_bytes;
    return at / row_bytes * pitch + in_row / group * kBoxChunk + in_row % group;
  }
};
/// What an H200 takes for an illegal instruction; empty: it does not.
std::string illegal_point(const TensorMap& map, const TensorPoint& point);
/// A dimension in which a box of the tile kind leaves the tensor; nothing: it stays inside.
std::optional<unsigned> left_dimension(const TensorMap& map, const TensorPoint& point);
BoxShape shape_of_box(const TensorMap& map);
/// What a copy from there moves, in the order of the box. The box has fewer than 2^32 bytes.
std::vector<BoxRun> box_runs(const TensorMap& map, const TensorPoint& point);

/// Where a byte of a swizzled box is; both are addresses in shared memory.
std::uint64_t swizzled(TensorSwizzle swizzle, std::uint64_t address);

/// The value loaded for an element outside the tensor.
std::uint64_t fill_bits(const TensorMap& map);
/// What loading makes of elements of some types: it rounds 32-bit floats to tf32.
void convert_loaded(TensorType type, std::span<std::byte> elements);

}  // namespace ww::sim
