// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/tensor.h"

#include <charconv>
#include <optional>

#include "isa/fragment.h"
#include "lower/proof/shared_matrix.h"
#include "lower/proof/walk.h"

namespace ww::lower {
namespace {

constexpr std::int64_t kUnitBytes = 16;

// The canonical K-major layouts of a matrix descriptor, by bytes.
Try<DescribedMatrix> described_rows(std::uint64_t bits) {
  // Start, leading and stride offset, version, swizzle. No offset of the pattern, no absolute
  // leading address.
  constexpr std::uint64_t kFields = 0xE000'FFFF'3FFF'3FFF;
  if (const std::int64_t version = descriptor_field(bits, 46, 2); version != 1)
    return wrong("a matrix descriptor of version {}", version);
  if ((bits & ~kFields) != 0)
    return wrong("a matrix descriptor with other bits, {:#x}", bits & ~kFields);
  constexpr std::int64_t kNone = -1;
  constexpr std::int64_t kWidths[] = {0, kNone, 128, kNone, 64, kNone, 32, kNone};
  const std::int64_t swizzle = descriptor_field(bits, 61, 3);
  if (kWidths[swizzle] == kNone) return unknown("a matrix descriptor with swizzle {}", swizzle);
  return DescribedMatrix(descriptor_field(bits, 0, 14) * kUnitBytes,
                         descriptor_field(bits, 16, 14) * kUnitBytes,
                         descriptor_field(bits, 32, 14) * kUnitBytes, kWidths[swizzle], 1, false);
}

// "128x256b": 128 and 256.
std::optional<std::pair<std::int64_t, std::int64_t>> extents_of(std::string_view shape) {
  std::int64_t rows = 0, bits = 0;
  const char* end = shape.data() + shape.size();
  const auto first = std::from_chars(shape.data(), end, rows);
  if (first.ec != std::errc{} || first.ptr == end) return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, bits).ec != std::errc{}) return std::nullopt;
  return std::pair(rows, bits);
}

// Windows of 32 lanes, by what is written there: with four rows one lane of each; otherwise as many
// rows as there are, again for each window that the multicast names beside it.
std::vector<std::int64_t> lanes_of(std::int64_t rows, isa::Word multicast, std::int64_t row) {
  if (rows == 4) return {32 * row};
  const std::int64_t window = row / 32, lane = row % 32;
  std::vector<std::int64_t> windows{window};
  if (multicast == "warpx2::02_13") windows = {window, window + 2};
  if (multicast == "warpx2::01_23") windows = {2 * window, 2 * window + 1};
  if (multicast == "warpx4") windows = {0, 1, 2, 3};
  for (std::int64_t& w : windows) w = 32 * w + lane;
  return windows;
}

}  // namespace

std::vector<TensorCell> tensor_cells(const isa::Binding& binding, std::int64_t split,
                                     std::size_t registers) {
  std::vector<TensorCell> out;
  const bool is_packed = binding.has("pack") || binding.has("unpack");
  const auto add = [&](std::size_t lane, std::size_t reg, std::int64_t row, std::int64_t column,
                       std::int64_t further) {
    if (!is_packed) return out.push_back({lane, reg, 0, 32, row, column + further});
    for (const int half : {0, 1})
      out.push_back({lane, reg, half * 16, 16, row, column * 2 + half + further});
  };
  if (binding.word("shape") == "16x32bx2") {
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t reg = 0; reg < registers; ++reg)
        add(lane, reg, static_cast<std::int64_t>(lane % 16), static_cast<std::int64_t>(reg),
            lane < 16 ? 0 : split);
    return out;
  }
  for (const isa::Fragment& fragment : isa::fragments_of(binding))
    for (int r = 0; r < fragment.rows; ++r)
      for (int c = 0; c < fragment.cols; ++c) {
        const isa::FragmentPlace& place = fragment.at(r, c);
        add(static_cast<std::size_t>(place.lane), static_cast<std::size_t>(place.reg), r, c, 0);
      }
  return out;
}

Try<std::vector<TensorUnit>> tensor_copy_units(const isa::Binding& binding,
                                               std::uint64_t descriptor) {
  const auto extents = extents_of(binding.word("shape").text());
  if (!extents || binding.has("src")) return unknown("tcgen05.cp of {}", binding.word("shape"));
  const auto rows = WW_TRY(described_rows(descriptor));
  const isa::Word multicast = binding.word("multicast");
  std::vector<TensorUnit> out;
  for (std::int64_t row = 0; row < extents->first; ++row)
    for (std::int64_t half = 0; half * kUnitBytes * 8 < extents->second; ++half)
      out.push_back({.from = rows.byte(row, half * kUnitBytes),
                     .column = half * kUnitBytes / 4,
                     .lanes = lanes_of(extents->first, multicast, row)});
  return out;
}

}  // namespace ww::lower
