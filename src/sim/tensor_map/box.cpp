// SPDX-License-Identifier: Apache-2.0
#include "sim/tensor_map/box.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace ww::sim {
namespace {

constexpr std::int64_t kChunk = 16;         // bytes that the engine writes at least
constexpr std::int64_t kPaddedStart = 128;  // what coordinate 0 of padded elements is a multiple of
constexpr std::uint32_t kGroup = 16;        // padded elements that share 16 bytes of the box

// The engine steps from slice to slice in dimension 0, but not from element to element.
std::uint32_t step_in(const TensorMap& map, unsigned d) {
  return d == 0 && map.interleave == Interleave::None ? 1 : map.element_strides[d];
}
// Elements of the box in a dimension. Of interleaved channels, one slice at a time: the dimension
// before the last counts slices.
std::uint32_t count_in(const TensorMap& map, unsigned d) {
  if (map.interleave != Interleave::None && d + 2 == map.rank) return 1;
  const std::uint32_t step = step_in(map, d);
  return (map.box[d] + step - 1) / step;
}

// To nearest even; every NaN becomes one.
std::uint32_t to_tf32(std::uint32_t bits) {
  if ((bits & 0x7FFF'FFFFU) > 0x7F80'0000U) return 0x7FFF'E000U;
  return (bits + 0xFFFU + ((bits >> 13U) & 1U)) & ~0x1FFFU;
}

bool is_inside(const TensorMap& map, unsigned d, std::int64_t at) {
  return at >= 0 && static_cast<std::uint64_t>(at) < map.dims[d];
}

// The tensor as one of the bytes that hold packed elements.
TensorMap in_bytes(const TensorMap& map) {
  if (!is_packed(map.type)) return map;
  TensorMap bytes = map;
  const auto scaled = [&](std::uint64_t elements) { return elements * info(map.type).bits / 8; };
  bytes.type = TensorType::U8;
  bytes.dims[0] = scaled(map.dims[0]);
  bytes.box[0] = static_cast<std::uint32_t>(scaled(map.box[0]));
  if (bytes.im2col)
    bytes.im2col->channels = static_cast<std::uint32_t>(scaled(map.im2col->channels));
  return bytes;
}
// `at` is a coordinate that `illegal_point` takes, so it is a whole number of bytes.
TensorPoint in_bytes(const TensorMap& map, TensorPoint point) {
  if (is_packed(map.type))
    point.at[0] = static_cast<std::int32_t>(std::int64_t{point.at[0]} * info(map.type).bits / 8);
  return point;
}

/// Collects the parts of rows of `count` elements, `step` apart, that are inside the tensor.
class RunList {
 public:
  RunList(const TensorMap& map, const TensorPoint& point, std::uint32_t count, std::uint32_t step)
      : unit_(unit_bytes(map)), count_(count), step_(step), first_(point.at[0]) {
    const std::int64_t first = first_;
    auto size = static_cast<std::int64_t>(map.dims[0]);
    if (point.writes_chunks) size = (size * unit_ + kChunk - 1) / kChunk * kChunk / unit_;
    const auto steps_to = [&](std::int64_t at) {  // the first index that is there or behind
      return std::max<std::int64_t>(at - first + step - 1, 0) / step;
    };
    low_ = std::min<std::int64_t>(steps_to(0), count);
    high_ = std::clamp<std::int64_t>(steps_to(size), low_, count);
  }
  /// `row`: the address of coordinate 0 in it.
  void add(std::uint64_t row) {
    const auto put = [&](std::int64_t from, std::int64_t to) {
      runs.push_back({next_ + static_cast<std::uint32_t>(from) * unit_,
                      row + static_cast<std::uint64_t>(first_ + from * step_) * unit_,
                      static_cast<std::uint32_t>(to - from) * unit_});
    };
    if (step_ == 1) {
      if (high_ > low_) put(low_, high_);
    } else {
      for (std::int64_t i = low_; i < high_; ++i) put(i, i + 1);
    }
    skip();
  }
  void skip() { next_ += count_ * unit_; }

  std::vector<BoxRun> runs;

 private:
  std::uint32_t unit_, count_;
  std::int64_t step_, first_, low_ = 0, high_ = 0;
  std::uint32_t next_ = 0;
};

std::vector<BoxRun> tile_runs(const TensorMap& map, const TensorPoint& point) {
  RunList list(map, point, count_in(map, 0), step_in(map, 0));
  std::array<std::uint64_t, kMaxTensorRank> index{};
  for (;;) {
    std::uint64_t row = map.address;
    bool inside = true;
    for (unsigned d = 1; d < map.rank; ++d) {
      const std::int64_t at =
          point.rows ? (*point.rows)[index[d]]
                     : point.at[d] + static_cast<std::int64_t>(index[d] * map.element_strides[d]);
      inside = inside && is_inside(map, d, at);
      row += static_cast<std::uint64_t>(at) * map.strides[d - 1];
    }
    inside ? list.add(row) : list.skip();
    unsigned d = 1;
    while (d < map.rank && ++index[d] == count_in(map, d)) index[d++] = 0;
    if (d >= map.rank) return std::move(list.runs);
  }
}

// Pixels follow each other inside the box of pixels, along W, then H, then D, then to the next
// image. The filter's offsets move each of them, without moving the box.
std::vector<BoxRun> column_runs(const TensorMap& map, const TensorPoint& point) {
  const Im2col& columns = *map.im2col;
  const unsigned last = map.rank - 1;
  RunList list(map, point, columns.channels, 1);
  std::array<std::int64_t, kMaxTensorRank> at{};
  std::copy(point.at.begin(), point.at.end(), at.begin());
  for (std::uint32_t pixel = 0; pixel < columns.pixels; ++pixel) {
    std::uint64_t row = map.address;
    bool inside = true;
    for (unsigned d = 1; d <= last; ++d) {
      const std::int64_t here = at[d] + (d < last ? point.offsets[d - 1] : 0);
      inside = inside && is_inside(map, d, here);
      row += static_cast<std::uint64_t>(here) * map.strides[d - 1];
    }
    inside ? list.add(row) : list.skip();
    unsigned d = 1;
    for (; d < last; ++d) {
      at[d] += map.element_strides[d];
      if (at[d] < static_cast<std::int64_t>(map.dims[d]) + columns.upper[d - 1]) break;
      at[d] = columns.lower[d - 1];
    }
    if (d == last) at[last] += map.element_strides[last];
  }
  return std::move(list.runs);
}

}  // namespace

std::optional<unsigned> left_dimension(const TensorMap& map, const TensorPoint& point) {
  for (unsigned d = 0; d < map.rank; ++d) {
    const std::int64_t last = (count_in(map, d) - 1) * std::int64_t{step_in(map, d)};
    if (!is_inside(map, d, point.at[d]) || !is_inside(map, d, point.at[d] + last)) return d;
  }
  return std::nullopt;
}

std::string illegal_point(const TensorMap& map, const TensorPoint& point) {
  if (is_packed(map.type)) {
    const std::int64_t whole =
        is_padded(map.type) ? kPaddedStart : kChunk * 8 / info(map.type).bits;
    if (point.at[0] % whole != 0)
      return fmt::format("coordinate 0 is {}, expected a multiple of {} with elements of {}",
                         point.at[0], whole, info(map.type).name);
  }
  const std::int64_t start = is_packed(map.type) ? 0 : std::int64_t{point.at[0]} * unit_bytes(map);
  if (start % kChunk != 0)
    return fmt::format(
        "coordinate 0 is {}, {} bytes from the start of the row, expected a multiple of {} bytes",
        point.at[0], start, kChunk);
  for (unsigned d = 0; d < map.rank && point.writes_chunks; ++d) {
    if (point.at[d] < 0)
      return fmt::format("coordinate {} of a store is {}, expected 0 or more", d, point.at[d]);
  }
  if (point.writes_chunks && point.rows) {
    for (const std::int32_t row : *point.rows)
      if (row < 0) return fmt::format("a store has row {}, expected 0 or more", row);
  }
  for (unsigned d = 1; d + 1 < map.rank && map.im2col; ++d) {
    const std::int64_t low = map.im2col->lower[d - 1];
    if (point.writes_chunks && (low < 0 || map.im2col->upper[d - 1] > 0))
      return fmt::format(
          "the box of pixels of a store goes beyond the tensor in dimension {}: `lower` is {}, "
          "`upper` is {}",
          d, low, map.im2col->upper[d - 1]);
    const std::int64_t end = static_cast<std::int64_t>(map.dims[d]) + map.im2col->upper[d - 1];
    if (point.at[d] < low || point.at[d] >= end)
      return fmt::format("coordinate {} is {}, expected {} to {}, in the box of pixels", d,
                         point.at[d], low, end - 1);
  }
  return "";
}

BoxShape shape_of_box(const TensorMap& map) {
  const TensorMap bytes = in_bytes(map);
  BoxShape shape;
  const std::uint32_t count = map.im2col ? bytes.im2col->channels : count_in(bytes, 0);
  shape.row_bytes = count * unit_bytes(bytes);
  if (is_padded(map.type)) shape.group = kGroup * info(map.type).bits / 8;
  const std::uint32_t width = shape.row_bytes / shape.group * kBoxChunk;
  shape.pitch = std::max(is_padded(map.type) ? width : shape.row_bytes,
                         map.interleave == Interleave::None ? swizzle_bytes(map.swizzle) : 0);
  if (map.im2col) shape.rows = map.im2col->pixels;
  for (unsigned d = 1; d < map.rank && !map.im2col; ++d) shape.rows *= count_in(map, d);
  return shape;
}

std::vector<BoxRun> box_runs(const TensorMap& map, const TensorPoint& point) {
  const TensorMap bytes = in_bytes(map);
  const TensorPoint from = in_bytes(map, point);
  return map.im2col ? column_runs(bytes, from) : tile_runs(bytes, from);
}

std::uint64_t swizzled(TensorSwizzle swizzle, std::uint64_t address) {
  switch (swizzle) {
    case TensorSwizzle::None:
      return address;
    case TensorSwizzle::B32:
      return address ^ ((address >> 3U) & 0x10U);
    case TensorSwizzle::B64:
      return address ^ ((address >> 3U) & 0x30U);
    case TensorSwizzle::B128:
      return address ^ ((address >> 3U) & 0x70U);
    case TensorSwizzle::Atom32:
      return address ^ ((address >> 2U) & 0x60U);
    case TensorSwizzle::Atom32Flip:
      return address ^ ((address >> 2U) & 0x60U) ^ ((address >> 4U) & 0x8U);
    case TensorSwizzle::Atom64:
      return address ^ ((address >> 1U) & 0x40U);
  }
  return address;
}

std::uint64_t fill_bits(const TensorMap& map) {
  if (map.fill != TensorFill::Nan) return 0;
  switch (info(map.type).bits) {
    case 16:
      return 0x7FF7U;
    case 32:
      return 0x7FF7'7FF7U;
    default:
      return 0x7FF7'7FF7'7FF7'7FF7U;
  }
}

void convert_loaded(TensorType type, std::span<std::byte> elements) {
  if (type != TensorType::Tf32 && type != TensorType::Tf32Ftz) return;
  for (std::size_t i = 0; i + 4 <= elements.size(); i += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &elements[i], sizeof bits);
    bits = to_tf32(bits);
    std::memcpy(&elements[i], &bits, sizeof bits);
  }
}

}  // namespace ww::sim
