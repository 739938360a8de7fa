// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/named_layouts.h"

#include <gtest/gtest.h>

#include <string>

#include "layout/apply.h"
#include "layout/text.h"

namespace ww::driver::layout_named_layouts_test {
namespace {

std::string read(std::string_view text) {
  const auto notated = parse_notation(text);
  return notated ? layout::to_text(notated->layout) : "error: " + notated.error().text;
}

TEST(NamedLayouts, EveryExampleGivesALayoutOfItsNaturalShape) {
  for (const NamedLayout& row : named_layouts()) {
    const auto notated = parse_notation(row.example);
    ASSERT_TRUE(notated) << row.example << ": " << notated.error().text;
    ASSERT_TRUE(notated->natural_shape) << row.example;
    EXPECT_TRUE(layout::require_admitted(notated->layout.tile(), *notated->natural_shape))
        << row.example;
  }
}

TEST(NamedLayouts, EveryAliasIsTheSameLayout) {
  for (const NamedLayout& row : named_layouts()) {
    const std::string example(row.example);
    for (const Piece& alias : split_top({row.aliases, 0}, ' ')) {
      const std::string other = std::string(alias.text) + example.substr(row.name.size());
      EXPECT_EQ(read(other), read(example)) << other;
    }
  }
}

TEST(NamedLayouts, NoNameOccursTwice) {
  for (const NamedLayout& a : named_layouts())
    for (const NamedLayout& b : named_layouts())
      for (const Piece& alias : split_top({b.aliases, 0}, ' ')) EXPECT_NE(a.name, alias.text);
}

TEST(NamedLayouts, PythonSpellingPastes) {
  EXPECT_EQ(read("T.tcgen05_atom_layout(\"16x256b\", (64, 64), \"float32\")"),
            read("tcgen05_atom(16x256b,64,64,f32)"));
  EXPECT_EQ(read("tmem_datapath('F', 64, 128, sub_slab=1)"), read("tmem_datapath(F,64,128,1)"));
}

TEST(NamedLayouts, FlagsAreSetByTheirBareName) {
  EXPECT_EQ(read("ldmatrix_frag(4,trans)"), read("ldmatrix_frag(4,trans=true)"));
  EXPECT_EQ(read("ldmatrix_frag(4)"), read("ldmatrix_frag(4,trans=false)"));
  EXPECT_NE(read("ldmatrix_frag(4)"), read("ldmatrix_frag(4,trans)"));
}

TEST(NamedLayouts, OptionalArgumentsHaveDefaults) {
  EXPECT_EQ(read("wg_local(32)"), read("wg_local(32,128)"));
  EXPECT_EQ(read("wg_local(32,rows=64)"), read("wg_local(32,64)"));
}

TEST(NamedLayouts, PlainNotationFallsThrough) {
  EXPECT_EQ(read(" S[(8,16):(16,1)] "), "S[(8,16):(16,1)]");
  EXPECT_FALSE(parse_notation("S[8]")->natural_shape);
}

struct Refused {
  std::string_view text;
  std::string_view message;
  Span span;
};

TEST(NamedLayouts, RefusalsPointAtTheBadArgument) {
  const Refused cases[] = {
      {"mma_shred(1)", "no layout is called `mma_shred`; did you mean `mma_shared`?",
       Span::at(0, 9)},
      {"wg_local", "`wg_local` needs its arguments in parentheses, as in `wg_local(32)`",
       Span::at(0, 8)},
      {"wg_local(32", "the parenthesis after `wg_local` is never closed", Span::at(8, 9)},
      {"wg_local(32) x", "`x` follows a complete layout", Span::at(13, 14)},
      {"wg_local()", "`wg_local` needs cols", Span::at(9, 9)},
      {"wg_local(32,64,1)", "`wg_local` takes at most 2 arguments, and `1` is one more",
       Span::at(15, 16)},
      {"wg_local(x)", "`x` is not an integer", Span::at(9, 10)},
      {"wg_local(32,,)", "expected rows, found nothing", Span::at(12, 12)},
      {"wg_local(32,row=64)", "`wg_local` has no parameter `row`; did you mean `rows`?",
       Span::at(12, 15)},
      {"wg_local(32,cols=64)", "cols is given twice", Span::at(17, 19)},
      {"mma_atom(flot16,128B)", "`flot16` is not an element type; did you mean `float16`?",
       Span::at(9, 15)},
      {"mma_frag(E,16,f16)", "operand is `E`; accepted: A, B, C, D", Span::at(9, 10)},
      {"mma_frag(A,17,f16)", "k is `17`; accepted: 4, 8, 16, 32", Span::at(11, 13)},
      {"mma_frag(A,16,fp4)", "dtype is `fp4`, 4 bits wide; accepted widths: 8, 16, 32, 64",
       Span::at(14, 17)},
      {"ldmatrix_frag(4,trans=2)", "trans is `2`; accepted: trans, true, false", Span::at(22, 23)},
  };
  for (const Refused& refused : cases) {
    const auto result = parse_notation(refused.text);
    ASSERT_FALSE(result) << refused.text;
    EXPECT_EQ(result.error().text, refused.message) << refused.text;
    EXPECT_EQ(result.error().span, refused.span) << refused.text;
  }
}

TEST(NamedLayouts, SpansAreThoseOfTheWholeText) {
  const std::string text = "compose:wg_local(x)";
  const auto result = parse_notation_at({std::string_view(text).substr(8), 8});
  EXPECT_EQ(result.error().span, Span::at(17, 18));
}

TEST(ReadingShape, IsTheMatrixNearestToASquare) {
  const auto shape = [](std::string_view text) {
    return layout::shape_text(reading_shape(*layout::parse_layout(text)));
  };
  EXPECT_EQ(shape("S[64:1]"), "(64)");
  EXPECT_EQ(shape("S[(2,512):(512,1)]"), "(2,512)");
  EXPECT_EQ(shape("S[(8,4,2):(4@laneid,1@laneid,1)]"), "(8,8)");
  EXPECT_EQ(shape("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]"), "(8,16)");
  EXPECT_EQ(shape("S[(64,4,64):(64,4096,1)]"), "(64,256)");
  EXPECT_EQ(shape("3@m"), "(1)");
}

}  // namespace
}  // namespace ww::driver::layout_named_layouts_test
