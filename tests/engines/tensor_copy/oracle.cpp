// SPDX-License-Identifier: Apache-2.0
#include "engines/tensor_copy/oracle.h"

#include <cstring>
#include <optional>

namespace ww::tensor_cases {
namespace {

using Coordinates = std::vector<std::int64_t>;

// The coordinates of the box's elements, in the order in which they lie in shared memory.
std::vector<Coordinates> tile_elements(const Case& c) {
  std::vector<Coordinates> all = {{}};
  for (int d = static_cast<int>(c.rank) - 1; d >= 0; --d) {
    const bool is_dense = d == 0 && c.interleave == 0;
    const bool is_slices = c.interleave != 0 && d == static_cast<int>(c.rank) - 2;
    std::vector<Coordinates> longer;
    for (const Coordinates& outer : all) {
      for (std::uint32_t i = 0; i < (is_slices ? 1 : c.box[d]); i += is_dense ? 1 : c.steps[d]) {
        Coordinates inner = {std::int64_t{c.at[d]} + i};
        inner.insert(inner.end(), outer.begin(), outer.end());
        longer.push_back(inner);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// The pixels of an image's box from a place on, W fastest.
void add_pixels(const Case& c, unsigned d, Coordinates from, std::vector<Coordinates>& out) {
  if (d == 0) {
    out.push_back(from);
    return;
  }
  const std::int64_t end = static_cast<std::int64_t>(c.dims[d]) + c.upper[d - 1];
  for (bool is_first = true; from[d] < end; from[d] += c.steps[d], is_first = false) {
    if (!is_first)
      for (unsigned inner = 1; inner < d; ++inner) from[inner] = c.lower[inner - 1];
    add_pixels(c, d - 1, from, out);
  }
}

std::vector<Coordinates> column_elements(const Case& c) {
  std::vector<Coordinates> pixels;
  Coordinates from(c.at, c.at + c.rank);
  while (pixels.size() < c.pixels) {
    add_pixels(c, c.rank - 2, from, pixels);
    for (unsigned d = 1; d + 1 < c.rank; ++d) from[d] = c.lower[d - 1];
    from[c.rank - 1] += c.steps[c.rank - 1];
  }
  pixels.resize(c.pixels);
  std::vector<Coordinates> all;
  for (Coordinates& pixel : pixels) {
    for (unsigned d = 1; d + 1 < c.rank; ++d)
      pixel[d] += c.kind == kIm2colLoad ? c.offsets[d - 1] : 0;
    for (std::uint32_t channel = 0; channel < c.channels; ++channel) {
      all.push_back(pixel);
      all.back()[0] += channel;
    }
  }
  return all;
}

// Where an element is in the slot; none outside the tensor. Stores write whole chunks of 16 bytes
// wherever a row of the tensor has some of them.
std::optional<std::size_t> place_in_slot(const Case& c, const Coordinates& at, std::size_t unit) {
  std::size_t place = c.base;
  for (std::size_t d = 0; d < at.size(); ++d) {
    std::size_t end = c.dims[d];
    if (d == 0 && writes_tensor(c)) end = (end * unit + 15) / 16 * 16 / unit;
    if (at[d] < 0 || at[d] >= static_cast<std::int64_t>(end)) return {};
    place += static_cast<std::size_t>(at[d]) * (d == 0 ? unit : c.strides[d - 1]);
  }
  return place;
}

constexpr std::size_t kLines[] = {1, 2, 4, 8};  // by swizzle, after which it starts over

// Where byte `byte` of element i of the box is. A row takes at least the width of its swizzle; the
// manual's tables change the number of a 16-byte chunk by that of its line of 128 bytes.
std::size_t place_in_shared(const Case& c, std::size_t i, std::size_t unit, std::size_t byte) {
  const std::size_t steps = c.interleave == 0 ? 1 : c.steps[0];
  const std::size_t across = is_im2col(c) ? c.channels : (c.box[0] + steps - 1) / steps;
  std::size_t pitch = across * unit;
  if (c.swizzle != 0 && c.interleave == 0 && pitch < kSwizzleBytes[c.swizzle])
    pitch = kSwizzleBytes[c.swizzle];
  const std::size_t place = c.shared + i / across * pitch + i % across * unit + byte;
  const std::size_t line = place / 128;
  const std::size_t chunk = place / 16 % 8;
  return line * 128 + (chunk ^ (line % kLines[c.swizzle])) * 16 + place % 16;
}

// To nearest even, by comparing with the two neighbours; every NaN becomes one.
std::uint32_t to_tf32(std::uint32_t bits) {
  constexpr std::uint32_t kStep = 0x2000;
  const std::uint32_t size = bits & 0x7FFF'FFFFU;
  if (size > 0x7F80'0000U) return 0x7FFF'E000U;
  const std::uint32_t below = size / kStep * kStep;
  const std::uint32_t rest = size - below;
  const bool is_up = rest * 2 > kStep || (rest * 2 == kStep && below / kStep % 2 == 1);
  return (bits & 0x8000'0000U) | (below + (is_up ? kStep : 0));
}

void convert(const Case& c, unsigned char* element) {
  if (c.type != 11 && c.type != 12) return;
  std::uint32_t bits = 0;
  std::memcpy(&bits, element, 4);
  bits = to_tf32(bits);
  std::memcpy(element, &bits, 4);
}

}  // namespace

void copy_by_definition(const Case& c, Memories& memories) {
  const std::size_t element = kTypeBytes[c.type];
  const std::size_t unit = c.interleave == 0 ? element : c.interleave == 1 ? 16 : 32;
  auto* shared = reinterpret_cast<unsigned char*>(memories.shared.data());
  auto* slot = reinterpret_cast<unsigned char*>(memories.slot.data());
  const auto elements = is_im2col(c) ? column_elements(c) : tile_elements(c);
  const std::uint64_t nan = 0x7FF7'7FF7'7FF7'7FF7U;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto place = place_in_slot(c, elements[i], unit);
    for (std::size_t part = 0; part < unit; part += element) {
      unsigned char* there = shared + place_in_shared(c, i, unit, part);
      if (writes_tensor(c)) {
        if (place) std::memcpy(slot + *place + part, there, element);
      } else if (place) {
        std::memcpy(there, slot + *place + part, element);
        convert(c, there);
      } else {
        std::memset(there, 0, element);
        if (c.fill == 1) std::memcpy(there, &nan, element);
      }
    }
  }
}

}  // namespace ww::tensor_cases
