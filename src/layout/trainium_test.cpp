// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/text.h"

namespace ww::layout::trainium_test {
namespace {

TEST(Trainium, Spelling) {
  struct Row {
    std::string_view pattern;
    Shape shape;
    std::string_view text;
  };
  const std::vector<Row> rows = {
      {"FPF", {32, 512, 512}, "S[(32,4,128,512):(512@F,16384@F,1@P,1@F)]"},
      {"PF", {128, 64}, "S[(128,64):(1@P,1@F)]"},
      {"FP", {8, 8}, "S[(8,8):(1@F,1@P)]"},
      {"PFPF", {4, 3, 16, 5}, "S[(4,3,16,5):(16@P,5@F,1@P,1@F)]"},
      {"P", {256}, "S[(2,128):(1@F,1@P)]"},
      {"F", {7}, "S[7:1@F]"},
  };
  for (const auto& [pattern, shape, text] : rows) {
    const auto layout = trainium(pattern, shape);
    ASSERT_TRUE(layout) << layout.error().text;
    EXPECT_EQ(to_text(*layout), text);
    if (layout->size() <= 8192) {
      EXPECT_TRUE(is_injective(*layout).value());
    }
  }
}

TEST(Trainium, Refusals) {
  struct Row {
    std::string_view pattern;
    Shape shape;
    DiagKind kind;
    std::string_view part;
  };
  const std::vector<Row> rows = {
      {"PF",
       {128},
       DiagKind::BadArgument,
       "pattern `PF` has 2 letters for the 1 dimensions of shape (128)"},
      {"PX", {128, 8}, DiagKind::BadArgument, "letter `X`"},
      {"PF", {200, 8}, DiagKind::BadArgument, "200 partitions"},
      {"PP",
       {16, 16},
       DiagKind::BadArgument,
       "256 partitions from pattern `PP` over shape (16,16)"},
      {"PF", {128, 0}, DiagKind::BadExtent, "(128,0)"},
  };
  for (const auto& [pattern, shape, kind, part] : rows) {
    const auto layout = trainium(pattern, shape);
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, kind);
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
}

TEST(ToPsum, Spelling) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"S[(1024,8):(1@F,1@P)]", "S[(2,512,8):(1@Bank,1@F,1@P)]"},
      {"S[(4,128,512):(512@F,1@P,1@F)]", "S[(4,128,512):(1@Bank,1@P,1@F)]"},
      {"S[(8,128):(1024@F,2@F)]", "S[(8,128):(2@Bank,2@F)]"},
      {"S[(128,512):(2@F,1@P)]", "S[(128,512):(2@F,1@P)]"},
      {"S[(512,8):(2@F,1@P)]", "S[(2,256,8):(1@Bank,2@F,1@P)]"},
      {"S[(8,64):(1@P,1@F)] + 1100@F", "S[(8,64):(1@P,1@F)] + 2@Bank + 76@F"},
      {"S[8:1@F] + R[2:512@F]", "S[8:1@F] + R[2:1@Bank]"},
      {"S[(3,8):(1@Bank,1@F)]", "S[(3,8):(1@Bank,1@F)]"},
      {"S[(3,8):(1@laneid,1@F)]", "S[(3,8):(1@laneid,1@F)]"},
  };
  for (const auto& [from, to] : rows) {
    const auto layout = to_psum(parse_layout(from).value());
    ASSERT_TRUE(layout) << layout.error().text;
    EXPECT_EQ(to_text(*layout), to);
  }
}

TEST(ToPsum, BankAndRestMakeUpTheFreePlace) {
  for (const std::string_view text :
       {"S[(3,4,2,512):(512@F,1536@F,1@P,1@F)]", "S[(2,2,256):(512@F,256@F,1@F)]",
        "S[(16,4,64):(64@F,1024@F,1@F)] + 2048@F", "S[(2,300):(2048@F,1@F)] + 200@F"}) {
    const Layout before = parse_layout(text).value();
    const auto after = to_psum(before);
    ASSERT_TRUE(after) << after.error().text;
    const Image a = enumerate(before).value();
    const Image b = enumerate(*after).value();
    for (std::size_t x = 0; x < static_cast<std::size_t>(a.size); ++x) {
      ASSERT_LT(b.on(axes::f())[x], 512);
      ASSERT_EQ(a.on(axes::f())[x], 512 * b.on(axes::bank())[x] + b.on(axes::f())[x]) << text;
    }
  }
}

TEST(ToPsum, Refusals) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"S[1000:1@F]", "digit 1000:1@F does not end at a bank"},
      {"S[300:3@F]", "300:3@F"},
      {"S[(2,512):(256@F,1@F)]", "reach 767 within a bank"},
      {"S[512:1@F] + 1@F", "reach 512 within a bank"},
      {"S[8:-1@F] + 7@F", "descends on F"},
      {"S[8:1@F] - 1@F", "offset -1 on F"},
      {"S[8:1]", "memory axis m"},
      {"S[8:1@TCol]", "memory axis TCol"},
  };
  for (const auto& [from, part] : rows) {
    const auto layout = to_psum(parse_layout(from).value());
    ASSERT_FALSE(layout) << to_text(*layout);
    EXPECT_EQ(layout.error().kind, DiagKind::BadArgument);
    EXPECT_NE(layout.error().text.find(part), std::string::npos) << layout.error().text;
  }
  EXPECT_EQ(to_psum(*mma_atom(SwizzleMode::B128, 16)).error().kind, DiagKind::BadArgument);
  EXPECT_EQ(to_psum(parse_layout("S[(?,8):(8@F,1@F)]").value()).error().kind,
            DiagKind::NeedsConstant);
}

}  // namespace
}  // namespace ww::layout::trainium_test
