// SPDX-License-Identifier: Apache-2.0
// For tests: puts matrices into an image of shared memory as kernels do it, tile by tile and with the
// exchange of chunks inside a tile, and gives their tcgen05 descriptors.
#pragma once

#include <cstdint>
#include <vector>

namespace ww::sim::tcgen05_mma_test {

using Elements = std::vector<std::vector<std::uint32_t>>;  // by line and k

struct Swizzle {
  std::uint64_t code;
  unsigned chunks;     // of 16 bytes in a row of the pattern
  unsigned rows = 8;   // of the pattern
  unsigned piece = 1;  // chunks that move together
};
inline constexpr Swizzle kSwizzles[] = {{0, 1}, {2, 8}, {4, 4}, {6, 2}};
inline constexpr Swizzle kWideAtoms{1, 8, 4, 2};

/// Where a tile has chunk `chunk` of its row: the pattern exchanges pieces by the number of the row of
/// 128 bytes.
inline unsigned place(const Swizzle& s, unsigned row, unsigned chunk) {
  const unsigned exchange = row * s.chunks / 8 % s.chunks;
  const unsigned moved = (chunk / s.piece ^ exchange % (s.chunks / s.piece)) * s.piece;
  return (row * s.chunks + moved + chunk % s.piece) * 16;
}

/// Bits of an element, and how many a chunk has.
struct Packing {
  unsigned bits, each;
};

/// A matrix in the usual tiles. Returns its descriptor.
inline std::uint64_t put(std::vector<std::uint8_t>& image, unsigned from, const Elements& lines,
                         Packing packing, Swizzle swizzle, bool is_mn_major) {
  const auto count = static_cast<unsigned>(lines.size());
  const auto k_count = static_cast<unsigned>(lines[0].size());
  const unsigned inner_count = is_mn_major ? count : k_count;
  const unsigned chunks = (inner_count + packing.each - 1) / packing.each;
  const unsigned tiles = (chunks + swizzle.chunks - 1) / swizzle.chunks;
  const unsigned tile = swizzle.rows * 16 * swizzle.chunks;
  for (unsigned line = 0; line < count; ++line) {
    for (unsigned k = 0; k < k_count; ++k) {
      const unsigned outer = is_mn_major ? k : line;
      const unsigned inner = is_mn_major ? line : k;
      const unsigned chunk = inner / packing.each;
      const unsigned at = from + (outer / swizzle.rows * tiles + chunk / swizzle.chunks) * tile +
                          place(swizzle, outer % swizzle.rows, chunk % swizzle.chunks);
      for (unsigned b = 0; b < packing.bits; ++b) {
        const unsigned bit = inner % packing.each * packing.bits + b;
        if (((lines[line][k] >> b) & 1U) != 0)
          image.at(at + bit / 8) |= static_cast<std::uint8_t>(1U << (bit % 8));
      }
    }
  }
  const bool swaps = is_mn_major && swizzle.code == 0;
  const std::uint64_t along = tile;
  const std::uint64_t down = std::uint64_t{tile} * tiles;
  return (from / 16) | (swaps ? down : along) / 16 << 16U | (swaps ? along : down) / 16 << 32U |
         std::uint64_t{1} << 46U | swizzle.code << 61U;
}

}  // namespace ww::sim::tcgen05_mma_test
