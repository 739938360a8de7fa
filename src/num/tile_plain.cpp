// SPDX-License-Identifier: Apache-2.0
// Plain single-precision sums. Products and sums are rounded one after the other, so that a host
// with fused multiply-add gives the same bits as one without.
#include "num/tile_sums.h"
#include "num/tile_vector.h"

namespace ww::num {
namespace {

// Puts the infinities and NaNs in.
void restore_specials(const TileCodec& c, const std::uint32_t* words, int count, float* values) {
  for (int i = 0; i < count; ++i) {
    const std::int32_t bits = aligned_bits(c, static_cast<std::int32_t>(words[i]));
    if ((bits & kMagnitude) >= c.first_special) values[i] = std::bit_cast<float>(bits | 0x7F800000);
  }
}

void unpack(DType type, const std::uint32_t* words, int count, float* values) {
  const TileCodec c = tile_codec(type);
  Ints largest{};
  for (int at = 0; at < count; at += 2 * kLanes) {
    const Ints low = aligned_bits(c, load<Ints>(words + at));
    const Ints high = aligned_bits(c, load<Ints>(words + at + kLanes));
    largest = larger(largest, larger(low & kMagnitude, high & kMagnitude));
    store(values_of(c, low), values + at);
    store(values_of(c, high), values + at + kLanes);
  }
  if (any_at_least(largest, c.first_special)) restore_specials(c, words, count, values);
}

void unpack_addends(DType type, const std::uint32_t* words, int count, float* values) {
  if (type != DType::Float32) return unpack(type, words, count, values);
  std::memcpy(values, words, static_cast<std::size_t>(count) * sizeof *values);
}

// Four rows; the addends are replaced.
constexpr std::ptrdiff_t kRows = 4;

void add_products(const float* a, const float* b, std::ptrdiff_t k, float* sums) {
  Floats left[kRows];
  Floats right[kRows];
  for (std::ptrdiff_t row = 0; row < kRows; ++row) left[row] = load<Floats>(sums, 2 * row);
  for (std::ptrdiff_t row = 0; row < kRows; ++row) right[row] = load<Floats>(sums, 2 * row + 1);
  for (std::ptrdiff_t at = 0; at < k; ++at, b += kMaxTileN) {
    const auto b0 = load<Floats>(b);
    const auto b1 = load<Floats>(b, 1);
#pragma GCC unroll 4
    for (std::ptrdiff_t row = 0; row < kRows; ++row) {
      left[row] += a[row * k + at] * b0;
      right[row] += a[row * k + at] * b1;
    }
  }
  for (std::ptrdiff_t row = 0; row < kRows; ++row) store(left[row], sums, 2 * row);
  for (std::ptrdiff_t row = 0; row < kRows; ++row) store(right[row], sums, 2 * row + 1);
}

// Any NaN becomes the canonical one.
void pack(DType type, const float* sums, int count, std::uint32_t* out) {
  for (int i = 0; i < count; i += kLanes) {
    const auto bits = load<Ints>(sums + i);
    const Ints codes = (bits & kMagnitude) > 0x7F800000 ? Ints{} + kMagnitude : bits;
    store(type == DType::Float16 ? f16_codes(std::bit_cast<Floats>(codes)) : codes, out + i);
  }
}

}  // namespace

void plain_sums(const TileSums& tile, std::uint32_t* D) {
  const auto [m, n, k] = tile.shape;
  alignas(16) float a[kMaxTileM * kMaxTileK];
  alignas(16) float b[kMaxTileN * kMaxTileK];
  alignas(16) float sums[kMaxTileM * kMaxTileN];
  alignas(16) std::uint32_t transposed[kMaxTileN * kMaxTileK];
  transpose_columns(tile.B, k, transposed);
  unpack(tile.a, tile.A, m * k, a);
  unpack(tile.b, transposed, n * k, b);
  unpack_addends(tile.result, D, m * n, sums);
  for (std::ptrdiff_t row = 0; row < m; row += kRows)
    add_products(a + row * k, b, k, sums + row * n);
  pack(tile.result, sums, m * n, D);
}

}  // namespace ww::num
