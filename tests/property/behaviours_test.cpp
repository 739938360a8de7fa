// SPDX-License-Identifier: Apache-2.0
// Behaviours of single layouts: axes, notation, application, swizzles, canonical forms, sizes.
#include <gtest/gtest.h>

#include "layout/canonical.h"
#include "layout/ready_made.h"
#include "layout/slice.h"
#include "layout/swizzle.h"
#include "layout/threads.h"
#include "layout/tile.h"
#include "property/behaviours.h"

namespace ww::test::behaviours {
namespace {

using layout::Machine;

// ---- Axes and scopes ----------------------------------------------------------------------------

TEST(Behaviour, AxesAreValuesWithAKind) {
  EXPECT_EQ(layout::Axis::builtin("laneid").value(), layout::axes::laneid());
  EXPECT_NE(layout::axes::laneid(), layout::axes::warpid());
  for (const char* name : {"bx", "by", "bz", "cbx", "cby", "cbz", "tx", "warpid", "laneid", "wgid",
                           "tid_in_wg", "wid_in_wg"}) {
    EXPECT_TRUE(axis_named(name).is_thread()) << name;
  }
  for (const char* name : {"m", "P", "F", "Bank", "TLane", "TCol"})
    EXPECT_TRUE(axis_named(name).is_memory()) << name;
  EXPECT_EQ(axis_named("pid").kind(), layout::AxisKind::Unknown);
  EXPECT_FALSE(layout::Axis::builtin("pid"));
  EXPECT_FALSE(layout::Axis::declare("laneid", layout::AxisKind::Memory));
  EXPECT_FALSE(layout::Axis::declare("2x", layout::AxisKind::Memory));
  EXPECT_NE(*layout::Axis::declare("a", layout::AxisKind::Memory),
            *layout::Axis::declare("a", layout::AxisKind::Thread));
}

TEST(Behaviour, ScopesOfConnectedThreadAxes) {
  const auto scope = [](const char* notation) {
    return layout::thread_scope(parsed(notation)).value();
  };
  EXPECT_EQ(scope("S[8:1]"), std::nullopt);
  EXPECT_EQ(scope("S[32:1@laneid]"), (layout::ThreadScope{1, 32, false}));
  EXPECT_EQ(scope("S[(4,32):(1@warpid,1@laneid)]"), (layout::ThreadScope{1, 0, false}));
  EXPECT_EQ(scope("S[(4,32):(1@wid_in_wg,1@laneid)]"), (layout::ThreadScope{1, 128, false}));
  EXPECT_EQ(scope("S[(2,4,32):(1@wgid,1@wid_in_wg,1@laneid)]"), (layout::ThreadScope{1, 0, false}));
  EXPECT_EQ(scope("S[(2,4):(1@wgid,1@wid_in_wg)]"), (layout::ThreadScope{32, 0, false}));
  EXPECT_EQ(scope("S[(2,64):(1@cbx,1@tx)]"), (layout::ThreadScope{1, 0, true}));
  EXPECT_EQ(scope("S[8:1] + R[32:1@laneid]"), (layout::ThreadScope{1, 32, false}));
}

TEST(Behaviour, ScopesWithGapsOrOverlapsAreRefused) {
  for (const char* notation : {"S[(2,32):(1@wgid,1@laneid)]", "S[(2,32):(1@warpid,1@tid_in_wg)]",
                               "S[(2,32):(1@warpid,1@tx)]", "S[(2,32):(1@laneid,1@tid_in_wg)]",
                               "S[(2,32):(1@tx,1@laneid)]"}) {
    const auto scope = layout::thread_scope(parsed(notation));
    ASSERT_FALSE(scope) << notation;
    EXPECT_EQ(scope.error().kind, DiagKind::ThreadScope);
  }
}

// ---- Notation -----------------------------------------------------------------------------------

TEST(Behaviour, SpellingsOfTheSameLayout) {
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"S[2,3,4]", "S[(2,3,4):(12,4,1)]"},
           {"S[(2,3,4)]", "S[(2,3,4):(12,4,1)]"},
           {"S[8]", "S[8:1]"},
           {"R[4]", "R[4:1]"},
           {"S[8:\"laneid\"]", "S[8:1@laneid]"},
           {"S[(8,):((4,\"laneid\"),)]", "S[8:4@laneid]"},
           {"S[8:(4,\"laneid\")]", "S[8:4@laneid]"},
           {"S[8 : 4 @ laneid]", "S[8:4@laneid]"},
           {"T.S[8:4 @ Axis.laneid]", "S[8:4@laneid]"},
           {"T.TileLayout(T.S[(8, 2):(4 @ Axis.laneid, 1)] + T.R[2:4 @ Axis.warpid] + 5 @ "
            "Axis.warpid)",
            "S[(8,2):(4@laneid,1)] + R[2:4@warpid] + 5@warpid"}}) {
    EXPECT_EQ(parsed(a), parsed(b)) << a;
  }
}

TEST(Behaviour, OffsetsMerge) {
  for (const char* text :
       {"S[8:1] + 1@laneid + 64 + 2@warpid", "S[8:1] + (1@laneid + 64 + 2@warpid)",
        "64 + S[8:1] + 1@laneid + 2@warpid", "S[8:1] + 60 + 4 + 2@warpid + 1@laneid",
        "S[8:1] + 70 - 6 + 1@laneid + 2@warpid"}) {
    EXPECT_EQ(parsed(text), parsed("S[8:1] + 64@m + 1@laneid + 2@warpid")) << text;
  }
  EXPECT_EQ(parsed("S[8:1] + 3 - 3"), parsed("S[8:1]"));
}

TEST(Behaviour, PrintedForm) {
  EXPECT_TEXT(parsed("S[8]"), "S[8:1]");
  EXPECT_TEXT(parsed("S[(8,4,2,2):(4@laneid,1@laneid,2,1)] + R[2:4@warpid] + 5@warpid"),
              "S[(8,4,2,2):(4@laneid,1@laneid,2,1)] + R[2:4@warpid] + 5@warpid");
  EXPECT_TEXT(parsed("5@warpid + 7 + S[8:1] + 3@laneid"), "S[8:1] + 3@laneid + 7 + 5@warpid");
}

// ---- Applying -----------------------------------------------------------------------------------

TEST(Behaviour, ApplyRowMajorAndPadded) {
  EXPECT_EQ(at(parsed("S[(8,8):(8,1)]"), 11), (Place{{"m", 11}}));
  EXPECT_EQ(applied(parsed("S[(8,8):(8,1)]"), {1, 3}, {8, 8}), (Place{{"m", 11}}));
  EXPECT_EQ(applied(parsed("S[(8,8):(10,1)]"), {11}, {64}), (Place{{"m", 13}}));
}

TEST(Behaviour, ApplyFiveIters) {
  EXPECT_EQ(applied(parsed("S[(2,3,4,2,2):(1,2,12,6,48)]"), {5, 13}, {6, 16}), (Place{{"m", 89}}));
}

TEST(Behaviour, ApplyFragment) {
  const Layout fragment = parsed("S[(8,4,2):(4@laneid,1@laneid,1)]");
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::int64_t j = 0; j < 8; ++j) {
      Place want;
      if (4 * i + j / 2 != 0) want["laneid"] = 4 * i + j / 2;
      if (j % 2 != 0) want["m"] = j % 2;
      EXPECT_EQ(applied(fragment, {i, j}, {8, 8}), want);
    }
  }
}

TEST(Behaviour, ApplyCaseStudy) {
  EXPECT_EQ(applied(parsed(kCaseStudy), {1, 3}, {8, 16}),
            (Place{{"laneid", 5}, {"warpid", 5}, {"m", 1}}));
  EXPECT_EQ(places_at(read(parsed(kCaseStudy)), 127),
            (Places{{{"laneid", 31}, {"warpid", 6}, {"m", 1}},
                    {{"laneid", 31}, {"warpid", 10}, {"m", 1}}}));
}

TEST(Behaviour, ApplySymbolicIndexOfAContiguousLayoutIsItself) {
  const layout::Expr k(layout::Sym::make("k", {0, 63}).value());
  const auto place =
      layout::apply_symbolic(parsed("S[(8,8):(8,1)]"), std::vector<layout::Expr>{k}, Ints{64});
  ASSERT_TRUE(place) << place.error().text;
  EXPECT_EQ(place->on(layout::axes::m()).text(), k.text());
}

TEST(Behaviour, ApplySymbolicShapedDecomposesEachCoordinateAlone) {
  const layout::Expr i(layout::Sym::make("i", {0, 63}).value());
  const layout::Expr j(layout::Sym::make("j", {0, 63}).value());
  const auto place = layout::apply_symbolic(parsed("S[(8,8,8,8):(512,8,64,1)]"),
                                            std::vector<layout::Expr>{i, j}, Ints{64, 64});
  ASSERT_TRUE(place) << place.error().text;
  const layout::Expr want = *layout::floor_div(i, 8) * 512 + *layout::floor_mod(i, 8) * 8 +
                            *layout::floor_div(j, 8) * 64 + *layout::floor_mod(j, 8);
  EXPECT_EQ(place->on(layout::axes::m()).text(), want.text());
}

TEST(Behaviour, ApplyTensorMemoryAndOtherAxes) {
  const Layout tmem = parsed("S[(2,128,112):(112@TCol,1@TLane,1@TCol)]");
  EXPECT_EQ(applied(tmem, {1, 127, 111}, {2, 128, 112}), (Place{{"TLane", 127}, {"TCol", 223}}));
  const Layout trn = parsed("S[(8,8,8):(64@F,1@P,1@F)]");
  EXPECT_EQ(applied(trn, {3, 5, 7}, {8, 8, 8}), (Place{{"F", 199}, {"P", 5}}));
}

// ---- Swizzles -----------------------------------------------------------------------------------

TEST(Behaviour, BareSwizzles) {
  for (const auto& [m, b, s] :
       std::vector<std::tuple<int, int, int>>{{0, 3, 3}, {3, 3, 3}, {0, 2, 3}}) {
    const Layout l = parsed(fmt::format("SwizzleLayout({},{},{})", m, b, s));
    EXPECT_EQ(l.size(), std::int64_t{1} << (m + b + s));
    for (std::int64_t x = 0; x < l.size(); ++x) {
      const std::int64_t unit = x >> m;
      const std::int64_t mask = (std::int64_t{1} << b) - 1;
      const std::int64_t want =
          ((unit ^ ((unit >> s) & mask)) << m) + (x & ((std::int64_t{1} << m) - 1));
      EXPECT_EQ(layout::apply(l, x).value()[0].value, want);
    }
  }
}

TEST(Behaviour, OuterSwizzle) {
  const Layout l = parsed("ComposeLayout(0,3,3, S[64:1], swizzle_inner=False)");
  for (std::int64_t x = 0; x < 64; ++x)
    EXPECT_EQ(layout::apply(l, x).value()[0].value, x ^ ((x & 7) << 3));
}

TEST(Behaviour, ComposeIsSwizzleAfterTile) {
  for (const char* tile :
       {"S[(8,64):(64,1)]", "S[(8,8,8):(8,64,1)]", "S[(4,2,64):(128,64,1)] + 512"}) {
    const Layout plain = parsed(tile);
    const Layout swizzled_one = parsed(fmt::format("ComposeLayout(3,3,3, {})", tile));
    for (std::int64_t x = 0; x < plain.size(); ++x) {
      const Place place = at(plain, x);
      EXPECT_EQ(layout::apply(swizzled_one, x).value()[0].value,
                swizzled({3, 3, 3, true}, place.contains("m") ? place.at("m") : 0));
    }
    EXPECT_EQ(swizzled_one.size(), plain.size());
  }
}

TEST(Behaviour, AddressesUnderASwizzleCanBeSharpenedToTheBank) {
  const Layout l = parsed("ComposeLayout(3,3,3, S[(8,64):(64,1)])");
  EXPECT_EQ(applied(l, {3, 17}, {8, 64}), (Place{{"m", 201}}));
  for (std::int64_t i = 1; i < 8; ++i)
    EXPECT_EQ(applied(l, {i, 0}, {8, 64}), (Place{{"m", 72 * i}}));
}

TEST(Behaviour, SplitAddressesForEverySwizzleLength) {
  const layout::Expr i(layout::Sym::make("i", {0, 7}).value());
  const layout::Expr j(layout::Sym::make("j", {0, 63}).value());
  for (const int len : {3, 2, 1, 0}) {
    const auto swizzle = layout::Swizzle::make(3, len, 3).value();
    const auto split = layout::split_swizzled(i * 64 + j, swizzle);
    ASSERT_TRUE(split) << split.error().text;
    for (std::int64_t vi = 0; vi < 8; ++vi) {
      for (std::int64_t vj = 0; vj < 64; ++vj) {
        const auto value = [&](layout::Sym s) { return s.name() == "i" ? vi : vj; };
        EXPECT_EQ(split->evaluate(value), swizzled({3, len, 3, true}, 64 * vi + vj));
      }
    }
  }
}

TEST(Behaviour, ATermThatCrossesAtomsIsCutAtTheAtom) {
  // j runs over 128 elements of stride 1: its high digit belongs to the atoms.
  const layout::Expr j(layout::Sym::make("j", {0, 127}).value());
  const auto split = layout::split_swizzled(j, layout::Swizzle::make(3, 3, 3).value());
  ASSERT_TRUE(split) << split.error().text;
  for (std::int64_t v = 0; v < 128; ++v)
    EXPECT_EQ(split->evaluate([&](layout::Sym) { return v; }), swizzled({3, 3, 3, true}, v));
}

TEST(Behaviour, AUnitIterMovesNothingWhateverItsStride) {
  const Layout l = parsed("ComposeLayout(3,3,3, S[(1,8,8):(-1,64,1)])");
  const layout::Expr z(layout::Sym::make("z", {0, 0}).value());
  const layout::Expr i(layout::Sym::make("i", {0, 7}).value());
  const layout::Expr j(layout::Sym::make("j", {0, 7}).value());
  const auto place = layout::apply_symbolic(l, std::vector<layout::Expr>{z, i, j}, Ints{1, 8, 8});
  ASSERT_TRUE(place) << place.error().text;
  EXPECT_EQ(place->on(layout::axes::m()).text(), (i * 64 + j).text());
}

TEST(Behaviour, SplitFallsBackWithAReason) {
  const layout::Expr low(layout::Sym::make("d", {0, 15}).value());
  const layout::Expr negative(layout::Sym::make("n", {-8, 8}).value());
  const auto inner = layout::Swizzle::make(3, 3, 3).value();
  EXPECT_EQ(layout::split_swizzled(low, layout::Swizzle::make(3, 3, 3, false).value()).error().kind,
            DiagKind::Unprovable);
  EXPECT_FALSE(layout::split_swizzled(negative, inner));
  EXPECT_FALSE(layout::split_swizzled(low * 3 + 60, inner));  // may carry past the atom
}

TEST(Behaviour, SwizzledLayoutsKeepTheirTileCanonical) {
  EXPECT_TEXT(layout::canonicalize(parsed("ComposeLayout(3,3,3, S[(8,64):(64,1)])")),
              "ComposeLayout(3, 3, 3, S[512:1])");
  EXPECT_TEXT(layout::canonicalize(parsed("ComposeLayout(3,3,3, S[(8,64):(128,1)])")),
              "ComposeLayout(3, 3, 3, S[(8,64):(128,1)])");
}

// ---- Canonical forms ----------------------------------------------------------------------------

TEST(Behaviour, CanonicalForms) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"S[(2,3,6):(18,6,1)]", "S[36:1]"},
      {"S[(8,2,3,6):(6,24,6,1)]", "S[(8,2,18):(6,24,1)]"},
      {"S[(3,4,5,2,3,4):(20,5,1,60,20,5)]", "S[(60,24):(1,5)]"},
      {"S[(8,1,4,2):(4@laneid,2,1@laneid,1)]", "S[(32,2):(1@laneid,1)]"},
      {"S[(1,1):(5@laneid,3)]", "S[1:1@laneid]"},
      {"S[(4,4):(0,0)]", "S[16:0]"},
      {"S[(2,4):(-4,-1)]", "S[8:-1]"},
      {"S[(8,8):(1@P,8@F)]", "S[(8,8):(1@P,8@F)]"},
      {"S[(8,1,8):(8@F,1@P,1@F)]", "S[64:1@F]"},
      {"S[(2,2):(1,2)]", "S[(2,2):(1,2)]"},
      {"S[8:1] + R[(2,2):(2@warpid,1@warpid)]", "S[8:1] + R[4:1@warpid]"},
      {"R[2:4@warpid] + 5@warpid", "S[] + R[2:4@warpid] + 5@warpid"}};
  for (const auto& [from, to] : rows) EXPECT_TEXT(layout::canonicalize(parsed(from)), to);
}

TEST(Behaviour, FusedThreadAxes) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"S[(2,8,2,4):(2@warpid,4@laneid,1@warpid,1@laneid)]",
       "S[(2,8,2,4):(64@tx,4@tx,32@tx,1@tx)]"},
      {"S[(4,32,2):(1@wid_in_wg,1@laneid,1)]", "S[(128,2):(1@tid_in_wg,1)]"},
      {"S[(2,2,4,32):(2@wgid,1@wgid,32@tid_in_wg,1@tid_in_wg)]", "S[512:1@tx]"},
      {"S[(8,4):(4@laneid,1@laneid)]", "S[32:1@laneid]"},
      {"S[(2,128):(1@wgid,1@tid_in_wg)]", "S[256:1@tx]"}};
  for (const auto& [from, to] : rows)
    EXPECT_TEXT(layout::fuse_threads(parsed(from), Machine::Cuda), to);
}

TEST(Behaviour, TrivialLayouts) {
  EXPECT_TRUE(layout::is_trivial(parsed("S[(8,8):(8,1)]")));
  EXPECT_TRUE(layout::is_trivial(parsed("S[8:1@TCol]")));
  EXPECT_FALSE(layout::is_trivial(parsed("S[32:1@laneid]")));
  EXPECT_FALSE(layout::is_trivial(parsed("S[8:2]")));
  EXPECT_FALSE(layout::is_trivial(parsed("S[8:1] + 1")));
  EXPECT_FALSE(layout::is_trivial(parsed("ComposeLayout(0,1,1, S[8:1])")));
}

// ---- Sizes and spans ----------------------------------------------------------------------------

TEST(Behaviour, SizesAndSpans) {
  const auto span = [](const char* text, const char* axis) {
    return layout::span_on(parsed(text), axis_named(axis)).value();
  };
  EXPECT_EQ(parsed("S[(8,6):(8,1)]").size(), 48);
  EXPECT_EQ(span("S[(8,6):(8,1)]", "m"), 62);
  EXPECT_EQ(span("S[(8,8,8):(64@F,1@P,1@F)]", "F"), 456);
  EXPECT_EQ(layout::size_on(parsed("S[(8,8,8):(64@F,1@P,1@F)]").tile(), axis_named("F")), 64);
  EXPECT_EQ(parsed(kCaseStudy).size(), 128);
  EXPECT_EQ(span(kCaseStudy, "m"), 2);
  EXPECT_EQ(span(kCaseStudy, "laneid"), 32);
  EXPECT_EQ(span(kCaseStudy, "warpid"), 11);
  EXPECT_EQ(span(kCaseStudy, "TCol"), 1);
  EXPECT_EQ(span("S[8:1] + 5", "m"), 13);
  EXPECT_EQ(span("ComposeLayout(3,3,3, S[(8,64):(64,1)])", "m"), 512);
}

}  // namespace
}  // namespace ww::test::behaviours
