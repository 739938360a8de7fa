// SPDX-License-Identifier: Apache-2.0
// Integer and single-bit instructions of num/matrix_tile.h: exact, then wrapped or clamped.
#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "num/matrix_tile.h"
#include "num/tile_sums.h"
#include "num/tile_vector.h"

namespace ww::num {
namespace {

void check_type(DType type) {
  const bool is_integer = kind_of(type) == DTypeKind::Int || kind_of(type) == DTypeKind::Uint;
  WW_CHECK(is_integer && bits_of(type) <= 8, "{} is not s8, u8, s4 or u4", name_of(type));
}

// Elements as numbers: moved to the top of a word and back with copies of the sign, or masked.
void unpack(DType type, const std::uint32_t* words, int count, std::int32_t* values) {
  const int shift = 32 - bits_of(type);
  const std::int32_t mask = kind_of(type) == DTypeKind::Int ? -1 : (1 << bits_of(type)) - 1;
  for (int at = 0; at < count; at += kLanes) {
    store((load<Ints>(words + at) << shift >> shift) & mask, values + at);
  }
}

// A row of A with eight columns of B. At most 256 products of 16 bits: no overflow.
void multiply_row(const std::int32_t* a, const std::int32_t* b, int k, std::int32_t* sums) {
  Ints left{};
  Ints right{};
  for (int at = 0; at < k; ++at, b += kMaxTileN) {
    left += a[at] * load<Ints>(b);
    right += a[at] * load<Ints>(b, 1);
  }
  store(left, sums);
  store(right, sums, 1);
}

std::uint32_t sum_of(bool saturate, std::uint32_t addend, std::int32_t products) {
  if (!saturate) return addend + static_cast<std::uint32_t>(products);
  using Limits = std::numeric_limits<std::int32_t>;
  const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(addend)} + products;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()));
}

}  // namespace

void product_s32(bool saturate, DType a, DType b, TileShape shape, const std::uint32_t* A,
                 const std::uint32_t* B, std::uint32_t* D) {
  check_tile(shape, 4);
  check_type(a);
  check_type(b);
  const auto [m, n, k] = shape;
  alignas(16) std::uint32_t transposed[kMaxTileN * kMaxTileK];
  alignas(16) std::int32_t x[kMaxTileM * kMaxTileK];
  alignas(16) std::int32_t y[kMaxTileN * kMaxTileK];
  transpose_columns(B, k, transposed);
  unpack(a, A, m * k, x);
  unpack(b, transposed, n * k, y);
  for (std::ptrdiff_t row = 0; row < m; ++row, D += kMaxTileN) {
    alignas(16) std::int32_t sums[kMaxTileN];
    multiply_row(x + row * k, y, k, sums);
    for (int i = 0; i < kMaxTileN; ++i) D[i] = sum_of(saturate, D[i], sums[i]);
  }
}

void product_b1(BitOp op, TileShape shape, const std::uint32_t* A, const std::uint32_t* B,
                std::uint32_t* D) {
  check_tile(shape, 32);
  const int words = shape.k / 32;
  for (int row = 0; row < shape.m; ++row) {
    for (int column = 0; column < shape.n; ++column, ++D) {
      for (int i = 0; i < words; ++i) {
        const std::uint32_t a = A[row * words + i];
        const std::uint32_t b = B[column * words + i];
        *D += static_cast<std::uint32_t>(std::popcount(op == BitOp::And ? a & b : a ^ b));
      }
    }
  }
}

}  // namespace ww::num
