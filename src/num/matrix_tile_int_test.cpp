// SPDX-License-Identifier: Apache-2.0
// Tiles of integers, single bits and doubles: sums that are exact, or fused in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "num/fma.h"
#include "num/matrix_tile.h"

namespace ww::num::matrix_tile_int_test {
namespace {

using Random = std::mt19937_64;
using Words = std::vector<std::uint32_t>;

std::uint32_t word_of(Random& random) { return static_cast<std::uint32_t>(random()); }

std::int64_t integer(DType type, std::uint32_t word) {
  const int bits = bits_of(type);
  const std::int64_t value = word & ((1U << bits) - 1);
  return kind_of(type) == DTypeKind::Int && (value >> (bits - 1)) != 0 ? value - (1 << bits)
                                                                       : value;
}

void expect_integers(DType a, DType b, TileShape shape, bool saturate, Random& random) {
  Words x(static_cast<std::size_t>(shape.m * shape.k)),
      y(static_cast<std::size_t>(shape.n * shape.k)),
      c(static_cast<std::size_t>(shape.m * shape.n));
  for (std::uint32_t& word : x) word = word_of(random);
  for (std::uint32_t& word : y) word = word_of(random);
  for (std::uint32_t& word : c)
    word = word_of(random) % 3 == 0   ? 0x7FFFFFF0U
           : word_of(random) % 2 == 0 ? 0x80000010U
                                      : word_of(random);
  Words d = c;
  product_s32(saturate, a, b, shape, x.data(), y.data(), d.data());
  for (int i = 0; i < shape.m * shape.n; ++i) {
    std::int64_t sum = static_cast<std::int32_t>(c[static_cast<std::size_t>(i)]);
    for (int k = 0; k < shape.k; ++k) {
      sum += integer(a, x[static_cast<std::size_t>(i / shape.n * shape.k + k)]) *
             integer(b, y[static_cast<std::size_t>(i % shape.n * shape.k + k)]);
    }
    if (saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
    ASSERT_EQ(d[static_cast<std::size_t>(i)], static_cast<std::uint32_t>(sum));
  }
}

TEST(MatrixTile, Integers) {
  Random random(12);
  for (const bool saturate : {false, true}) {
    for (const DType a : {DType::Int8, DType::Uint8}) {
      for (const DType b : {DType::Int8, DType::Uint8})
        expect_integers(a, b, {16, 8, 32}, saturate, random);
    }
    for (const DType a : {DType::Int4, DType::Uint4}) {
      for (const DType b : {DType::Int4, DType::Uint4})
        expect_integers(a, b, {8, 8, 32}, saturate, random);
    }
  }
}

TEST(MatrixTile, SingleBits) {
  Random random(13);
  Words a(16 * 8), b(8 * 8), c(128);
  for (Words* words : {&a, &b, &c}) {
    for (std::uint32_t& word : *words) word = word_of(random);
  }
  for (const BitOp op : {BitOp::And, BitOp::Xor}) {
    Words d = c;
    product_b1(op, {16, 8, 256}, a.data(), b.data(), d.data());
    for (std::size_t i = 0; i < d.size(); ++i) {
      std::uint32_t sum = c[i];
      for (std::size_t k = 0; k < 256; ++k) {
        const std::uint32_t x = a[i / 8 * 8 + k / 32] >> (k % 32) & 1U;
        const std::uint32_t y = b[i % 8 * 8 + k / 32] >> (k % 32) & 1U;
        sum += op == BitOp::And ? x & y : x ^ y;
      }
      ASSERT_EQ(d[i], sum);
    }
  }
}

TEST(MatrixTile, DoublesAreFusedInOrder) {
  Random random(14);
  std::vector<std::uint64_t> a(16 * 16), b(8 * 16), c(128);
  for (auto* words : {&a, &b, &c}) {
    for (std::uint64_t& word : *words)
      word = std::bit_cast<std::uint64_t>(std::ldexp(static_cast<double>(random()), -64) - 0.5);
  }
  for (const Rounding rounding :
       {Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up}) {
    auto d = c;
    product_f64(rounding, {16, 8, 16}, a.data(), b.data(), d.data());
    for (std::size_t i = 0; i < d.size(); ++i) {
      auto sum = std::bit_cast<double>(c[i]);
      for (std::size_t k = 0; k < 16; ++k) {
        sum = fma_f64(std::bit_cast<double>(a[i / 8 * 16 + k]),
                      std::bit_cast<double>(b[i % 8 * 16 + k]), sum, rounding);
      }
      ASSERT_EQ(d[i], std::bit_cast<std::uint64_t>(sum));
    }
  }
}

}  // namespace
}  // namespace ww::num::matrix_tile_int_test
