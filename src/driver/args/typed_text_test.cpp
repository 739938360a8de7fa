// SPDX-License-Identifier: Apache-2.0
#include "driver/args/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ww::driver::args_typed_text_test {
namespace {

using num::DType;

TEST(ParseShapedType, TypesByAnyName) {
  EXPECT_EQ(*parse_shaped_type("float16[8,16]"), (ShapedType{DType::Float16, {8, 16}}));
  EXPECT_EQ(*parse_shaped_type(" bf16 [ 4 ] "), (ShapedType{DType::Bfloat16, {4}}));
  EXPECT_EQ(*parse_shaped_type("i32[1,2,3]"), (ShapedType{DType::Int32, {1, 2, 3}}));
}

struct BadText {
  std::string in;
  DiagKind kind;
  Span span;
  std::string text;
};

TEST(ParseShapedType, BadTexts) {
  const std::vector<BadText> cases = {
      {"f32", DiagKind::Syntax, Span::at(0, 3),
       "expected a type with a shape, such as `float16[8,16]`, found `f32`"},
      {"f32[8", DiagKind::Syntax, Span::at(0, 5),
       "expected a type with a shape, such as `float16[8,16]`, found `f32[8`"},
      {"f32[]", DiagKind::Syntax, Span::at(4, 4),
       "expected extents between the brackets, found nothing"},
      {" flot16[8]", DiagKind::UnknownName, Span::at(1, 7),
       "`flot16` is not an element type; did you mean `float16`?"},
      {"f32[8,x]", DiagKind::Syntax, Span::at(6, 7), "`x` is not an integer"},
      {"f32[8,]", DiagKind::Syntax, Span::at(6, 6), "`` is not an integer"},
      {"f32[0]", DiagKind::BadExtent, Span::at(4, 5), "the extent is 0; it must be at least 1"},
      {"f32[1099511627776]", DiagKind::TooLarge, Span::at(0, 18),
       "the shape [1099511627776] is beyond the largest array, 2^38 bytes"},
  };
  for (const BadText& each : cases) {
    const auto type = parse_shaped_type(each.in);
    ASSERT_FALSE(type) << each.in;
    EXPECT_EQ(type.error().text, each.text);
    EXPECT_EQ(type.error().kind, each.kind) << each.in;
    EXPECT_EQ(type.error().span, each.span) << each.in;
  }
}

TEST(ParseScalar, ValuesOfTypes) {
  struct Case {
    const char* type;
    const char* text;
    std::uint64_t bits;
  };
  for (const auto& [type, text, bits] :
       std::vector<Case>{{"i32", "42", 42},
                         {"i32", " -1 ", 0xFFFFFFFF},
                         {"u64", "18446744073709551615", ~std::uint64_t{0}},
                         {"i64", "-9223372036854775808", 0x8000000000000000},
                         {"u8", "0xFF", 255},
                         {"i4", "-8", 8},
                         {"bool", "true", 1},
                         {"f16", "0.1", 0x2E66},
                         {"f32", "-inf", 0xFF800000},
                         {"f64", "+1e-3", 0x3F50624DD2F1A9FC},
                         {"bf16", "nan", 0x7FFF},
                         {"e4m3", "448", 0x7E},
                         {"ue8m0", "2", 128}}) {
    const auto scalar = parse_scalar(type, text);
    ASSERT_TRUE(scalar) << text << ": " << scalar.error().text;
    EXPECT_EQ(scalar->bits(0), bits) << text;
    EXPECT_TRUE(scalar->shape.empty());
  }
}

TEST(ParseScalar, BadValues) {
  struct Case {
    const char* type;
    const char* text;
    DiagKind kind;
    const char* message;
  };
  for (const auto& [type, text, kind, message] : std::vector<Case>{
           {"i23", "1", DiagKind::UnknownName, "`i23` is not an element type; did you mean `i32`?"},
           {"i8", "128", DiagKind::BadArgument,
            "`128` is out of range for `int8`, which goes from -128 to 127"},
           {"u64", "-1", DiagKind::BadArgument,
            "`-1` is out of range for `uint64`, which goes from 0 to 18446744073709551615"},
           {"i32", "1.5", DiagKind::Syntax, "`1.5` is not an integer"},
           {"i32", "", DiagKind::Syntax, "`` is not an integer"},
           {"i32", "0x", DiagKind::Syntax, "`0x` is not an integer"},
           {"u64", "99999999999999999999", DiagKind::Overflow,
            "`99999999999999999999` is beyond 64 bits"},
           {"i64", "-9223372036854775809", DiagKind::Overflow,
            "`-9223372036854775809` is beyond 64 bits"},
           {"bool", "2", DiagKind::BadArgument, "`2` is not a bool; expected true, false, 1 or 0"},
           {"f32", "one", DiagKind::Syntax, "`one` is not a number"},
           {"f32", "--1", DiagKind::Syntax, "`--1` is not a number"},
           {"f64", "1e999", DiagKind::Overflow, "`1e999` is beyond what a 64-bit float holds"},
           {"f16", "-65505", DiagKind::BadArgument,
            "`-65505` is out of range for `float16`, which goes from -65504 to 65504"},
           {"e4m3", "inf", DiagKind::BadArgument, "`float8_e4m3fn` has no infinity"},
           {"e2m1", "nan", DiagKind::BadArgument, "`float4_e2m1fn` has no NaN"},
           {"ue8m0", "-2", DiagKind::BadArgument, "`float8_e8m0fnu` has no negative numbers"},
           {"ue8m0", "0", DiagKind::BadArgument, "`float8_e8m0fnu` has no zero"}}) {
    const auto scalar = parse_scalar(type, text);
    ASSERT_FALSE(scalar) << text;
    EXPECT_EQ(scalar.error().text, message);
    EXPECT_EQ(scalar.error().kind, kind) << text;
    EXPECT_TRUE(scalar.error().span.known) << text;
  }
}

}  // namespace
}  // namespace ww::driver::args_typed_text_test
