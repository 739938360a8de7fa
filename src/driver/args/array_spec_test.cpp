// SPDX-License-Identifier: Apache-2.0
#include "driver/args/array_spec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace ww::driver::args_array_spec_test {
namespace {

using num::DType;
using Shape = std::vector<std::int64_t>;

std::vector<double> values_of(DType type, Shape shape, std::string_view spec,
                              std::uint64_t seed = 0) {
  const auto array = make_array(type, std::move(shape), spec, seed);
  if (!array) {
    ADD_FAILURE() << spec << ": " << array.error().text;
    return {};
  }
  std::vector<double> out;
  for (std::int64_t i = 0; i < array->size(); ++i) out.push_back(array->get(i));
  return out;
}

using Values = std::vector<double>;

TEST(RandomStream, IsSplitMix64) {
  // The words that the authors' reference program gives for this seed.
  RandomStream random(1234567);
  EXPECT_EQ(random.word(), 6457827717110365317U);
  EXPECT_EQ(random.word(), 3203168211198807973U);
  EXPECT_EQ(random.word(), 9817491932198370423U);
}

TEST(RandomStream, BelowReachesEveryNumberAndNoMore) {
  RandomStream random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 7000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(RandomStream, NormalHasMeanZeroAndDeviationOne) {
  RandomStream random(2);
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    ASSERT_LT(std::fabs(x), 6);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
}

TEST(MakeArray, Constants) {
  EXPECT_EQ(values_of(DType::Float16, {2, 2}, "zeros"), (Values{0, 0, 0, 0}));
  EXPECT_EQ(values_of(DType::Int4, {3}, "ones"), (Values{1, 1, 1}));
  EXPECT_EQ(values_of(DType::Float16, {2}, " full: -0.5 "), (Values{-0.5, -0.5}));
  EXPECT_EQ(values_of(DType::Uint64, {1}, "full:0x10"), (Values{16}));
  EXPECT_EQ(values_of(DType::Bool, {1}, "full:true"), (Values{1}));
  EXPECT_EQ(values_of(DType::Int8, {2, 3}, "eye"), (Values{1, 0, 0, 0, 1, 0}));
}

TEST(MakeArray, Lists) {
  EXPECT_EQ(values_of(DType::Int32, {4}, "list:0, 99,100,-256"), (Values{0, 99, 100, -256}));
  EXPECT_EQ(values_of(DType::Float16, {2, 2}, "list:0.5,1,-2,inf"),
            (Values{0.5, 1, -2, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(values_of(DType::Uint4, {1}, "list:15"), (Values{15}));
}

TEST(MakeArray, ArangeStartsOverWhereTheTypeEnds) {
  struct Case {
    DType type;
    std::int64_t last;  // the element before the next 0
  };
  for (const auto& [type, last] : std::vector<Case>{{DType::Float16, 2047},
                                                    {DType::Tfloat32, 2047},
                                                    {DType::Bfloat16, 255},
                                                    {DType::Float8E4M3fn, 15},
                                                    {DType::Float8E5M2, 7},
                                                    {DType::Float6E3M2fn, 7},
                                                    {DType::Float6E2M3fn, 7},
                                                    {DType::Float4E2M1fn, 3},
                                                    {DType::Uint8, 255},
                                                    {DType::Uint4, 15},
                                                    {DType::Bool, 1}}) {
    const Values values = values_of(type, {last + 3}, "arange");
    for (std::int64_t i = 0; i <= last; ++i)
      ASSERT_EQ(values[static_cast<std::size_t>(i)], static_cast<double>(i)) << num::name_of(type);
    EXPECT_EQ(values[static_cast<std::size_t>(last) + 1], 0) << num::name_of(type);
    EXPECT_EQ(values[static_cast<std::size_t>(last) + 2], 1) << num::name_of(type);
  }
}

TEST(MakeArray, ArangeOfSignedIntegersWrapsAndOfScalesDoubles) {
  const Values bytes = values_of(DType::Int8, {130}, "arange");
  EXPECT_EQ(bytes[127], 127);
  EXPECT_EQ(bytes[128], -128);
  EXPECT_EQ(values_of(DType::Float8E8M0, {9}, "arange"), (Values{1, 2, 4, 8, 16, 32, 64, 128, 1}));
}

// The numbers were computed by a second program, in rational arithmetic.
TEST(MakeArray, RandomBytesAreFixedForever) {
  EXPECT_EQ(values_of(DType::Int32, {6}, "randint:0,100,7"), (Values{38, 1, 90, 58, 45, 24}));
  const Array normal = *make_array(DType::Float32, {2}, "randn:7");
  EXPECT_EQ(normal.text(0), "0.2376075");
  EXPECT_EQ(normal.text(1), "-1.8387014");
  const Array uniform = *make_array(DType::Float64, {2}, "rand:7");
  EXPECT_EQ(uniform.text(0), "0.3898297483912715");
}

TEST(MakeArray, SeedsTellArraysApart) {
  EXPECT_EQ(values_of(DType::Float32, {8}, "randn:3"), values_of(DType::Float32, {8}, "randn", 3));
  EXPECT_NE(values_of(DType::Float32, {8}, "randn:3"), values_of(DType::Float32, {8}, "randn:4"));
  EXPECT_EQ(values_of(DType::Float32, {8}, "rand:3"), values_of(DType::Float32, {8}, "rand:0,1,3"));
  EXPECT_EQ(values_of(DType::Int8, {8}, "randint", 5),
            values_of(DType::Int8, {8}, "randint:-8,8,5"));
}

TEST(MakeArray, RandStaysInItsRange) {
  for (const double x : values_of(DType::Float32, {1000}, "rand:-2,3")) {
    EXPECT_GE(x, -2);
    EXPECT_LE(x, 3);
  }
  for (const double x : values_of(DType::Float8E8M0, {100}, "rand:0.25,4")) {
    EXPECT_GE(x, 0.25);
    EXPECT_LE(x, 4);
  }
}

TEST(MakeArray, RandintDefaultsFitEveryType) {
  for (const DType type : num::all_dtypes()) {
    const Values values = values_of(type, {200}, "randint");
    for (const double x : values) EXPECT_EQ(x, std::trunc(x)) << num::name_of(type);
    EXPECT_NE(values, Values(200, values[0])) << num::name_of(type);
  }
}

TEST(MakeArray, RandintCoversWholeTypes) {
  values_of(DType::Int64, {4}, "randint:-9223372036854775808,9223372036854775807");
  values_of(DType::Uint64, {4}, "randint:0,18446744073709551615");
  values_of(DType::Int8, {4}, "randint:-128,128");
  values_of(DType::Float8E4M3fn, {4}, "randint:-16,17");
}

struct BadCase {
  DType type;
  Shape shape;
  std::string spec;
  DiagKind kind;
  Span span;
  std::string text;
};

TEST(MakeArray, BadSpecs) {
  const std::vector<BadCase> cases = {
      {DType::Int8,
       {2, 2},
       "list:1,2,3",
       DiagKind::BadArgument,
       Span::at(5, 10),
       "3 values for an array of [2,2], expected 4"},
      {DType::Int8,
       {2},
       "list:1,200",
       DiagKind::BadArgument,
       Span::at(7, 10),
       "`200` is out of range for `int8`, which goes from -128 to 127"},
      {DType::Int8,
       {2},
       "1,2",
       DiagKind::UnknownName,
       Span::at(0, 3),
       "`1,2` does not name the contents of an array; did you mean `list:1,2`?"},
      {DType::Int8,
       {2},
       "rnadn",
       DiagKind::UnknownName,
       Span::at(0, 5),
       "`rnadn` does not name the contents of an array; did you mean `randn`?"},
      {DType::Int8,
       {2},
       "",
       DiagKind::UnknownName,
       Span::at(0, 0),
       "`` does not name the contents of an array"},
      {DType::Int8,
       {2},
       "zeros:1",
       DiagKind::BadArgument,
       Span::at(6, 7),
       "`zeros` takes no arguments, found `1`"},
      {DType::Int8,
       {2},
       "full",
       DiagKind::BadArgument,
       Span::at(4, 4),
       "`full` has 0 arguments; expected `full:VALUE`"},
      {DType::Int8,
       {2},
       "full:200",
       DiagKind::BadArgument,
       Span::at(5, 8),
       "`200` is out of range for `int8`, which goes from -128 to 127"},
      {DType::Float32,
       {2},
       "randn:1,2",
       DiagKind::BadArgument,
       Span::at(6, 9),
       "`randn` has 2 arguments; expected `randn:[SEED]`"},
      {DType::Float32, {2}, "randn:x", DiagKind::Syntax, Span::at(6, 7), "`x` is not an integer"},
      {DType::Float32,
       {2},
       "randn:-1",
       DiagKind::BadArgument,
       Span::at(6, 8),
       "the seed is -1; it must not be negative"},
      {DType::Int32,
       {2},
       "randn",
       DiagKind::BadArgument,
       Span::at(0, 5),
       "`randn` makes fractions, which `int32` does not have"},
      {DType::Int32,
       {2},
       "rand",
       DiagKind::BadArgument,
       Span::at(0, 4),
       "`rand` makes fractions, which `int32` does not have"},
      {DType::Float8E8M0,
       {2},
       "randn",
       DiagKind::BadArgument,
       Span::at(0, 5),
       "`randn` makes negative numbers, which `float8_e8m0fnu` does not have"},
      {DType::Float8E8M0,
       {2},
       "rand",
       DiagKind::BadArgument,
       Span::at(4, 4),
       "`float8_e8m0fnu` has no zero; give a range above it"},
      {DType::Float8E8M0,
       {2},
       "zeros",
       DiagKind::BadArgument,
       Span::at(0, 5),
       "`float8_e8m0fnu` has no zero"},
      {DType::Float32,
       {2},
       "rand:1,1",
       DiagKind::BadArgument,
       Span::at(5, 8),
       "nothing lies from 1 up to, but without, 1"},
      {DType::Float32,
       {2},
       "rand:0,inf",
       DiagKind::BadArgument,
       Span::at(7, 10),
       "`inf` is not a bound of a range"},
      {DType::Float16,
       {2},
       "rand:0,1e6",
       DiagKind::BadArgument,
       Span::at(7, 10),
       "`1e6` is out of range for `float16`, which goes from -65504 to 65504"},
      {DType::Float64,
       {2},
       "rand:-1.7e308,1.7e308",
       DiagKind::BadArgument,
       Span::at(5, 21),
       "the range from -1.7e+308 to 1.7e+308 is wider than a 64-bit float"},
      {DType::Int8,
       {2},
       "randint:0,129",
       DiagKind::BadArgument,
       Span::at(8, 13),
       "the integers are from 0 to 128; `int8` holds those from -128 to 127 exactly"},
      {DType::Float4E2M1fn,
       {2},
       "randint:0,6",
       DiagKind::BadArgument,
       Span::at(8, 11),
       "the integers are from 0 to 5; `float4_e2m1fn` holds those from -4 to 4 exactly"},
      {DType::Int8,
       {2},
       "randint:5,5",
       DiagKind::BadArgument,
       Span::at(8, 11),
       "nothing lies from 5 up to, but without, 5"},
      {DType::Int8,
       {2},
       "eye",
       DiagKind::BadArgument,
       Span::at(0, 3),
       "the shape is [2]; `eye` needs two dimensions"},
      {DType::Int8,
       {-2},
       "zeros",
       DiagKind::BadExtent,
       Span{},
       "the shape [-2] has the negative extent -2"},
  };
  for (const BadCase& each : cases) {
    const auto array = make_array(each.type, each.shape, each.spec);
    ASSERT_FALSE(array) << each.spec;
    EXPECT_EQ(array.error().text, each.text);
    EXPECT_EQ(array.error().kind, each.kind) << each.spec;
    EXPECT_EQ(array.error().span, each.span) << each.spec << " " << array.error().span.begin;
  }
}

TEST(ArrayWords, EachMakesAnArray) {
  for (const ArrayWord& word : array_words()) {
    const std::string_view arguments = word.name == "full"   ? ":1"
                                       : word.name == "list" ? ":1,2,3,4"
                                                             : "";
    const std::string spec = std::string(word.name) + std::string(arguments);
    EXPECT_TRUE(make_array(DType::Float32, {2, 2}, spec)) << spec;
    EXPECT_FALSE(word.help.empty());
  }
}

}  // namespace
}  // namespace ww::driver::args_array_spec_test
