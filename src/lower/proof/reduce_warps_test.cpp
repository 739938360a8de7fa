// SPDX-License-Identifier: Apache-2.0
// The proof of a reduction across warps: scratch memory holds what is expected there, and barriers
// stand between the threads that write it and the threads that read it, in earlier calls too.
#include <gtest/gtest.h>

#include <functional>

#include "ir/print/print.h"
#include "lower/proof/test_reductions.h"

namespace ww::lower::proof_reduce_warps_test {
namespace {

using ir::ExprId;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using ir::Unit;
using num::DType;
using test::all_of;

using Case = test::ReductionCase;
using Under = test::ReductionUnderTest;

// An element in each thread, its sum in all of them.
Case row_of_threads(TileOp op = TileOp::Sum, DType type = DType::Float32, bool accum = false) {
  return {.op = op,
          .type = type,
          .unit = Unit::Cta,
          .d_shape = {1},
          .a_shape = {128},
          .d = "S[1] + R[128:1@tx]",
          .a = "S[128:1@tx]",
          .threads = 128,
          .accum = accum};
}

// Columns of a tile, of two warpgroups.
Case of_groups() {
  return {.unit = Unit::Warpgroup,
          .d_shape = {4},
          .a_shape = {128, 4},
          .d = "S[4] + R[128:1@tid_in_wg]",
          .a = "S[(128,4):(1@tid_in_wg,1)]",
          .threads = 256,
          .axis = 0};
}

std::vector<Case> cases() {
  std::vector<Case> out = {row_of_threads(), row_of_threads(TileOp::Sum, DType::Float32, true)};
  for (const TileOp op : {TileOp::Sum, TileOp::Max, TileOp::Min})
    for (const DType type : {DType::Float16, DType::Int32, DType::Float64})
      out.push_back(row_of_threads(op, type, type == DType::Int32));
  // Columns of a tile: in each warp a few rows of it.
  out.push_back({.unit = Unit::Cta,
                 .d_shape = {8},
                 .a_shape = {128, 8},
                 .d = "S[8:1@tx]",
                 .a = "S[(128,8):(1@tx,1)]",
                 .threads = 128,
                 .axis = 0});
  out.push_back(of_groups());
  // Rows of 24 threads: some are in one warp, others in two.
  out.push_back({.unit = Unit::Cta,
                 .d_shape = {4},
                 .a_shape = {4, 24},
                 .d = "S[4:1@tx]",
                 .a = "S[(4,24):(24@tx,1@tx)]",
                 .threads = 96});
  return out;
}

TEST(ProofReduceWarps, HoldsForWhatIsWritten) { test::expect_proven(cases()); }

// Every number that a store or a condition has: places in scratch memory, lanes, threads.
TEST(ProofReduceWarps, EveryChangedNumberIsCaught) {
  int planted = 0, alike = 0;
  for (const Case& c : cases()) {
    // Its formulas are lists of threads, among them many that do not count.
    if (c.threads == 96) continue;
    Under under(c);
    for (const auto& place : test::number_places(under, [](StmtId) { return true; }))
      test::for_each_change(under.f, place, [&](ExprId, ExprId after) {
        ++planted;
        if (!under.prove().holds()) return;
        ++alike;
        // Only lanes that have the same part, or give the same one, are as good.
        const std::string is = ir::print(under.f, after);
        const bool is_of_lane =
            is.find("shuffle") != std::string::npos || is.find("% 3") != std::string::npos;
        EXPECT_TRUE(is_of_lane || is.find("nan") != std::string::npos) << text(c) << ": " << is;
      });
  }
  EXPECT_GT(planted, 100);
  EXPECT_LE(alike * 4, planted);
}

// The difference when the n-th barrier is left out.
std::string without_barrier(const Case& c, std::size_t n) {
  Under under(c);
  return test::without_barrier(under, n);
}

TEST(ProofReduceWarps, MissingBarriers) {
  EXPECT_EQ(without_barrier(row_of_threads(), 0),
            "thread 0 of the unit writes what others may still read: no barrier is between");
  EXPECT_EQ(without_barrier(row_of_threads(), 1),
            "thread 1 of the unit reads what thread 0 writes, without a barrier between");
  EXPECT_NE(without_barrier(of_groups(), 0), "");
  EXPECT_NE(without_barrier(of_groups(), 1), "");
}

TEST(ProofReduceWarps, FaultsByName) {
  Under under(of_groups());
  const std::vector<StmtId> barriers = all_of(under, StmtKind::Evaluate);
  ASSERT_EQ(barriers.size(), 2U);
  const auto prove_with = [&](StmtId id, ExprId expr) {
    const ExprId before = under.f[id].expr;
    under.f.at(id).expr = expr;
    const std::string out = under.prove().difference;
    under.f.at(id).expr = before;
    return out;
  };
  // A barrier of another unit, and that of another warpgroup.
  ir::Expr other{.op = ir::ExprOp::Call, .type = under.f[under.f[barriers[0]].expr].type};
  other.callee = ir::Intrinsic::CtaSync;
  EXPECT_EQ(prove_with(barriers[0], under.f.add(std::move(other))),
            "the barrier is of another unit than the warpgroup");
  ir::Expr first = under.f[under.f[barriers[0]].expr];
  first.args[0] = ir::int_imm(under.f, DType::Int32, 8);
  EXPECT_EQ(prove_with(barriers[0], under.f.add(std::move(first))),
            "the warpgroup waits at barrier 8, its own is 9");
  EXPECT_TRUE(under.prove().holds());
  // The part of a warp twice, and not at all.
  Under cta(row_of_threads());
  const ir::Block whole = cta.code;
  const auto is_deposit = [&](StmtId id) { return cta.f[id].kind == StmtKind::If; };
  cta.code.erase(std::ranges::find_if(cta.code, is_deposit));
  EXPECT_EQ(cta.prove().difference,
            "thread 0 of the unit reads byte 0 of `scratch`, which is not an operand");
  cta.code = whole;
  const auto is_loop = [&](StmtId id) { return cta.f[id].kind == StmtKind::For; };
  const auto loop = std::ranges::find_if(cta.code, is_loop);
  ASSERT_NE(loop, cta.code.end());
  cta.code.insert(loop, *loop);
  EXPECT_EQ(cta.prove().difference,
            "element 0 of the destination in thread 0 of the unit has 224 elements folded into it, "
            "expected 128");
}

}  // namespace
}  // namespace ww::lower::proof_reduce_warps_test
