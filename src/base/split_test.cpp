// SPDX-License-Identifier: Apache-2.0
#include "base/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::split_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("", ','), IsEmpty());
  EXPECT_THAT(split("a", ','), ElementsAre("a"));
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split(",a,,b", ','), ElementsAre("", "a", "", "b"));
}

TEST(Split, ASeparatorAtTheEndEndsTheLastPart) {
  EXPECT_THAT(split("a\nb\n", '\n'), ElementsAre("a", "b"));
  EXPECT_THAT(split("\n", '\n'), ElementsAre(""));
}

TEST(Split, WordsAreNotEmpty) {
  EXPECT_THAT(split_words("  f32  float "), ElementsAre("f32", "float"));
  EXPECT_THAT(split_words("a||b|", '|'), ElementsAre("a", "b"));
  EXPECT_THAT(split_words("   "), IsEmpty());
}

}  // namespace
}  // namespace ww::split_test
