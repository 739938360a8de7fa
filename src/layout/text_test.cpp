// SPDX-License-Identifier: Apache-2.0
// Spellings that must be read alike, text that must be refused with the right place, and a storm of
// damaged text that must neither crash nor be printed differently from what was read.
#include "layout/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace ww::layout::text_test {
namespace {

Names with_symbols() {
  Names names;
  names.symbols.emplace("k", *Sym::make("k", {0, 7}));
  names.symbols.emplace("w", *Sym::make("w", {0, 63}, 4));
  return names;
}

std::string reprint(std::string_view text, const Names& names = {}) {
  const auto layout = parse_layout(text, names);
  return layout ? to_text(*layout)
                : render(layout.error(), SourceText("layout", std::string(text)));
}

TEST(ParseLayout, SpellingsThatMeanTheSame) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"S[8]", "S[8:1]"},
      {"S[2,3,4]", "S[(2,3,4):(12,4,1)]"},
      {"S[(2,3,4)]", "S[(2,3,4):(12,4,1)]"},
      {"R[4]", "S[] + R[4:1]"},
      {"S[]", "S[]"},
      {"S[()]", "S[]"},
      {"S[8:\"laneid\"]", "S[8:1@laneid]"},
      {"S[(8,):((4,\"laneid\"),)]", "S[8:4@laneid]"},
      {"S[8:(4,'laneid')]", "S[8:4@laneid]"},
      {"S[(8,2):(4@laneid,\"warpid\")]", "S[(8,2):(4@laneid,1@warpid)]"},
      {"64 + S[(8,2):(2,1)]", "S[(8,2):(2,1)] + 64"},
      {"S[8:1] + 5@warpid + 3 + 2@warpid", "S[8:1] + 3 + 7@warpid"},
      {"S[8:1] + (5@warpid + 3)", "S[8:1] + 3 + 5@warpid"},
      {"S[8:1] + 3 - 3", "S[8:1]"},
      {"S[8:1] - 3@laneid", "S[8:1] - 3@laneid"},
      {"S[8:-1] + 7", "S[8:-1] + 7"},
      {"S[2*4:2*2@laneid]", "S[8:4@laneid]"},
      {"S[8:1] + 2*3@TCol", "S[8:1] + 6@TCol"},
      {"S[4:1] + R[2:4@warpid] + R[2:8@warpid]", "S[4:1] + R[(2,2):(4@warpid,8@warpid)]"},
      {"T.TileLayout(T.S[(8, 2):(4 @ Axis.laneid, 1)] + T.R[2:4 @ Axis.warpid] + 5 @ Axis.warpid)",
       "S[(8,2):(4@laneid,1)] + R[2:4@warpid] + 5@warpid"},
      {"T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[(8, 64):(64, 1)]))",
       "ComposeLayout(3, 3, 3, S[(8,64):(64,1)])"},
      {"ComposeLayout(SwizzleLayout(3,2,3), TileLayout(S[256]))",
       "ComposeLayout(3, 2, 3, S[256:1])"},
      {"ComposeLayout(3,3,3,S[512],swizzle_inner=False)",
       "ComposeLayout(3, 3, 3, S[512:1], swizzle_inner=False)"},
      {"ComposeLayout(SwizzleLayout(3,3,3,swizzle_inner=False), S[512])",
       "ComposeLayout(3, 3, 3, S[512:1], swizzle_inner=False)"},
      {"SwizzleLayout(3,3,3)", "ComposeLayout(3, 3, 3, S[512:1])"},
      {"SwizzleLayout(3,0,3)", "S[64:1]"},
      {"ComposeLayout(3,0,3,S[64])", "S[64:1]"},
      {"S[(?,64):(64,1)]", "S[(?,64):(64,1)]"},
      {"S[?,64]", "S[(?,64):(64,1)]"},
      {"S[8:1] + 16*k", "S[8:1] + (16*k)"},
      {"S[8:1] + (16*k + 8)@laneid", "S[8:1] + (16*k + 8)@laneid"},
      {"S[8:1] + 8*(k//2%2) - k", "S[8:1] + (-k + 8*(k//2%2))"},
      {"S[8:1] + w//4", "S[8:1] + ((w//4))"},
      {"S[1:1] + 1152921504606846976", "S[1:1] + 1152921504606846976"},
      {"S[1:1] - 1152921504606846976", "S[1:1] - 1152921504606846976"},
  };
  for (const auto& [text, printed] : cases)
    EXPECT_EQ(reprint(text, with_symbols()), printed) << text;
}

TEST(ParseLayout, WhatIsPrintedReadsBackAsItself) {
  const Names names = with_symbols();
  for (const std::string_view text :
       {"S[8:1] + (16*k + 8)@laneid", "S[8:1] + (-k + 8*(k//2%2))", "S[8:1] + ((w//4))",
        "S[] + R[4:1]", "S[(?,64):(64,1)] - 3@laneid",
        "ComposeLayout(3, 3, 3, S[(8,64):(64,1)] + 8, swizzle_inner=False)"})
    EXPECT_EQ(reprint(text, names), text);
}

struct Bad {
  std::string_view text;
  std::string_view message;  // the first line
  std::string_view marked;   // the text under the caret
};

TEST(ParseLayout, RefusalsPointAtTheProblem) {
  const Bad cases[] = {
      {"S[(8,4):(1,2,3)]", "2 extents but 3 strides [CountMismatch]", "(1,2,3)"},
      {"S[8:(1,2)]", "1 extent but 2 strides [CountMismatch]", "(1,2)"},
      {"S[0]", "extent 0 is not positive [BadExtent]", "0"},
      {"S[(8,-4):(1,1)]", "extent -4 is not positive [BadExtent]", "-4"},
      {"R[(2,0):(1,1)]", "extent 0 is not positive [BadExtent]", "0"},
      {"S[(8,?):(1,1)]", "only the first extent of `S[…]` may be unknown (`?`) [BadExtent]", "?"},
      {"R[?:1]", "only the first extent of `S[…]` may be unknown (`?`) [BadExtent]", "?"},
      {"S[1000000000000]", "more than 274877906944 elements (2^38, the largest layout) [Overflow]",
       "S[1000000000000]"},
      {"S[1000000,1000000]",
       "more than 274877906944 elements (2^38, the largest layout) [Overflow]",
       "S[1000000,1000000]"},
      {"S[8:99999999999999999999]", "`99999999999999999999` does not fit 64 bits [Overflow]",
       "99999999999999999999"},
      {"S[8:1] + 9000000000000000000", "9000000000000000000 leaves ±2^60 [Overflow]",
       "9000000000000000000"},
      {"S[1:1] + 1152921504606846976 + 1", "offset 1152921504606846977 leaves ±2^60 [Overflow]",
       "1"},
      {"S[1:1] - 1152921504606846976 - 1", "offset -1152921504606846977 leaves ±2^60 [Overflow]",
       "1"},
      {"S[8:1] + 4000000000*4000000000", "the product leaves ±2^60 [Overflow]",
       "4000000000*4000000000"},
      {"S[8:1000000000000000000]", "places reach beyond ±1152921504606846976 (2^60) [Overflow]",
       "S[8:1000000000000000000]"},
      {"S[8:1@]", "found `]`, expected an axis name [Syntax]", "]"},
      {"S[8:1", "found the end, expected `]` to close the list [Syntax]", ""},
      {"S[(8,4:1]", "found `:`, expected `)` to close the extents [Syntax]", ":"},
      {"S[8] + S[8]", "a layout has one `S[…]`, this is the second [Syntax]", "S"},
      {"S[8] - R[2]", "`R[…]` cannot be subtracted [Syntax]", "R"},
      {"Q[3]", "`Q[…]` is neither `S[…]` nor `R[…]` [UnknownName]", "Q"},
      {"S[8:1] + q", "`q` is not a declared variable [UnknownName]", "q"},
      {"S[8:k]", "expected a stride: an integer, alone or on one axis [Syntax]", "k"},
      {"S[8:1@laneid@warpid]", "the amount is on axis `laneid` already [Syntax]", "warpid"},
      {"S[8:1] + 2@laneid*3", "an amount on an axis cannot be multiplied or divided [Syntax]",
       "2@laneid*3"},
      {"S[8:1] + k*k", "`k` * `k` is not linear [Syntax]", "k*k"},
      {"S[8:1] + k//0", "the right side of `//` must be a positive integer [Syntax]", "k//0"},
      {"S[8] S[8]", "found `S`, expected `+` or the end [Syntax]", "S"},
      {"12ab", "`12ab` is not an integer [Syntax]", "12ab"},
      {"S[8:\"laneid]", "the string is not closed [Syntax]", "\"laneid]"},
      {"S[8] # x", "unexpected character `#` [Syntax]", "#"},
      {"", "found the end, expected a number, `S[…]` or `R[…]` [Syntax]", ""},
      {"TileLayuot(S[8])", "`TileLayuot` is not a layout; did you mean `TileLayout`? [UnknownName]",
       "TileLayuot"},
      {"ComposeLayout(3,3,2,S[64])",
       "swizzle (3,3,2): the atom length 2 is below the swizzle length 3 [BadSwizzle]", "3,3,2"},
      {"ComposeLayout(30,8,8,S[64])", "swizzle (30,8,8): the period 2^46 exceeds 2^40 [BadSwizzle]",
       "30,8,8"},
      {"ComposeLayout(3,3,3,S[8:-1])",
       "cannot swizzle addresses that may be negative: m can be -7 [BadSwizzle]", "S[8:-1]"},
      {"ComposeLayout(3,3,3,ComposeLayout(3,3,3,S[8]))",
       "a layout has one swizzle at most [BadSwizzle]", "ComposeLayout(3,3,3,S[8])"},
      {"ComposeLayout(3,3,3,S[8],swizzle_inner=7)",
       "found `7`, expected `True` or `False` [Syntax]", "7"},
  };
  for (const Bad& bad : cases) {
    const auto layout = parse_layout(bad.text, with_symbols());
    ASSERT_FALSE(layout) << bad.text;
    const Diag& d = layout.error();
    EXPECT_EQ(fmt::format("{} [{}]", d.text, name_of(d.kind)), bad.message) << bad.text;
    ASSERT_TRUE(d.span.known) << bad.text;
    EXPECT_EQ(bad.text.substr(d.span.begin, d.span.end - d.span.begin), bad.marked) << bad.text;
  }
}

TEST(ParseLayout, DeepNestingIsRefusedNotOverflowed) {
  for (const std::string_view open : {"(", "-", "TileLayout("}) {
    std::string text = "S[8:1] + ";
    if (open == "TileLayout(") text.clear();
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_FALSE(parse_layout(text)) << open;
  }
}

TEST(ParseLayout, UndeclaredAxesAreReportedAndOfUnknownKind) {
  std::vector<std::string> seen;
  Names names;
  names.on_undeclared_axis = [&](std::string_view name, Span) { seen.emplace_back(name); };
  const auto layout = parse_layout("S[(2,2):(1@landid,1@laneid)]", names);
  ASSERT_TRUE(layout);
  EXPECT_EQ(seen, std::vector<std::string>{"landid"});
  EXPECT_EQ(layout->tile().shard()[0].axis.kind(), AxisKind::Unknown);
}

TEST(ParseLayout, DeclaredAxesCarryTheirKind) {
  Names names;
  names.axes.emplace("reg", *Axis::declare("reg", AxisKind::Memory));
  const auto layout = parse_layout("S[4:1@reg]", names);
  ASSERT_TRUE(layout);
  EXPECT_TRUE(layout->tile().shard()[0].axis.is_memory());
  EXPECT_EQ(to_text(*layout), "S[4:1@reg]");
}

TEST(ParseShape, ReadsAndRefuses) {
  EXPECT_EQ(shape_text(*parse_shape("8,16")), "(8,16)");
  EXPECT_EQ(shape_text(*parse_shape(" ( 8 , 16 ) ")), "(8,16)");
  EXPECT_EQ(shape_text(*parse_shape("?,64")), "(?,64)");
  for (const std::string_view bad : {"", "8,", "8,0", "8,?", "x", "8 16"})
    EXPECT_FALSE(parse_shape(bad)) << bad;
}

// A small generator of our own, so that the storm is the same everywhere.
class Storm {
 public:
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>((state_ >> 33U) % n);
  }

 private:
  std::uint64_t state_ = 20261115;
};

TEST(ParseLayout, DamagedTextNeverCrashesAndReadsBack) {
  const std::vector<std::string> seeds = {
      "S[(8,4,2,2):(4@laneid,1@laneid,2,1)] + R[2:4@warpid] + 5@warpid",
      "T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[(8, 64):(64, 1)]), swizzle_inner=False)",
      "S[(?,64):(64,1)] + (16*k + 8*(k//2%2))@m - 3",
      "S[(8,):((4,\"laneid\"),)] + R[(2,3):(1,-9)]"};
  const std::string alphabet = "S[]R():,@+-*/%?=\"' 0123456789abckmw_.Tlaneid\n\t\xc3\xa9";
  const Names names = with_symbols();
  Storm storm;
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seeds[storm.below(seeds.size())];
    for (std::size_t edits = 1 + storm.below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = storm.below(text.size());
      switch (storm.below(4)) {
        case 0:
          text.erase(at, 1 + storm.below(3));
          break;
        case 1:
          text.insert(at, 1, alphabet[storm.below(alphabet.size())]);
          break;
        case 2:
          text[at] = alphabet[storm.below(alphabet.size())];
          break;
        default:
          text.insert(at, seeds[storm.below(seeds.size())].substr(at % 20, storm.below(12)));
      }
    }
    const auto layout = parse_layout(text, names);
    if (!layout) {
      EXPECT_LE(layout.error().span.end, text.size()) << text;
      (void)render(layout.error(), SourceText("layout", text));
      continue;
    }
    ++read;
    const auto again = parse_layout(to_text(*layout), names);
    ASSERT_TRUE(again) << text << " printed as " << to_text(*layout);
    EXPECT_EQ(*again, *layout) << text;
  }
  EXPECT_GT(read, 500) << "the storm destroys everything, so it tests too little";
}

}  // namespace
}  // namespace ww::layout::text_test
