// SPDX-License-Identifier: Apache-2.0
// Notation: what is printed reads back as the same value; what is nonsense is refused with a place.
#include <gtest/gtest.h>

#include "layout/text.h"
#include "property/laws.h"

namespace ww::test::laws_text_test {
namespace {

Complaint round_trip(const Case& c) {
  const layout::Layout l = layout_of(c.operands[0]);
  const std::string text = layout::to_text(l);
  const auto back = layout::parse_layout(text, declared_names());
  if (!back) return "`" + text + "` does not read back: " + back.error().text;
  if (!(*back == l)) return "`" + text + "` reads back as `" + layout::to_text(*back) + "`";
  const std::string again = layout::to_text(*back);
  if (again != text) return "`" + text + "` prints again as `" + again + "`";
  // The oracle's own spelling means the same value.
  const auto own = layout::parse_layout(notation(c.operands[0].parts), declared_names());
  if (!own) return "`" + notation(c.operands[0].parts) + "` does not read: " + own.error().text;
  return *own == l ? kFine
                   : Complaint("`" + notation(c.operands[0].parts) + "` reads as `" +
                               layout::to_text(*own) + "`");
}

TEST(LawsText, RoundTripSmall) { for_all_small(shards_of_rank_3(), round_trip); }
TEST(LawsText, RoundTripSmallFull) { for_all_small(full_of_rank_2(), round_trip); }
TEST(LawsText, RoundTripRandom) {
  Wish wish{.max_rank = 9, .max_size = std::int64_t{1} << 30, .axes = many_axes(), .swizzle = true};
  wish.axes.emplace_back("pid");
  for_all(
      1101, 3000, [&](Rng& rng) { return one_layout(rng, wish); }, round_trip);
}

TEST(LawsText, SymbolicOffsetsRoundTrip) {
  layout::Names names = declared_names();
  names.symbols.emplace("k", layout::Sym::make("k", {0, 31}).value());
  names.symbols.emplace("n", layout::Sym::make("n", {-8, 64}, 4).value());
  for (const char* text : {"S[8:1] + k", "S[8:1] + (16*k + 8)", "S[8:1] + (16*k + 8)@laneid",
                           "S[8:1] + k@warpid + n@m + 3@laneid", "S[(?,8):(8,1)] + 64*(k//4) + k%4",
                           "S[8:1] + R[2:4@warpid] + (2*k - n)@TCol",
                           "ComposeLayout(3,3,3, S[(8,64):(64,1)] + 512*k)"}) {
    const auto l = layout::parse_layout(text, names);
    ASSERT_TRUE(l) << text << ": " << l.error().text;
    const auto back = layout::parse_layout(layout::to_text(*l), names);
    ASSERT_TRUE(back) << layout::to_text(*l) << ": " << back.error().text;
    EXPECT_EQ(*back, *l) << layout::to_text(*l) << " / " << layout::to_text(*back);
  }
}

TEST(LawsText, OddLayoutsRoundTrip) {
  for (const OLayout& parts :
       {OLayout{}, OLayout{.offset = {{"warpid", 5}}}, OLayout{.offset = {{"m", -3}}},
        OLayout{.replica = {{4, 1, "m"}}},
        OLayout{.replica = {{2, -4, "warpid"}}, .offset = {{"laneid", -1}, {"m", 2}}},
        OLayout{.shard = {{1, 0, "m"}}},
        OLayout{.shard = {{2, 1, "m"}}, .swizzle = {0, 1, 1, false}}}) {
    for_one({.operands = {{.parts = parts}}}, round_trip);
  }
}

/// Any text at all gives a layout or a diagnostic whose span lies in the text; nothing throws.
TEST(LawsText, NonsenseIsRefusedWithAPlace) {
  const std::vector<std::string> pieces = {"S[",
                                           "R[",
                                           "]",
                                           "(",
                                           ")",
                                           ",",
                                           ":",
                                           "+",
                                           "-",
                                           "@",
                                           "*",
                                           "//",
                                           "%",
                                           "?",
                                           "8",
                                           "0",
                                           "-1",
                                           "2",
                                           "m",
                                           "laneid",
                                           "\"laneid\"",
                                           "'x'",
                                           "ComposeLayout(",
                                           "SwizzleLayout(",
                                           "TileLayout(",
                                           "T.",
                                           "Axis.",
                                           " ",
                                           "\n",
                                           "\t",
                                           "é",
                                           "99999999999999999999",
                                           "1000000000000",
                                           "swizzle_inner=False",
                                           "k",
                                           "."};
  Rng rng(12);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto n = rng.between(0, 12); n > 0; --n) text += rng.pick(pieces);
    const auto l = layout::parse_layout(text, declared_names());
    if (l) {
      const auto back = layout::parse_layout(layout::to_text(*l), declared_names());
      ASSERT_TRUE(back && *back == *l) << text;
      continue;
    }
    ASSERT_FALSE(l.error().text.empty()) << text;
    if (l.error().span.known) {
      ASSERT_LE(l.error().span.begin, l.error().span.end) << text;
      ASSERT_LE(l.error().span.end, text.size() + 1) << text;
    }
  }
}

/// One character of a good notation changed, dropped or doubled.
TEST(LawsText, SlipsAreRefusedOrRead) {
  const std::string good = "S[(8,4,2,2):(4@laneid,1@laneid,2,1)] + R[2:4@warpid] + 5@warpid";
  Rng rng(13);
  for (int round = 0; round < 10000; ++round) {
    std::string text = good;
    for (auto n = rng.between(1, 3); n > 0; --n) {
      const std::size_t at = rng.below(text.size());
      const char other = good[rng.below(good.size())];
      switch (rng.below(3)) {
        case 0:
          text[at] = other;
          break;
        case 1:
          text.erase(at, 1);
          break;
        default:
          text.insert(at, 1, other);
          break;
      }
      if (text.empty()) text = "S";
    }
    const auto l = layout::parse_layout(text);
    if (!l) continue;
    const auto back = layout::parse_layout(layout::to_text(*l));
    ASSERT_TRUE(back && *back == *l) << text;
  }
}

TEST(LawsText, ErrorsPointAtTheirCause) {
  struct Row {
    const char* text;
    DiagKind kind;
    const char* at;  // the piece of text the span must begin with
  };
  const std::vector<Row> rows = {{"S[(8,4):(4,2,1)]", DiagKind::CountMismatch, nullptr},
                                 {"S[(8,4,2):(4,1)]", DiagKind::CountMismatch, nullptr},
                                 {"S[(8,0):(4,1)]", DiagKind::BadExtent, "0"},
                                 {"S[(8,-2):(4,1)]", DiagKind::BadExtent, "-2"},
                                 {"S[(8,?):(4,1)]", DiagKind::BadExtent, "?"},
                                 {"R[?:1]", DiagKind::BadExtent, "?"},
                                 {"S[8:4@]", DiagKind::Syntax, nullptr},
                                 {"S[8:1", DiagKind::Syntax, nullptr},
                                 {"S[8:1] + + 3", DiagKind::Syntax, nullptr},
                                 {"", DiagKind::Syntax, nullptr}};
  for (const Row& row : rows) {
    const auto l = layout::parse_layout(row.text);
    ASSERT_FALSE(l) << row.text;
    EXPECT_EQ(name_of(l.error().kind), name_of(row.kind)) << row.text << ": " << l.error().text;
    EXPECT_TRUE(l.error().span.known) << row.text;
    if (row.at == nullptr) continue;
    const std::string_view rest = std::string_view(row.text).substr(l.error().span.begin);
    EXPECT_TRUE(rest.starts_with(row.at)) << row.text << ": points at `" << rest << "`";
  }
}

TEST(LawsText, HugeNumbersAreRefused) {
  for (const char* text : {"S[1000000000000]", "S[(1000000,1000000)]", "S[4:9223372036854775807]",
                           "S[99999999999999999999]", "S[2:1] + 9223372036854775807",
                           "S[2:4611686018427387904] + R[2:4611686018427387904]",
                           "R[1000000000000:1]", "S[(2,3):(-9223372036854775808,1)]"}) {
    const auto l = layout::parse_layout(text);
    EXPECT_FALSE(l) << text;
  }
}

TEST(LawsText, Shapes) {
  const auto ints = [](const char* text) {
    const auto shape = layout::parse_shape(text);
    return shape ? Ints(shape->begin(), shape->end()) : Ints{};
  };
  EXPECT_EQ(ints("8,16"), (Ints{8, 16}));
  EXPECT_EQ(ints("(8, 16)"), (Ints{8, 16}));
  EXPECT_EQ(ints("?,64"), (Ints{layout::kUnknownExtent, 64}));
  for (const char* bad : {"", "8,", "0", "-1", "8,?", "8x16", "(8"})
    EXPECT_EQ(ints(bad), Ints{}) << bad;
}

}  // namespace
}  // namespace ww::test::laws_text_test
