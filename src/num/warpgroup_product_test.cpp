// SPDX-License-Identifier: Apache-2.0
// Blocks of wgmma's size against num/matrix_tile.h, whose sums are tested against the reference.
#include "num/warpgroup_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "num/float_format.h"
#include "num/matrix_tile.h"

namespace ww::num {
namespace {

using Words = std::vector<std::uint32_t>;

// Any bits; numbers near each other; far apart; mostly zeros; nearly all just below 2, whose sums do
// not fit into 32 bits.
std::uint32_t element(std::mt19937_64& random, DType type, int kind) {
  const auto bits = static_cast<std::uint32_t>(random());
  if (kind == 0) return bits;
  const FloatFormat& f = format_of(type);
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t ones = (1U << f.mantissa_bits) - 1;
  if (kind == 4)
    return (static_cast<std::uint32_t>(f.bias) << f.mantissa_bits |
            (bits % 16 != 0 ? ones : bits & ones))
           << f.low_bits;
  const int spread = kind == 1 ? 2 : (1 << f.exponent_bits) - 2;
  const int middle = kind == 1 ? f.bias : 0;
  const auto exponent =
      static_cast<std::uint32_t>(middle + static_cast<int>(random() % unsigned(spread)));
  if (kind == 3 && bits % 4 != 0) return 0;
  return ((bits >> 31U) << width | exponent << f.mantissa_bits | (bits & ones)) << f.low_bits;
}

struct Types {
  DType a, b, result;
  int k;
};
constexpr Types kAll[] = {
    {DType::Float16, DType::Float16, DType::Float32, 16},
    {DType::Float16, DType::Float16, DType::Float16, 16},
    {DType::Bfloat16, DType::Bfloat16, DType::Float32, 16},
    {DType::Tfloat32, DType::Tfloat32, DType::Float32, 8},
    {DType::Float8E4M3fn, DType::Float8E5M2, DType::Float32, 32},
    {DType::Float8E5M2, DType::Float8E4M3fn, DType::Float16, 32},
};

MatrixMode mode_for(const Types&) {
  MatrixMode mode = mode_of(90);
  mode.fp8_in_halves = false;
  return mode;
}

const MatrixUnit& unit_for(const MatrixMode& mode, const Types& types) {
  const bool half = types.result == DType::Float16;
  if (bits_of(types.a) == 8) return half ? mode.fp8_half_result : mode.fp8;
  if (types.a == DType::Tfloat32) return mode.tf32;
  return half ? mode.half_result : mode.half;
}

// The columns of a block, in their order.
constexpr int kStraight[] = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr int kEvenOdd[] = {0, 2, 4, 6, 1, 3, 5, 7};

void compare(const Types& types, bool exact, int kind, ColumnOrder order, std::mt19937_64& random) {
  constexpr int kRows = 32;
  constexpr int kColumns = 24;
  const int k = types.k;
  Words a(std::size_t(kRows * k));
  Words b(std::size_t(kColumns * k));
  for (std::uint32_t& x : a) x = element(random, types.a, kind);
  for (std::uint32_t& x : b) x = element(random, types.b, kind);
  const MatrixMode mode = mode_for(types);
  const WarpgroupProduct product(unit_for(mode, types), exact,
                                 {types.a, types.b, types.result, kRows, kColumns, k, order},
                                 a.data(), b.data());
  const auto tile = types.result == DType::Float16 ? product_f16 : product_f32;
  for (int i = 0; i < kRows / 16; ++i) {
    for (int j = 0; j < kColumns / 8; ++j) {
      Words have(128);
      for (std::uint32_t& x : have) x = element(random, types.result, kind);
      if (types.result == DType::Float16)
        for (std::uint32_t& x : have) x &= 0xFFFFU;
      const int(&columns)[8] = order == ColumnOrder::Straight ? kStraight : kEvenOdd;
      Words want(have.size());
      for (std::size_t at = 0; at < have.size(); ++at)
        want[at / 8 * 8 + std::size_t(columns[at % 8])] = have[at];
      product.add_to(i, j, have.data());
      tile(mode, exact, types.a, types.b, {16, 8, k}, &a[std::size_t(i * 16 * k)],
           &b[std::size_t(j * 8 * k)], want.data());
      Words ordered(want.size());
      for (std::size_t at = 0; at < have.size(); ++at)
        ordered[at] = want[at / 8 * 8 + std::size_t(columns[at % 8])];
      ASSERT_EQ(have, ordered) << name_of(types.a) << ' ' << name_of(types.result) << " kind "
                               << kind;
    }
  }
}

TEST(WarpgroupProduct, IsTheProductOfItsTiles) {
  std::mt19937_64 random(5);
  for (const Types& types : kAll) {
    for (const bool exact : {true, false}) {
      for (const int kind : {0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2})
        compare(types, exact, kind, kind == 1 ? ColumnOrder::EvenOdd : ColumnOrder::Straight,
                random);
    }
  }
}

// Rows that are not next to each other, and columns apart, as tensor memory and registers are.
TEST(WarpgroupProduct, LeavesWhatLiesBetween) {
  constexpr int kStep = 13;
  constexpr std::uint32_t kAround = 0x7FC0BEEF;
  std::mt19937_64 random(6);
  Words a(std::size_t(kBlockRows * 16));
  Words b(std::size_t(kBlockColumns * 16));
  for (std::uint32_t& x : a) x = element(random, DType::Float16, 1);
  for (std::uint32_t& x : b) x = element(random, DType::Float16, 1);
  for (const bool exact : {true, false}) {
    const WarpgroupProduct product(
        mode_of(90).half, exact,
        {DType::Float16, DType::Float16, DType::Float32, kBlockRows, kBlockColumns, 16}, a.data(),
        b.data());
    Words together(128);
    product.add_to(0, 0, together.data());
    Words apart(std::size_t(4 * 8 * kStep), kAround);
    const BlockPlace place{{&apart[0], &apart[8 * kStep], &apart[16 * kStep], &apart[24 * kStep]},
                           kStep};
    for (int row = 0; row < kBlockRows; ++row)
      for (int half = 0; half < 2; ++half) std::fill_n(place.columns(row, half), 4, 0U);
    product.add_to(0, 0, place);
    std::size_t changed = 0;
    for (const std::uint32_t word : apart) changed += word != kAround ? 1 : 0;
    EXPECT_EQ(changed, together.size());
    for (int at = 0; at < 128; ++at)
      EXPECT_EQ(place.columns(at / 8, at / 4 % 2)[at % 4], together[std::size_t(at)]) << at;
  }
}

}  // namespace
}  // namespace ww::num
