// SPDX-License-Identifier: Apache-2.0
// One test per known defect or gap of the layout algebra of Apache TVM's TIRx, with the right
// answer worked out by hand. Each of these returned a wrong layout, hung, aborted or gave up there.
#include <gtest/gtest.h>

#include "layout/algebra.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "layout/group.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/slice.h"
#include "layout/threads.h"
#include "layout/tile.h"
#include "layout/views.h"
#include "property/laws.h"

namespace ww::test::regressions_test {
namespace {

using layout::Layout;
using layout::Machine;
using layout::Slice1;

/// Values on `m`, element by element.
Ints on_m(const Layout& l) {
  Ints out;
  for (const Places& places : table_of(read(l))) {
    const Place& p = *places.begin();
    out.push_back(p.contains("m") ? p.at("m") : 0);
  }
  return out;
}

void expect_same_places(const Layout& got, std::string_view want, int line) {
  const auto wrong = difference(table_of(read(got)), table_of(read(parsed(want))));
  EXPECT_EQ(wrong, std::nullopt) << "line " << line << ": " << notation(read(got)) << " instead of "
                                 << want;
}
#define EXPECT_SAME_PLACES(...) expect_same_places(__VA_ARGS__, __LINE__)

// ---- Slicing ------------------------------------------------------------------------------------

TEST(Regression, WrappingSliceAtTheEndOfAnOuterDigit) {
  // [6,10) crosses from (0,1,3) to (1,0,0): the step goes to the outermost digit, not to the middle
  // one.
  const auto got =
      layout::slice(parsed("S[(2,2,4):(100,10,1)]"), Ints{16}, std::vector<Slice1>{{6, 4}});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(on_m(*got), (Ints{12, 13, 100, 101}));
}

TEST(Regression, SliceWithMoreThanOneWrap) {
  const auto a = layout::slice(parsed("S[(4,4):(16,6)]"), Ints{16}, std::vector<Slice1>{{2, 12}});
  ASSERT_TRUE(a) << a.error().text;
  EXPECT_SAME_PLACES(*a, "S[(3,2,2):(16,4,6)] + 12");
  EXPECT_EQ(on_m(*a), (Ints{12, 18, 16, 22, 28, 34, 32, 38, 44, 50, 48, 54}));
  const auto b = layout::slice(parsed("S[(8,2):(1,8)]"), Ints{16}, std::vector<Slice1>{{3, 8}});
  ASSERT_TRUE(b) << b.error().text;
  EXPECT_SAME_PLACES(*b, "S[(4,2):(1,-7)] + 9");
  EXPECT_EQ(on_m(*b), (Ints{9, 2, 10, 3, 11, 4, 12, 5}));
}

TEST(Regression, SliceOfAShapeThatDoesNotGroup) {
  // (4,6):(1,4) is no sum over (6,4), but one row of it is a run all the same: elements 0..3 are
  // 0,4,8,12.
  const Layout l = parsed("S[(4,6):(1,4)]");
  EXPECT_FALSE(layout::group(l, Ints{6, 4}));
  const auto row = layout::slice(l, Ints{6, 4}, std::vector<Slice1>{{0, 1}, {0, 4}});
  ASSERT_TRUE(row) << row.error().text;
  EXPECT_EQ(on_m(*row), (Ints{0, 4, 8, 12}));
}

TEST(Regression, SliceAcrossLanesAndWarpsOnCuda) {
  // Columns 4..12 of the case study leave warp 0 in the middle. On split axes that is no tile
  // layout; on linear thread ids it is.
  const Layout l = parsed("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]");
  const std::vector<Slice1> region = {{0, 8}, {4, 8}};
  const auto apart = layout::slice(l, Ints{8, 16}, region);
  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.error().kind, DiagKind::NotATile);
  const auto fused = layout::slice(l, Ints{8, 16}, region, Machine::Cuda);
  ASSERT_TRUE(fused) << fused.error().text;
  EXPECT_SAME_PLACES(*fused, "S[(8,2,2,2):(4@tx,30@tx,1@tx,1)] + 2@tx");
}

TEST(Regression, SliceOutOfRangeIsRefused) {
  const Layout l = parsed("S[16:1]");
  for (const Slice1& side : {Slice1{10, 8}, Slice1{16, 1}, Slice1{-1, 2}, Slice1{0, 17}}) {
    const auto got = layout::slice(l, Ints{16}, std::vector<Slice1>{side});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, DiagKind::OutOfBounds) << got.error().text;
  }
  const auto empty = layout::slice(l, Ints{16}, std::vector<Slice1>{{0, 0}});
  EXPECT_FALSE(empty);
}

TEST(Regression, UngroupableSliceIsAFailureNotAnAbort) {
  const auto got =
      layout::slice(parsed("S[(4,6):(1,4)]"), Ints{6, 4}, std::vector<Slice1>{{1, 2}, {1, 3}});
  // Elements 5,6,7 and 9,10,11: 20,1,5 and 13,17,21: no run at all.
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, DiagKind::NotATile);
}

// ---- Thread axes --------------------------------------------------------------------------------

TEST(Regression, OffsetsAddUpWhenAxesFuse) {
  const Layout l = parsed("S[(4,32,2):(1@warpid,1@laneid,1)] + 1@laneid + 2@warpid");
  // Lane 31 + 1 leaves the warp, so the iters stay apart from their axis; with room they fuse:
  const Layout roomy = parsed("S[(4,16,2):(1@warpid,1@laneid,1)] + 1@laneid + 2@warpid");
  const Layout fused = layout::fuse_threads(roomy, Machine::Cuda);
  EXPECT_SAME_PLACES(fused, "S[(4,16,2):(32@tx,1@tx,1)] + 65@tx");
  EXPECT_EQ(on_threads(table_of(read(layout::fuse_threads(l, Machine::Cuda)))),
            on_threads(table_of(read(l))));
}

TEST(Regression, OffsetAloneFuses) {
  const Layout l = parsed("S[(2,2):(1@warpid,1@laneid)] + 1@laneid + 2@warpid");
  EXPECT_SAME_PLACES(layout::fuse_threads(l, Machine::Cuda), "S[(2,2):(32@tx,1@tx)] + 65@tx");
}

TEST(Regression, GridAndThreadAxesTogetherTerminate) {
  const Layout l = parsed("S[(4,64):(1@bx,1@tx)]");
  const auto scope = layout::thread_scope(l);
  ASSERT_TRUE(scope) << scope.error().text;
  ASSERT_TRUE(scope->has_value());
  EXPECT_EQ((*scope)->unit, 1);
  EXPECT_TRUE((*scope)->across_ctas);
  EXPECT_SAME_PLACES(layout::fuse_threads(l, Machine::Cuda), "S[(4,64):(1@bx,1@tx)]");
}

TEST(Regression, WarpgroupsAndTheirWarpsFuseToWarpid) {
  const Layout l = parsed("S[(2,4,2):(1@wgid,1@wid_in_wg,1)]");
  EXPECT_SAME_PLACES(layout::fuse_threads(l, Machine::Cuda), "S[(8,2):(1@warpid,1)]");
}

TEST(Regression, ThreadAxesThatOccurOnlyInReplicaOrOffsetFuse) {
  const Layout r = parsed("S[(16,2):(1@laneid,1)] + R[2:4@warpid]");
  EXPECT_SAME_PLACES(layout::fuse_threads(r, Machine::Cuda), "S[(16,2):(1@tx,1)] + R[2:128@tx]");
  const Layout o = parsed("S[(16,2):(1@laneid,1)] + 3@warpid");
  EXPECT_SAME_PLACES(layout::fuse_threads(o, Machine::Cuda), "S[(16,2):(1@tx,1)] + 96@tx");
}

TEST(Regression, FusionUnderACluster) {
  const Layout l = parsed("S[(2,4,32):(1@cbx,1@warpid,1@laneid)]");
  EXPECT_SAME_PLACES(layout::fuse_threads(l, Machine::Cuda), "S[(2,128):(1@cbx,1@tx)]");
}

TEST(Regression, SplittingNeverDropsAnIter) {
  const auto split = [](const char* notation) {
    return layout::split_threads(parsed(notation), axis_named("tx"), axis_named("warpid"),
                                 axis_named("laneid"));
  };
  // 3:16 visits 0, 16, 32 = lanes 0, 16 of warp 0 and lane 0 of warp 1: no tile layout on two axes.
  const auto a = split("S[3:16@tx]");
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().kind, DiagKind::NotATile);
  // 5:8 visits 0 8 16 24 32; 2:48 visits 0 and 48 = lane 16 of warp 1: two axes in one step.
  EXPECT_FALSE(split("S[5:8@tx]"));
  EXPECT_FALSE(split("S[2:48@tx]"));
  // The ones that do split.
  EXPECT_SAME_PLACES(split("S[64:1@tx]").value(), "S[(2,32):(1@warpid,1@laneid)]");
  EXPECT_SAME_PLACES(split("S[4:32@tx]").value(), "S[4:1@warpid]");
  EXPECT_SAME_PLACES(split("S[6:16@tx]").value(), "S[(3,2):(1@warpid,16@laneid)]");
  // 0 16 48 64 96 112: 48 moves warp and lane at once.
  EXPECT_FALSE(split("S[(3,2):(48@tx,16@tx)]"));
}

TEST(Regression, SplittingAnOffsetDividesIt) {
  const auto split = [](const char* notation) {
    return layout::split_threads(parsed(notation), axis_named("tx"), axis_named("warpid"),
                                 axis_named("laneid"))
        .value();
  };
  EXPECT_SAME_PLACES(split("S[4:32@tx] + 32@tx"), "S[4:1@warpid] + 1@warpid");
  EXPECT_SAME_PLACES(split("S[4:32@tx] + 5@tx"), "S[4:1@warpid] + 5@laneid");
  EXPECT_SAME_PLACES(split("S[4:32@tx] + 37@tx"), "S[4:1@warpid] + 1@warpid + 5@laneid");
  EXPECT_SAME_PLACES(split("S[4:32@tx] + 96@tx"), "S[4:1@warpid] + 3@warpid");
}

TEST(Regression, AxesNobodyDeclaredAreNoObstacle) {
  const Layout l = parsed("S[(4,1,2):(2@pid,7,1@pid)]");
  EXPECT_SAME_PLACES(layout::canonicalize(l), "S[8:1@pid]");
  EXPECT_SAME_PLACES(layout::slice(l, Ints{8}, std::vector<Slice1>{{3, 4}}).value(),
                     "S[4:1@pid] + 3@pid");
  EXPECT_SAME_PLACES(layout::tile(l, Ints{8}, parsed("S[3:1]"), Ints{3}).value(),
                     "S[(3,8):(1,1@pid)]");
}

TEST(Regression, CanonicalFormDoesNotDependOnAnAmbientMachine) {
  const Layout l = parsed("S[(4,32):(1@warpid,1@laneid)]");
  EXPECT_EQ(layout::canonicalize(l), l);
  EXPECT_EQ(layout::fuse_threads(l, Machine::None), l);
  EXPECT_SAME_PLACES(layout::fuse_threads(l, Machine::Cuda), "S[128:1@tx]");
}

// ---- Tiling -------------------------------------------------------------------------------------

TEST(Regression, AnInnerWithAReplicaOfItsOwnIsNoTile) {
  const Layout tiled = parsed("S[64:1]");
  EXPECT_FALSE(layout::outer_of_tile(tiled, Ints{64}, parsed("S[8:1] + R[2:1@laneid]"), Ints{8}));
}

TEST(Regression, AnInnerWithAnOffsetOfItsOwnIsMadeUpForByTheOuter) {
  // The only outer that gives 64:1 with this inner has to take the 3 back.
  const auto got =
      layout::outer_of_tile(parsed("S[64:1]"), Ints{64}, parsed("S[8:1] + 3@laneid"), Ints{8});
  if (got) {
    EXPECT_EQ(tile_meaning(read(parsed("S[8:1] + 3@laneid")), {8}, read(*got), {8}, false),
              table_of(read(parsed("S[64:1]"))));
  } else {
    ADD_FAILURE() << "the outer S[8:1] - 3@laneid exists: " << got.error().text;
  }
}

TEST(Regression, RecognitionDoesNotScaleReplicas) {
  // tile leaves the outer's replica as it is, so recognition must find it unscaled.
  const Layout inner = parsed("S[8:1]");
  for (const char* outer : {"S[4:1] + R[2:16]", "S[4:1] + R[2:4]"}) {
    const auto tiled = layout::tile(inner, Ints{8}, parsed(outer), Ints{4}).value();
    const auto got = layout::outer_of_tile(tiled, Ints{32}, inner, Ints{8});
    ASSERT_TRUE(got) << got.error().text;
    EXPECT_SAME_PLACES(*got, outer);
  }
}

TEST(Regression, TileOffsetsAreNotScaledUnlessAsked) {
  const Layout inner = parsed("S[8:1] + 5");
  const Layout outer = parsed("S[4:1] + 100");
  EXPECT_SAME_PLACES(layout::tile(inner, Ints{8}, outer, Ints{4}).value(), "S[(4,8):(13,1)] + 105");
  EXPECT_SAME_PLACES(layout::tile(inner, Ints{8}, outer, Ints{4}, {.scale_places = true}).value(),
                     "S[(4,8):(13,1)] + 1305");
}

TEST(Regression, TileToAShapeThatIsNoMultipleIsRefused) {
  const Layout l = parsed("S[(8,8):(8,1)]");
  const auto odd = layout::tile_to(l, Ints{60, 64}, Ints{8, 8});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind, DiagKind::Indivisible);
  EXPECT_FALSE(layout::tile_to(l, Ints{4, 8}, Ints{8, 8}));
}

TEST(Regression, RecognitionWithShapesThatDoNotDivideFailsNormally) {
  EXPECT_FALSE(layout::outer_of_tile(parsed("S[12:1]"), Ints{12}, parsed("S[8:1]"), Ints{8}));
  EXPECT_FALSE(layout::inner_of_tile(parsed("S[12:1]"), Ints{12}, parsed("S[8:1]"), Ints{8}));
  EXPECT_FALSE(layout::left_of_sum(parsed("S[12:1]"), Ints{12}, parsed("S[4:1]"), Ints{4}));
}

TEST(Regression, AnAddendWithAReplicaThatTheSumLacksIsNoPart) {
  const Layout sum = parsed("S[(3,4):(100,1)]");
  const Layout known = parsed("S[4:1] + R[2:1@laneid]");
  EXPECT_FALSE(layout::left_of_sum(sum, Ints{3, 4}, known, Ints{4}));
  EXPECT_SAME_PLACES(layout::left_of_sum(sum, Ints{3, 4}, parsed("S[4:1] + 7"), Ints{4}).value(),
                     "S[3:100] - 7");
}

TEST(Regression, ASwizzleOfLengthZeroIsNone) {
  EXPECT_EQ(parsed("ComposeLayout(3,0,3, S[8:1])"), parsed("S[8:1]"));
  EXPECT_FALSE(parsed("ComposeLayout(3,0,3, S[8:1])").is_swizzled());
}

TEST(Regression, SwizzledLayoutsMayUseOtherAxes) {
  const Layout l = parsed("ComposeLayout(0,1,1, S[(2,4):(1@laneid,1)] + 3@warpid)");
  EXPECT_EQ(places_at(read(l), 6), (Places{{{"laneid", 1}, {"m", 3}, {"warpid", 3}}}));
  EXPECT_EQ(layout::apply_all(l, 6).value().size(), 1U);
}

TEST(Regression, SwizzledTilesAreRecognisedOnBothSides) {
  const Layout inner = parsed("ComposeLayout(3,2,3, S[(8,32):(32,1)])");
  const Layout outer = parsed("S[(8,8):(1,8)]");
  const auto tiled = layout::tile(inner, Ints{8, 32}, outer, Ints{8, 8}).value();
  const auto found = layout::outer_of_tile(tiled, Ints{64, 256}, inner, Ints{8, 32});
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_SAME_PLACES(*found, "S[(8,8):(1,8)]");
}

// ---- Packing ------------------------------------------------------------------------------------

TEST(Regression, UnpackLeavesThreadAxesAlone) {
  const auto got = layout::unpack(parsed("S[(32,4):(1@laneid,1)]"), 2).value();
  EXPECT_SAME_PLACES(got, "S[(32,4,2):(1@laneid,2,1)]");
}

TEST(Regression, UnpackScalesReplicaAndOffset) {
  const auto got =
      layout::unpack(parsed("S[4:1] + R[2:8] + R[2:1@warpid] + 3 + 5@laneid"), 2).value();
  EXPECT_SAME_PLACES(got, "S[8:1] + R[(2,2):(16,1@warpid)] + 6 + 5@laneid");
}

TEST(Regression, PackDoesNotRoundStrides) {
  EXPECT_FALSE(layout::pack(parsed("S[(8,16):(17,1)]"), 2));
  EXPECT_SAME_PLACES(layout::pack(parsed("S[(8,16):(18,1)]"), 2).value(), "S[(8,8):(9,1)]");
  EXPECT_FALSE(layout::pack(parsed("S[16:1] + 1"), 2));
  EXPECT_FALSE(layout::pack(parsed("S[16:1] + R[2:17]"), 2));
  EXPECT_SAME_PLACES(layout::pack(parsed("S[16:1] + R[2:16] + 4"), 2).value(),
                     "S[8:1] + R[2:8] + 2");
}

// ---- Grouping and canonical forms ---------------------------------------------------------------

TEST(Regression, GroupingWorksOnRawLayouts) {
  const auto got = layout::group(parsed("S[(3,4):(4,1)]"), Ints{2, 6});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->layout, parsed("S[(2,6):(6,1)]"));
  EXPECT_EQ(got->seps, (layout::Seps{0, 1, 2}));
}

TEST(Regression, ReplicaOrderIsFixed) {
  const Layout a = parsed("S[2:1] + R[(2,2,3):(8@warpid,16,4@laneid)]");
  const Layout b = parsed("S[2:1] + R[(3,2,2):(4@laneid,8@warpid,16)]");
  EXPECT_EQ(layout::canonicalize(a), layout::canonicalize(b));
  const OLayout canonical = read(layout::canonicalize(a));
  EXPECT_EQ(canonical.replica,
            (std::vector<OIter>{{3, 4, "laneid"}, {2, 16, "m"}, {2, 8, "warpid"}}));
}

TEST(Regression, ReplicasAreSets) {
  EXPECT_TRUE(
      layout::same_places(parsed("S[2:8] + R[(2,2):(2,1)]"), parsed("S[2:8] + R[4:1]")).value());
  EXPECT_EQ(layout::canonicalize(parsed("S[2:8] + R[(2,2):(2,1)]")),
            layout::canonicalize(parsed("S[2:8] + R[4:1]")));
  EXPECT_TRUE(
      layout::same_places(parsed("S[2:8] + R[2:-4] + 4"), parsed("S[2:8] + R[2:4]")).value());
  EXPECT_EQ(layout::canonicalize(parsed("S[2:8] + R[2:-4] + 4")),
            layout::canonicalize(parsed("S[2:8] + R[2:4]")));
  EXPECT_EQ(layout::canonicalize(parsed("S[2:8] + R[(2,1):(0,5)]")),
            layout::canonicalize(parsed("S[2:8]")));
  EXPECT_FALSE(layout::same_places(parsed("S[2:8] + R[2:-4]"), parsed("S[2:8] + R[2:4]")).value());
}

TEST(Regression, ReplicaMultiplicityDoesNotMatter) {
  // {0,1}+{0,1} and {0,1,2} are the same set of displacements.
  EXPECT_TRUE(
      layout::same_places(parsed("S[2:8] + R[(2,2):(1,1)]"), parsed("S[2:8] + R[3:1]")).value());
}

TEST(Regression, IdleAxisLabelsDoNotMatter) {
  EXPECT_TRUE(
      layout::same_places(parsed("S[(4,2):(0@laneid,1)]"), parsed("S[(4,2):(0,1)]")).value());
  EXPECT_TRUE(layout::same_places(parsed("S[1:5@laneid]"), parsed("S[1:1]")).value());
}

// ---- Spans and text -----------------------------------------------------------------------------

TEST(Regression, SpanIsTheTrueExtent) {
  const auto span = [](const char* notation) {
    return layout::span_on(parsed(notation), layout::axes::m()).value();
  };
  EXPECT_EQ(span("S[8:-1]"), 1);        // places -7 … 0
  EXPECT_EQ(span("S[8:-1] + 7"), 8);    // places 0 … 7
  EXPECT_EQ(span("S[8:1] - 20"), -12);  // places -20 … -13
  EXPECT_EQ(span("S[4:1] + R[2:-8] + 8"), 12);
}

TEST(Regression, SpanKnowsTheSwizzle) {
  // 33 = 0b100001: unit bits [3,6) are 4, XORed into the low bits: 37.
  EXPECT_EQ(layout::span_on(parsed("ComposeLayout(0,3,3, S[34:1])"), layout::axes::m()).value(),
            38);
  EXPECT_EQ(layout::span_on(parsed("ComposeLayout(0,3,3, S[34:1], swizzle_inner=False)"),
                            layout::axes::m())
                .value(),
            64);
}

TEST(Regression, SpanOverSeveralMemoryAxesIsRefused) {
  const Layout l = parsed("S[(2,128,112):(112@TCol,1@TLane,1@TCol)]");
  EXPECT_FALSE(layout::memory_span(l));
  EXPECT_EQ(layout::span_on(l, layout::axes::tcol()).value(), 224);
  EXPECT_EQ(layout::span_on(l, layout::axes::tlane()).value(), 128);
}

TEST(Regression, ListsOfDifferentLengthAreRefused) {
  for (const char* text : {"S[(8,4):(4,2,1)]", "S[(8,4,2):(4,1)]", "R[(2,2):4]", "S[8:(4,1)]"}) {
    const auto l = layout::parse_layout(text);
    ASSERT_FALSE(l) << text;
    EXPECT_EQ(l.error().kind, DiagKind::CountMismatch) << l.error().text;
  }
}

TEST(Regression, SeveralReplicaTermsAddUp) {
  EXPECT_SAME_PLACES(parsed("S[2:1] + R[2:4@warpid] + R[2:8]"), "S[2:1] + R[(2,2):(4@warpid,8)]");
}

TEST(Regression, ShapesMustHoldTheRightNumberOfElements) {
  const Layout l = parsed("S[(8,8):(8,1)]");
  const auto place = layout::apply(l, Ints{0, 0}, Ints{8, 9});
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().kind, DiagKind::NotAdmitted);
  EXPECT_FALSE(layout::slice(l, Ints{4, 8}, std::vector<Slice1>{{0, 1}, {0, 1}}));
}

TEST(Regression, ReplicasAreEnumerated) {
  const Layout l = parsed("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid");
  const auto places = layout::apply_all(l, 19).value();
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(read(l),
            read(parsed("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid")));
  EXPECT_EQ(places_at(read(l), 19), (Places{{{"laneid", 5}, {"m", 1}, {"warpid", 5}},
                                            {{"laneid", 5}, {"m", 1}, {"warpid", 9}}}));
}

// ---- Ready-made ---------------------------------------------------------------------------------

TEST(Regression, ScaleFactorStagesDoNotAlias) {
  // Two stages of 128 rows × 8 factors: with stages 16 columns apart only 1536 of 2048 places
  // differ.
  const auto l = layout::scale_factor_tmem(128, 8, 4, 1, 2);
  ASSERT_TRUE(l) << l.error().text;
  EXPECT_EQ(l->size(), 2048);
  const auto facts = layout::image_facts(*l).value();
  EXPECT_TRUE(facts.is_injective);
  EXPECT_EQ(facts.places, 4 * 2048);  // mirrored on the four lane quarters
}

TEST(Regression, PermutationsAreChecked) {
  const Layout l = parsed("S[(2,3):(3,1)]");
  EXPECT_FALSE(layout::permute_iters(l, Ints{0, 0}));
  EXPECT_FALSE(layout::permute_iters(l, Ints{0}));
  EXPECT_FALSE(layout::permute_iters(l, Ints{0, 2}));
}

// ---- What was missing altogether ----------------------------------------------------------------

TEST(Regression, InverseExists) {
  const auto inverse = layout::inverse(parsed("S[(8,4,2):(4@laneid,1@laneid,1)]"));
  ASSERT_TRUE(inverse) << inverse.error().text;
  EXPECT_SAME_PLACES(inverse->map, "S[64:1]");
  const auto transposed = layout::inverse(parsed("S[(2,3):(1,2)]"));
  ASSERT_TRUE(transposed) << transposed.error().text;
  EXPECT_SAME_PLACES(transposed->map, "S[(3,2):(1,3)]");
}

TEST(Regression, CompositionExists) {
  const auto got =
      layout::compose(parsed("S[(4,4):(4@laneid,1@laneid)]"), parsed("S[(2,2):(8,1)]"));
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_SAME_PLACES(*got, "S[(2,2):(8@laneid,1@laneid)]");
}

TEST(Regression, ComplementExists) {
  const auto got =
      layout::complement(parsed("S[2:2]"), std::vector<layout::BoxSide>{{layout::axes::m(), 0, 8}});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_SAME_PLACES(*got, "S[(2,2):(4,1)]");
}

TEST(Regression, RightDivisionExists) {
  const auto got = layout::right_divide(parsed("S[(2,2):(10,1)]"), parsed("S[(2,2):(1,2)]"));
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_SAME_PLACES(*got, "S[(2,2):(1,10)]");
}

}  // namespace
}  // namespace ww::test::regressions_test
