// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/ops.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "driver/layout/named_layouts.h"
#include "layout/apply.h"

namespace ww::driver::layout_ops_test {
namespace {

LayoutState state_of(std::string_view notation, std::string_view shape = {}) {
  const auto notated = parse_notation(notation);
  EXPECT_TRUE(notated) << notation;
  LayoutState state{
      .layout = notated->layout, .shape = written_shape(*notated), .bits = notated->bits};
  if (!shape.empty()) state.shape = *layout::parse_shape(shape);
  return state;
}

// The notation and shape after an operation, or the refusal.
std::string after(LayoutState state, std::string_view op) {
  const auto done = run_op(state, op);
  if (!done) return "error: " + done.error().text;
  return layout::to_text(state.layout) + " " + layout::shape_text(state.shape);
}

std::string answer(LayoutState state, std::string_view op) {
  const auto done = run_op(state, op);
  if (!done) return "error: " + done.error().text;
  return state.answers.empty() ? "" : state.answers.back().text;
}

TEST(LayoutOps, EveryExampleWorksAndLeavesAnAdmittedShape) {
  for (const LayoutOp& row : layout_ops()) {
    LayoutState state = state_of(row.example_layout);
    const auto done = run_op(state, row.example);
    ASSERT_TRUE(done) << row.example << ": " << done.error().text;
    EXPECT_TRUE(layout::require_admitted(state.layout.tile(), state.shape)) << row.example;
  }
}

TEST(LayoutOps, NamesAreUnique) {
  std::set<std::string_view> seen;
  for (const LayoutOp& row : layout_ops()) {
    EXPECT_TRUE(seen.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.alias.empty() || seen.insert(row.alias).second) << row.alias;
  }
}

TEST(LayoutOps, AFailedOperationLeavesTheStateAlone) {
  LayoutState state = state_of("S[(8,16):(16,1)]");
  EXPECT_FALSE(run_op(state, "slice:0:4,2:20"));
  EXPECT_EQ(layout::to_text(state.layout), "S[(8,16):(16,1)]");
  EXPECT_TRUE(state.answers.empty());
}

TEST(LayoutOps, TheShapeFollows) {
  const auto tile = state_of("S[(8,16):(16,1)]");
  EXPECT_EQ(after(tile, "slice:0:4,2:6"), "S[(4,4):(16,1)] + 2 (4,4)");
  EXPECT_EQ(after(tile, "slice:3,:"), "S[(1,16):(16,1)] + 48 (1,16)");
  EXPECT_EQ(after(tile, "slice::4,12:"), "S[(4,4):(16,1)] + 12 (4,4)");
  EXPECT_EQ(after(tile, "permute:1,0"), "S[(16,8):(1,16)] (16,8)");
  EXPECT_EQ(after(tile, "shape:4,32"), "S[(8,16):(16,1)] (4,32)");
  EXPECT_EQ(after(tile, "tile_to:16,16"), "S[256:1] (16,16)");
}

TEST(LayoutOps, PackingChangesTheElementWidth) {
  LayoutState state = state_of("mma_shared(float16,128B,8,64)");
  ASSERT_TRUE(run_op(state, "pack:2"));
  EXPECT_EQ(state.bits, 32);
  EXPECT_EQ(layout::shape_text(state.shape), "(8,32)");
  ASSERT_TRUE(run_op(state, "unpack:4"));
  EXPECT_EQ(state.bits, 8);
}

TEST(LayoutOps, SymbolicRegionsUseDeclaredVariables) {
  LayoutState state = state_of("row_major(64,128)");
  state.names.symbols.emplace("k", *layout::Sym::make("k", {0, 7}));
  EXPECT_EQ(after(state, "slice:0:64,16*k:16*k+16"), "S[(64,16):(128,1)] + (16*k) (64,16)");
  EXPECT_EQ(after(state, "slice:0:64,16*k:16"),
            "error: `16*k:16` holds -16*k + 16 elements; the number must be constant");
}

TEST(LayoutOps, AnswersAreGivenInWords) {
  const auto fragment = state_of("S[(8,4,2):(4@laneid,1@laneid,1)]", "8,8");
  EXPECT_EQ(answer(fragment, "at:laneid=5,m=1"), "(1,3)");
  EXPECT_EQ(answer(fragment, "at:laneid=40"), "nothing");
  EXPECT_EQ(answer(fragment, "apply:1,3"), "laneid=5, m=1");
  EXPECT_EQ(answer(fragment, "apply:11"), "laneid=5, m=1");
  EXPECT_EQ(answer(fragment, "size:laneid"), "32");
  EXPECT_EQ(answer(fragment, "trivial"), "no");
}

TEST(LayoutOps, EqualityIsAnExpectation) {
  LayoutState state = state_of("S[(8,8):(8,1)]");
  ASSERT_TRUE(run_op(state, "equal:S[64:1]"));
  EXPECT_TRUE(state.answers.back().holds);
  ASSERT_TRUE(run_op(state, "same:S[64:2]"));
  EXPECT_FALSE(state.answers.back().holds);
}

TEST(LayoutOps, AxesOfTheLayoutAreKnownEvenUndeclared) {
  EXPECT_EQ(answer(state_of("S[(4,2):(1@mine,1)]"), "size:mine"), "4");
}

struct Refused {
  std::string_view op;
  std::string_view message;
  Span span;
};

TEST(LayoutOps, RefusalsPointIntoTheOperation) {
  const Refused cases[] = {
      {"slce:0:4", "no operation is called `slce`; did you mean `slice`?", Span::at(0, 4)},
      {"canon:3", "`canon` takes no argument, and `3` was given", Span::at(6, 7)},
      {"group", "`group` needs an argument: group:SHAPE", Span::at(0, 5)},
      {"slice:0:4", "the region has rank 1, the shape (8,16) has rank 2", Span::at(6, 9)},
      {"slice:4:4,0:1", "`4:4` holds 0 elements; a region needs at least one", Span::at(6, 9)},
      {"permute:1,x", "`x` is not an integer", Span::at(10, 11)},
      {"split:tx", "expected WHOLE=OUTER,INNER, as in `tx=warpid,laneid`, found `tx`",
       Span::at(6, 8)},
      {"size:lanid", "no axis is called `lanid`; did you mean `laneid`?", Span::at(5, 10)},
      {"at:m=1,m=2", "axis `m` is given twice", Span::at(7, 10)},
      {"banks:flot16", "`flot16` is not an element type; did you mean `float16`?", Span::at(6, 12)},
      {"conflicts:float16", "expected DTYPE,ACCESS[,vec=N][,lanes=N], found `float16`",
       Span::at(10, 17)},
      {"conflicts:float16,S[8],vex=8", "expected vec=N or lanes=N, found `vex=8`",
       Span::at(23, 28)},
      {"compose:wg_locl(3)", "no layout is called `wg_locl`; did you mean `wg_local`?",
       Span::at(8, 15)},
  };
  for (const Refused& refused : cases) {
    LayoutState state = state_of("S[(8,16):(16,1)]");
    const auto done = run_op(state, refused.op);
    ASSERT_FALSE(done) << refused.op;
    EXPECT_EQ(done.error().text, refused.message) << refused.op;
    EXPECT_EQ(done.error().span, refused.span) << refused.op;
  }
}

TEST(LayoutOps, FusingNeedsAMachine) {
  LayoutState state = state_of("S[(4,32):(1@warpid,1@laneid)]");
  state.machine = layout::Machine::None;
  EXPECT_EQ(after(state, "fuse"),
            "error: `fuse` rewrites CUDA thread axes, and the target is `none`");
}

}  // namespace
}  // namespace ww::driver::layout_ops_test
