// SPDX-License-Identifier: Apache-2.0
// Whole tiles against the reference for one sum (dot_f32 and dot_f16), bit for bit, with operands
// that are hard on it: any bits, near each other (cancellation), far apart, subnormal, mostly zero,
// huge, tiny, and at the lower end of the exponent range. Those are the kinds that
// tests/hardware/matrix_unit.cu runs on a device.
#include "num/matrix_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "num/fma.h"

namespace ww::num::matrix_tile_test {
namespace {

using Random = std::mt19937_64;
using Words = std::vector<std::uint32_t>;

constexpr DType kF16 = DType::Float16;
constexpr DType kF32 = DType::Float32;
constexpr DType kBf16 = DType::Bfloat16;
constexpr DType kTf32 = DType::Tfloat32;
constexpr DType kE4 = DType::Float8E4M3fn;
constexpr DType kE5 = DType::Float8E5M2;

std::uint32_t f32(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t f16(double value) {
  return static_cast<std::uint32_t>(encode(DType::Float16, value));
}

// --- operands ------------------------------------------------------------------------------------

std::uint32_t word_of(Random& random) { return static_cast<std::uint32_t>(random()); }

std::uint32_t number(Random& random, const FloatFormat& f, int low, int high) {
  const int top = (1 << f.exponent_bits) - 1;
  const int spread = static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  const int exponent = std::clamp(f.bias + low + spread, 0, top - 1);
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t mantissa = word_of(random) & ((1U << f.mantissa_bits) - 1);
  const std::uint32_t sign = word_of(random) & 1U;
  const std::uint32_t code = static_cast<std::uint32_t>(exponent) << f.mantissa_bits | mantissa;
  return (sign << width | code) << f.low_bits;
}

constexpr int kKinds = 9;

std::uint32_t element(Random& random, DType type, int kind) {
  const FloatFormat& f = format_of(type);
  const int spread = (1 << f.exponent_bits) / 2;
  const int sign_at = f.exponent_bits + f.mantissa_bits + f.low_bits;
  switch (kind) {
    case 0:
      return word_of(random);
    case 1:
      return number(random, f, -1, 1);
    case 2:
      return number(random, f, -spread, spread);
    case 3:
      return number(random, f, -f.bias, -f.bias + 1);
    case 4:
      return random() % 4 == 0 ? number(random, f, -3, 3) : (word_of(random) & 1U) << sign_at;
    case 5:
      return number(random, f, -8, 8);
    case 6:
      return number(random, f, spread / 2, spread);
    case 7:
      return number(random, f, -spread, -spread / 2);
    default:
      return number(random, f, -f.bias / 2 - 8, -f.bias / 2);
  }
}

std::uint32_t addend(Random& random, DType type, int kind) {
  if (type == DType::Float16) return element(random, type, kind) & 0xFFFFU;
  const std::uint32_t bits = word_of(random);
  const auto with_exponent = [&](std::uint32_t e) { return (bits & 0x807FFFFFU) | e << 23U; };
  switch (kind) {
    case 0:
      return bits;
    case 2:
      return with_exponent(1 + bits / 7 % 254);
    case 3:
      return with_exponent(bits / 5 % 3);
    case 4:
      return random() % 2 == 0 ? bits & 0x80000000U : with_exponent(120 + bits % 16);
    default:
      return with_exponent(100 + bits / 3 % 50);
  }
}

struct Tile {
  TileShape shape;
  Words a, b, c;
};

Tile some_tile(Random& random, DType a, DType b, DType result, TileShape shape) {
  const bool tiny = random() % 8 == 0;
  const auto kind = [&](int of_tiny) { return tiny ? of_tiny : static_cast<int>(random() % 8); };
  const int kinds[] = {kind(8), kind(8), kind(4)};
  Tile tile{shape, Words(static_cast<std::size_t>(shape.m * shape.k)),
            Words(static_cast<std::size_t>(shape.n * shape.k)),
            Words(static_cast<std::size_t>(shape.m * shape.n))};
  for (std::uint32_t& x : tile.a) x = element(random, a, kinds[0]);
  for (std::uint32_t& x : tile.b) x = element(random, b, kinds[1]);
  for (std::uint32_t& x : tile.c) x = addend(random, result, kinds[2]);
  return tile;
}

using Line = std::span<const std::uint32_t>;

Line line(const Words& words, int at, int k) {
  return std::span(words).subspan(static_cast<std::size_t>(at * k), static_cast<std::size_t>(k));
}

// --- exact sums ----------------------------------------------------------------------------------

struct Form {
  std::string name;
  int sm;
  DType a, b, result;
  TileShape shape;
  MatrixUnit unit;
  bool in_halves = false;
};

std::uint32_t dot(const Form& form, DType type_a, DType type_b, Line a, Line b, std::uint32_t c) {
  if (form.result == DType::Float32) return dot_f32(form.unit, type_a, type_b, a, b, c);
  return dot_f16(form.unit, type_a, type_b, a, b, static_cast<std::uint16_t>(c));
}

// fp8 operands as f16, the low halves of their registers before the high ones.
void put_halves_first(DType type, int k, Words& words) {
  const Words old = words;
  const auto length = static_cast<std::size_t>(k);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t at = i % length;
    const std::size_t half = at < length / 2 ? 0 : 1;
    const std::size_t in_half = at % (length / 2);
    const std::size_t from = i - at + in_half / 2 * 4 + half * 2 + in_half % 2;
    words[i] = f16(decode(type, old[from]));
  }
}

// The halves one after the other, then one rounded addition.
std::uint32_t dot_in_halves(const Form& form, Line a, Line b, std::uint32_t c) {
  const std::size_t half = a.size() / 2;
  std::uint32_t sum = dot(form, kF16, kF16, a.first(half), b.first(half), 0);
  sum = dot(form, kF16, kF16, a.last(half), b.last(half), sum);
  const double total = decode(form.result, c) + decode(form.result, sum);
  return static_cast<std::uint32_t>(encode(form.result, total));
}

std::uint32_t reference(const Form& form, const Tile& tile, int row, int column) {
  const Line a = line(tile.a, row, form.shape.k);
  const Line b = line(tile.b, column, form.shape.k);
  const std::uint32_t c = tile.c[static_cast<std::size_t>(row * form.shape.n + column)];
  return form.in_halves ? dot_in_halves(form, a, b, c) : dot(form, form.a, form.b, a, b, c);
}

class ExactTiles : public testing::TestWithParam<Form> {};

TEST_P(ExactTiles, AreTheReference) {
  // At least 200000 of each of the wide formats, over their forms.
  const int wanted_outputs = std::getenv("WW_EXHAUSTIVE") != nullptr ? 10000000 : 70000;
  const Form& form = GetParam();
  Random random(7);
  const int outputs = form.shape.m * form.shape.n;
  for (int seen = 0; seen < wanted_outputs; seen += outputs) {
    Tile tile = some_tile(random, form.a, form.b, form.result, form.shape);
    Words d = tile.c;
    const auto multiply = form.result == DType::Float32 ? product_f32 : product_f16;
    multiply(mode_of(form.sm), true, form.a, form.b, form.shape, tile.a.data(), tile.b.data(),
             d.data());
    if (form.in_halves) put_halves_first(form.a, form.shape.k, tile.a);
    if (form.in_halves) put_halves_first(form.b, form.shape.k, tile.b);
    for (int i = 0; i < outputs; ++i) {
      const int row = i / form.shape.n;
      const int column = i % form.shape.n;
      ASSERT_EQ(d[static_cast<std::size_t>(i)], reference(form, tile, row, column))
          << form.name << " tile " << seen / outputs << " element " << row << ", " << column;
    }
  }
}

// Units are written out here so that a change of the table is seen.
const Form kForms[] = {
    {"hopper_f16_k16", 90, kF16, kF16, kF32, {16, 8, 16}, {16, 25, -133}},
    {"hopper_f16_k8", 90, kF16, kF16, kF32, {16, 8, 8}, {16, 25, -133}},
    {"hopper_f16_k4", 90, kF16, kF16, kF32, {8, 8, 4}, {16, 25, -133}},
    {"hopper_f16_f16_k16", 90, kF16, kF16, kF16, {16, 8, 16}, {16, 25, -21}},
    {"hopper_f16_f16_k8", 90, kF16, kF16, kF16, {16, 8, 8}, {16, 25, -21}},
    {"hopper_bf16_k16", 90, kBf16, kBf16, kF32, {16, 8, 16}, {16, 25, -133}},
    {"hopper_bf16_k8", 90, kBf16, kBf16, kF32, {16, 8, 8}, {16, 25, -133}},
    {"hopper_tf32_k8", 90, kTf32, kTf32, kF32, {16, 8, 8}, {8, 25, -133}},
    {"hopper_tf32_k4", 90, kTf32, kTf32, kF32, {16, 8, 4}, {8, 25, -133}},
    {"hopper_e4m3_k32", 90, kE4, kE4, kF32, {16, 8, 32}, {16, 25, -133}, true},
    {"hopper_e5m2_e4m3_k32", 90, kE5, kE4, kF32, {16, 8, 32}, {16, 25, -133}, true},
    {"hopper_e4m3_k16", 90, kE4, kE5, kF32, {16, 8, 16}, {16, 25, -133}, true},
    {"hopper_e5m2_f16_k32", 90, kE5, kE5, kF16, {16, 8, 32}, {16, 25, -21}, true},
    {"turing_f16_k8", 75, kF16, kF16, kF32, {16, 8, 8}, {8, 24, -132}},
    {"ampere_f16_k16", 80, kF16, kF16, kF32, {16, 8, 16}, {8, 24, -132}},
    {"ampere_f16_f16_k16", 86, kF16, kF16, kF16, {16, 8, 16}, {8, 24, -20}},
    {"ampere_bf16_k16", 80, kBf16, kBf16, kF32, {16, 8, 16}, {8, 24, -132}},
    {"ampere_tf32_k8", 80, kTf32, kTf32, kF32, {16, 8, 8}, {4, 24, -132}},
    {"ada_e4m3_k32", 89, kE4, kE4, kF32, {16, 8, 32}, {16, 13, -132, 13}},
    {"ada_e5m2_f16_k32", 89, kE5, kE5, kF16, {16, 8, 32}, {16, 13, -20}},
    {"rtx_blackwell_e4m3_k32", 120, kE4, kE4, kF32, {16, 8, 32}, {32, 25, -133}},
    {"rtx_blackwell_e5m2_k16", 120, kE5, kE5, kF32, {16, 8, 16}, {32, 25, -133}},
    {"rtx_blackwell_e3m2_e2m3",
     120,
     DType::Float6E3M2fn,
     DType::Float6E2M3fn,
     kF32,
     {16, 8, 32},
     {32, 25, -133}},
    {"rtx_blackwell_e2m1_f16", 120, DType::Float4E2M1fn, kE4, kF16, {16, 8, 32}, {32, 25, -21}},
};

INSTANTIATE_TEST_SUITE_P(MatrixTile, ExactTiles, testing::ValuesIn(kForms),
                         [](const auto& row) { return row.param.name; });

// The two sums together exceed 31 bits only if all products are nearly 4 units and so is the
// addend.
TEST(MatrixTile, TheLargestSum) {
  const std::uint32_t most = f16(2 - 0x1p-10);
  const Words a(256, most);
  const Words b(128, most);
  Words d(128, f32(2 - 0x1p-23F));
  const std::uint32_t c = d[0];
  product_f32(mode_of(90), true, kF16, kF16, {16, 8, 16}, a.data(), b.data(), d.data());
  EXPECT_EQ(d[5], dot_f32(kHopper16, kF16, kF16, line(a, 0, 16), line(b, 0, 16), c));
}

TEST(MatrixTile, ScaledRowsOfBf16) {
  // Row 0 is far below and row 1 far above f32's middle; each meets columns that balance it or not.
  Random random(9);
  Words a(256), b(128), d(128, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int around = i / 16 % 3 == 0 ? -110 : i / 16 % 3 == 1 ? 110 : 0;
    a[i] = number(random, format_of(kBf16), around - 5, around + 5);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    const int around = i / 16 % 2 == 0 ? 100 : -20;
    b[i] = number(random, format_of(kBf16), around - 5, around + 5);
  }
  product_f32(mode_of(90), true, kBf16, kBf16, {16, 8, 16}, a.data(), b.data(), d.data());
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(d[static_cast<std::size_t>(i)],
              dot_f32(kHopper16, kBf16, kBf16, line(a, i / 8, 16), line(b, i % 8, 16), 0));
  }
}

// --- plain sums ----------------------------------------------------------------------------------

std::uint32_t plain_reference(const Form& form, const Tile& tile, int row, int column) {
  const auto a = line(tile.a, row, form.shape.k);
  const auto b = line(tile.b, column, form.shape.k);
  auto sum = static_cast<float>(
      decode(form.result, tile.c[static_cast<std::size_t>(row * form.shape.n + column)]));
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto product =
        static_cast<float>(decode(form.a, a[k])) * static_cast<float>(decode(form.b, b[k]));
    sum += product;
  }
  return static_cast<std::uint32_t>(encode(form.result, sum));
}

class PlainTiles : public testing::TestWithParam<Form> {};

TEST_P(PlainTiles, AreSinglePrecisionSums) {
  const Form& form = GetParam();
  Random random(8);
  for (int i = 0; i < 40; ++i) {
    const Tile tile = some_tile(random, form.a, form.b, form.result, form.shape);
    Words d = tile.c;
    const auto multiply = form.result == DType::Float32 ? product_f32 : product_f16;
    multiply(mode_of(form.sm), false, form.a, form.b, form.shape, tile.a.data(), tile.b.data(),
             d.data());
    for (int at = 0; at < form.shape.m * form.shape.n; ++at) {
      ASSERT_EQ(d[static_cast<std::size_t>(at)],
                plain_reference(form, tile, at / form.shape.n, at % form.shape.n));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(MatrixTile, PlainTiles, testing::ValuesIn(kForms),
                         [](const auto& row) { return row.param.name; });

// --- block scales --------------------------------------------------------------------------------

constexpr DType kE2 = DType::Float4E2M1fn;
constexpr DType kUe8 = DType::Float8E8M0;

TEST(MatrixTile, OneScaleIsAddedToTheExponents) {
  Random random(10);
  const TileShape shape{16, 8, 32};
  for (int round = 0; round < 100; ++round) {
    const Tile tile = some_tile(random, kE4, kE2, kF32, shape);
    std::uint8_t a[16], b[8];
    const int spread = round % 2 == 0 ? 255 : 20;
    for (std::uint8_t& x : a)
      x = static_cast<std::uint8_t>(random() % static_cast<unsigned>(spread + 1) +
                                    (spread == 20 ? 117 : 0));
    for (std::uint8_t& x : b)
      x = static_cast<std::uint8_t>(random() % static_cast<unsigned>(spread + 1) +
                                    (spread == 20 ? 117 : 0));
    Words d = tile.c;
    product_scaled(mode_of(120), true, kE4, kE2, shape, tile.a.data(), tile.b.data(),
                   {kUe8, 1, a, b}, d.data());
    for (int i = 0; i < 128; ++i) {
      const bool nan = a[i / 8] == 255 || b[i % 8] == 255;
      const std::uint32_t c = tile.c[static_cast<std::size_t>(i)];
      const std::uint32_t wanted =
          nan ? 0x7FFFFFFFU
              : dot_f32({32, 25, -133}, kE4, kE2, line(tile.a, i / 8, 32), line(tile.b, i % 8, 32),
                        c, a[i / 8] + b[i % 8] - 254);
      ASSERT_EQ(d[static_cast<std::size_t>(i)], wanted) << round << ": " << i;
    }
  }
}

// With scales near each other nothing is cut off before the end, so the sum is exact until then.
TEST(MatrixTile, GroupsOfFp4AreExact) {
  Random random(11);
  const TileShape shape{16, 8, 64};
  struct Kind {
    DType type;
    int count;
  };
  for (const Kind kind : {Kind{kUe8, 2}, Kind{kE4, 4}, Kind{kE4, 2}}) {
    const Tile tile = some_tile(random, kE2, kE2, kF32, shape);
    std::vector<std::uint8_t> a(static_cast<std::size_t>(16 * kind.count)),
        b(static_cast<std::size_t>(8 * kind.count));
    const unsigned base = kind.type == kUe8 ? 125 : 0x30;
    for (std::uint8_t& x : a) x = static_cast<std::uint8_t>(base + random() % 4);
    for (std::uint8_t& x : b) x = static_cast<std::uint8_t>(base + random() % 4);
    Words d(128, f32(1.5F));
    product_scaled(mode_of(120), true, kE2, kE2, shape, tile.a.data(), tile.b.data(),
                   {kind.type, kind.count, a.data(), b.data()}, d.data());
    for (int i = 0; i < 128; ++i) {
      double sum = 1.5;
      for (int k = 0; k < 64; ++k) {
        const int scale = k * kind.count / 64;
        sum += decode(kE2, line(tile.a, i / 8, 64)[static_cast<std::size_t>(k)]) *
               decode(kE2, line(tile.b, i % 8, 64)[static_cast<std::size_t>(k)]) *
               decode(kind.type, a[static_cast<std::size_t>(i / 8 * kind.count + scale)]) *
               decode(kind.type, b[static_cast<std::size_t>(i % 8 * kind.count + scale)]);
      }
      ASSERT_EQ(d[static_cast<std::size_t>(i)], encode(kF32, sum, Rounding::TowardZero));
    }
  }
}

struct Fp4Tile {
  Words a = Words(1024, 0), b = Words(512, 0), d = Words(128, 0);
  std::uint8_t scales_a[64], scales_b[32];

  std::uint32_t run() {
    product_scaled(mode_of(120), true, kE2, kE2, {16, 8, 64}, a.data(), b.data(),
                   {kE4, 4, scales_a, scales_b}, d.data());
    return d[0];
  }
};

TEST(MatrixTile, GroupsOfFp4AlignByTheirScales) {
  Fp4Tile tile;
  std::fill(std::begin(tile.scales_a), std::end(tile.scales_a), std::uint8_t{0x38});  // 1
  std::fill(std::begin(tile.scales_b), std::end(tile.scales_b), std::uint8_t{0x38});
  tile.a[0] = tile.b[0] = 2;  // 1
  tile.d[0] = f32(0x1p-20F);
  EXPECT_EQ(tile.run(), f32(1 + 0x1p-20F));
  tile.d[0] = f32(0x1p36F);  // 35 bits are kept below the addend's
  EXPECT_EQ(tile.run(), f32(0x1p36F));
  tile.scales_a[0] = 0xB8;  // the sign is ignored
  tile.d[0] = 0;
  EXPECT_EQ(tile.run(), f32(1));
  tile.scales_b[3] = 0x7F;
  EXPECT_EQ(tile.run(), 0x7FFFFFFFU);
}

TEST(MatrixTile, PlainScales) {
  Fp4Tile tile;
  std::fill(std::begin(tile.scales_a), std::end(tile.scales_a), std::uint8_t{0x40});  // 2
  std::fill(std::begin(tile.scales_b), std::end(tile.scales_b), std::uint8_t{0x3C});  // 1.5
  tile.a[63] = tile.b[63] = 7;                                                        // 6
  tile.d[0] = f32(0.25F);
  product_scaled(mode_of(120), false, kE2, kE2, {16, 8, 64}, tile.a.data(), tile.b.data(),
                 {kE4, 4, tile.scales_a, tile.scales_b}, tile.d.data());
  EXPECT_EQ(tile.d[0], f32(108.25F));
}

TEST(MatrixTile, RefusesWhatIsNoInstruction) {
  Words words(4096);
  const auto* in = words.data();
  EXPECT_THROW(product_f32(mode_of(90), true, kF16, kBf16, {16, 8, 16}, in, in, words.data()),
               BugError);
  EXPECT_THROW(product_f16(mode_of(90), true, kBf16, kBf16, {16, 8, 16}, in, in, words.data()),
               BugError);
  EXPECT_THROW(product_f32(mode_of(90), true, kF16, kF16, {16, 16, 16}, in, in, words.data()),
               BugError);
  EXPECT_THROW(product_f32(mode_of(75), true, kTf32, kTf32, {16, 8, 8}, in, in, words.data()),
               BugError);
  EXPECT_THROW(product_s32(false, kF16, kF16, {16, 8, 16}, in, in, words.data()), BugError);
}

}  // namespace
}  // namespace ww::num::matrix_tile_test
