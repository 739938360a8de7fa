// SPDX-License-Identifier: Apache-2.0
#include "driver/args/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"

namespace ww::driver::args_array_test {
namespace {

using num::DType;
using Shape = std::vector<std::int64_t>;

std::vector<int> bytes_of(const Array& array) {
  std::vector<int> out;
  for (const std::byte b : array.data) out.push_back(std::to_integer<int>(b));
  return out;
}

TEST(ElementCount, MultipliesExtents) {
  EXPECT_EQ(*element_count(Shape{}), 1);
  EXPECT_EQ(*element_count(Shape{8, 16}), 128);
  EXPECT_EQ(*element_count(Shape{8, 0, 16}), 0);
}

TEST(ElementCount, BadShapes) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(element_count(Shape{4, -2}).error().kind, DiagKind::BadExtent);
  EXPECT_EQ(element_count(Shape{4, -2}).error().text,
            "the shape [4,-2] has the negative extent -2");
  EXPECT_EQ(element_count(Shape{huge, 8}).error().kind, DiagKind::TooLarge);
  EXPECT_EQ(element_count(Shape{0, huge, 8}).error().kind, DiagKind::TooLarge);
  EXPECT_EQ(element_count(Shape(65, 1)).error().text,
            "the shape has 65 dimensions; there may be at most 64");
}

TEST(ByteSize, CountsStorage) {
  EXPECT_EQ(*byte_size(DType::Float16, Shape{8, 16}), 256);
  EXPECT_EQ(*byte_size(DType::Float4E2M1fn, Shape{5}), 3);
  EXPECT_EQ(*byte_size(DType::Float6E2M3fn, Shape{5}), 5);
  EXPECT_EQ(*byte_size(DType::Bool, Shape{5}), 5);
}

TEST(ByteSize, BadBeyondTheLimit) {
  EXPECT_EQ(*byte_size(DType::Uint8, Shape{1 << 19, 1 << 19}), kMaxArrayBytes);
  EXPECT_EQ(byte_size(DType::Uint16, Shape{1 << 19, 1 << 19}).error().text,
            "uint16[524288,524288] is beyond the largest array, 2^38 bytes");
  EXPECT_EQ(Array::zeros(DType::Uint16, {1 << 19, 1 << 19}).error().kind, DiagKind::TooLarge);
}

TEST(ArrayBits, ElementsArePackedLittleEndian) {
  Array words = *Array::zeros(DType::Uint16, {2});
  words.set_bits(1, 0x1234);
  EXPECT_EQ(bytes_of(words), (std::vector<int>{0, 0, 0x34, 0x12}));
}

TEST(ArrayBits, FourBitsGoLowNibbleFirst) {
  Array codes = *Array::zeros(DType::Float4E2M1fn, {3});
  codes.set_bits(0, 0x1);
  codes.set_bits(1, 0xF);
  codes.set_bits(2, 0x7);
  EXPECT_EQ(bytes_of(codes), (std::vector<int>{0xF1, 0x07}));
  codes.set_bits(1, 0x2);
  EXPECT_EQ(bytes_of(codes), (std::vector<int>{0x21, 0x07}));
  EXPECT_EQ(codes.bits(0), 1U);
  EXPECT_EQ(codes.bits(1), 2U);
}

TEST(ArrayBits, SixBitsTakeAByteAndIgnoreItsTop) {
  Array codes = *Array::zeros(DType::Float6E3M2fn, {2});
  codes.set_bits(1, 0xFF);
  EXPECT_EQ(bytes_of(codes), (std::vector<int>{0, 0x3F}));
  codes.data[0] = std::byte{0xC1};
  EXPECT_EQ(codes.bits(0), 1U);
}

TEST(ArrayBits, BadIndexIsABug) {
  Array array = *Array::zeros(DType::Int32, {2});
  EXPECT_THROW((void)array.bits(2), BugError);
  EXPECT_THROW((void)array.bits(-1), BugError);
  EXPECT_THROW(array.set_bits(2, 0), BugError);
}

TEST(ArrayBits, EveryCodeOfEveryTypeComesBack) {
  for (const DType type : num::all_dtypes()) {
    const int bits = std::min(num::bits_of(type), 8);
    Array array = *Array::zeros(type, {std::int64_t{1} << bits});
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set_bits(i, static_cast<std::uint64_t>(i));
    for (std::int64_t i = 0; i < array.size(); ++i)
      ASSERT_EQ(array.bits(i), static_cast<std::uint64_t>(i)) << num::name_of(type);
  }
}

struct SetCase {
  DType type;
  double in;
  double out;
};

TEST(ArrayBits, AllAtOnceAreThoseOneByOne) {
  const auto bits_at = [](std::int64_t i) {
    return static_cast<std::uint64_t>(i) * 0x9E37'79B9'7F4A'7C15U;
  };
  for (const DType type : num::all_dtypes()) {
    SCOPED_TRACE(num::name_of(type));
    Array one_by_one = *Array::zeros(type, {5, 3});
    Array at_once = one_by_one;
    for (std::int64_t i = 0; i < 15; ++i) one_by_one.set_bits(i, bits_at(i));
    at_once.set_all(bits_at);
    EXPECT_EQ(at_once, one_by_one);
    std::int64_t next = 0;
    at_once.each([&](std::int64_t i, std::uint64_t bits) {
      EXPECT_EQ(i, next++);
      EXPECT_EQ(bits, one_by_one.bits(i));
    });
    EXPECT_EQ(next, 15);
  }
}

TEST(ArraySet, RoundsToTheType) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<SetCase> cases = {
      {DType::Float64, 0.1, 0.1},      {DType::Float32, 0.1, static_cast<double>(0.1F)},
      {DType::Float16, 2049, 2048},  // ties to even
      {DType::Float16, 2051, 2052},    {DType::Float16, 1e6, kInf},
      {DType::Bfloat16, 257, 256},     {DType::Tfloat32, 2049, 2048},
      {DType::Float8E4M3fn, 447, 448}, {DType::Float8E5M2, -9, -8},
      {DType::Float6E2M3fn, 100, 7.5},  // no infinity, no NaN: saturates
      {DType::Float4E2M1fn, -5.1, -6}, {DType::Int8, 2.5, 2},
      {DType::Int8, 3.5, 4},           {DType::Int8, 1000, 127},
      {DType::Int8, -kInf, -128},      {DType::Int4, -9, -8},
      {DType::Uint4, 99, 15},          {DType::Uint8, -1, 0},
      {DType::Int64, 1e300, 0x1p63},  // 2^63 - 1, as a double
      {DType::Uint64, 1e300, 0x1p64},  {DType::Bool, -0.5, 1},
  };
  for (const auto& [type, in, out] : cases) {
    Array array = *Array::zeros(type, {1});
    array.set(0, in);
    EXPECT_EQ(array.get(0), out) << num::name_of(type) << " from " << in;
  }
}

TEST(ArraySet, NanIsKeptOrBecomesZero) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(value_of(DType::Float16, bits_from(DType::Float16, nan))));
  EXPECT_EQ(bits_from(DType::Int32, nan), 0U);
}

TEST(ArraySetInt, IntegersWrap) {
  Array array = *Array::zeros(DType::Int8, {1});
  array.set_int(0, 200);
  EXPECT_EQ(array.get_int(0), -56);
  EXPECT_EQ(int_value_of(DType::Uint4, bits_from_int(DType::Uint4, -1)), 15);
  EXPECT_EQ(bits_from_int(DType::Bool, 256), 1U);
}

TEST(ArrayGetInt, IsExactForIntegersAndSaturatesFloats) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(int_value_of(DType::Int64, bits_from_int(DType::Int64, big)), big);
  EXPECT_EQ(int_value_of(DType::Uint64, ~std::uint64_t{0}), -1);
  EXPECT_EQ(int_value_of(DType::Float32, bits_from(DType::Float32, -2.75)), -2);
  EXPECT_EQ(int_value_of(DType::Float64, bits_from(DType::Float64, 1e30)),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(int_value_of(DType::Float64, bits_from(DType::Float64, std::nan(""))), 0);
}

struct TextCase {
  DType type;
  std::uint64_t bits;
  const char* text;
};

TEST(ElementText, IsTheShortestThatComesBack) {
  const std::vector<TextCase> cases = {
      {DType::Float16, 0x2E66, "0.1"},
      {DType::Float16, 0x3C00, "1"},
      {DType::Float16, 0x7BFF, "65504"},
      {DType::Float16, 0x8000, "-0"},
      {DType::Float16, 0x7C00, "inf"},
      {DType::Float16, 0xFC00, "-inf"},
      {DType::Float16, 0x7E01, "nan"},
      {DType::Float32, 0x3DCCCCCD, "0.1"},
      {DType::Float64, 0x3FD5555555555555, "0.3333333333333333"},
      {DType::Tfloat32, 0x3DCCDFFF, "0.1"},  // the low bits do not count
      {DType::Bfloat16, 0x4049, "3.14"},
      {DType::Float4E2M1fn, 0x9, "-0.5"},
      {DType::Int4, 0x8, "-8"},
      {DType::Uint8, 0xFF, "255"},
      {DType::Int64, 0x8000000000000000, "-9223372036854775808"},
      {DType::Uint64, ~std::uint64_t{0}, "18446744073709551615"},
      {DType::Float32, 0x7F7FFFFF, "3.4028235e+38"},
      {DType::Bool, 2, "true"},
      {DType::Bool, 0, "false"},
  };
  for (const auto& [type, bits, text] : cases)
    EXPECT_EQ(element_text(type, bits), text) << num::name_of(type);
}

TEST(ElementText, EveryCodeOfTheSmallTypesReadsBack) {
  for (const DType type : num::all_dtypes()) {
    if (num::kind_of(type) != num::DTypeKind::Float || num::bits_of(type) > 16) continue;
    for (std::uint64_t code = 0; code < std::uint64_t{1} << num::bits_of(type); ++code) {
      const double value = value_of(type, code);
      if (std::isnan(value)) continue;
      ASSERT_EQ(bits_from(type, std::stod(element_text(type, code))), code)
          << num::name_of(type) << " " << code;
    }
  }
}

TEST(ShapeText, IsWhatUsersWrite) {
  EXPECT_EQ(shaped_type_text(DType::Float16, Shape{8, 16}), "float16[8,16]");
  EXPECT_EQ(shape_text(Shape{}), "[]");
}

}  // namespace
}  // namespace ww::driver::args_array_test
