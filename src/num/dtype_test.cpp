// SPDX-License-Identifier: Apache-2.0
#include "num/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace ww::num::dtype_test {
namespace {

TEST(DType, EveryNameAndAliasFindsItsType) {
  for (const DType type : all_dtypes()) {
    EXPECT_EQ(*parse_dtype(name_of(type)), type) << name_of(type);
    for (const auto alias : aliases_of(type)) EXPECT_EQ(*parse_dtype(alias), type) << alias;
  }
}

TEST(DType, NoSpellingMeansTwoTypes) {
  std::set<std::string> seen;
  const auto add = [&](std::string_view name) {
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    EXPECT_TRUE(seen.insert(lower).second) << name;
  };
  for (const DType type : all_dtypes()) {
    add(name_of(type));
    for (const auto alias : aliases_of(type)) add(alias);
  }
}

TEST(DType, CaseDoesNotMatter) { EXPECT_EQ(*parse_dtype("BF16"), DType::Bfloat16); }

TEST(DType, WidthIsThatOfStorage) {
  EXPECT_EQ(bits_of(DType::Tfloat32), 32);
  EXPECT_EQ(bits_of(DType::Bool), 8);
  EXPECT_EQ(bits_of(DType::Float6E3M2fn), 6);
  EXPECT_EQ(bits_of(DType::Float4E2M1fn), 4);
}

TEST(DType, KindsTellSignedFromUnsigned) {
  EXPECT_EQ(kind_of(DType::Int8), DTypeKind::Int);
  EXPECT_EQ(kind_of(DType::Uint8), DTypeKind::Uint);
  EXPECT_EQ(kind_of(DType::Float8E8M0), DTypeKind::Float);
  EXPECT_EQ(kind_of(DType::Bool), DTypeKind::Bool);
}

TEST(DType, UnknownNameGetsTheNearestOne) {
  const auto result = parse_dtype("flaot16");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, DiagKind::UnknownName);
  EXPECT_EQ(result.error().text, "`flaot16` is not an element type; did you mean `float16`?");
  EXPECT_EQ(result.error().span, Span::at(0, 7));
}

TEST(DType, NothingNearGivesNoSuggestion) {
  EXPECT_EQ(parse_dtype("quaternion").error().text, "`quaternion` is not an element type");
}

}  // namespace
}  // namespace ww::num::dtype_test
