// SPDX-License-Identifier: Apache-2.0
// The proof of a reduction must hold for what the variant writes, and for nothing near it: an
// element left out or taken twice, a wrong lane, another order, another operation or type.
#include <gtest/gtest.h>

#include <functional>
#include <regex>

#include "ir/print/print.h"
#include "lower/proof/test_reductions.h"

namespace ww::lower::proof_reduce_test {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using num::DType;
using test::all_of;
using test::for_each_change;

using Case = test::ReductionCase;
using Under = test::ReductionUnderTest;

std::vector<Case> cases() {
  using enum DType;
  std::vector<Case> out;
  for (const TileOp op : {TileOp::Sum, TileOp::Max, TileOp::Min})
    for (const DType type : {Float32, Float16, Int32, Int8, Float64, Uint64})
      for (const bool accum : {false, true})
        out.push_back({.op = op, .type = type, .accum = accum});
  // Along registers only, along lanes only, for lanes that hold nothing of the row.
  out.push_back(
      {.d_shape = {32}, .a_shape = {32, 5}, .d = "S[32:1@laneid]", .a = "S[(32,5):(1@laneid,2)]"});
  out.push_back({.d_shape = {2},
                 .a_shape = {32, 2},
                 .d = "S[2] + R[32:1@laneid]",
                 .a = "S[(32,2):(1@laneid,1)]",
                 .axis = 0});
  out.push_back({.d = "S[8:1@laneid]"});
  // Lanes without elements, elements in several lanes.
  for (const TileOp op : {TileOp::Sum, TileOp::Max, TileOp::Min})
    for (const DType type : {Float32, Int32, Uint32})
      out.push_back({.op = op,
                     .type = type,
                     .d_shape = {1},
                     .a_shape = {12},
                     .d = "S[1] + R[32:1@laneid]",
                     .a = "S[12:1@laneid]"});
  out.push_back({.d_shape = {4},
                 .a_shape = {4, 4},
                 .d = "S[4:8@laneid] + R[8:1@laneid]",
                 .a = "S[(4,4):(8@laneid,1@laneid)] + R[2:4@laneid]"});
  return out;
}

TEST(ProofReduce, HoldsForWhatIsWritten) { test::expect_proven(cases()); }

// The text without the lane of a shuffle. Lanes that differ only in bits that are folded already
// have the same part, so that the one is as good as the other; FaultsByName has lanes that are not.
std::string without_lane(const ir::Function& f, ExprId expr) {
  static const std::regex lane(
      R"((shuffle(_xor)?\(T\.uint32\(\d+\), part\[\d+\], )[^,]+, 32, 32\))");
  return std::regex_replace(ir::print(f, expr), lane, "$1*)");
}

// Registers and strides, lanes of shuffles, counts of loops, neutral elements, bounds of threads.
TEST(ProofReduce, EveryChangedNumberIsCaught) {
  int planted = 0, alike = 0;
  for (const Case& c : cases()) {
    Under under(c);
    std::vector<std::function<ExprId&()>> places;
    for (const StmtId id : all_of(under, StmtKind::Store)) {
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).expr; });
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).args[0]; });
    }
    for (const StmtId id : all_of(under, StmtKind::For))
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).args[1]; });
    for (const StmtId id : all_of(under, StmtKind::If))
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).expr; });
    for (const auto& place : places)
      for_each_change(under.f, place, [&](ExprId before, ExprId after) {
        ++planted;
        if (!under.prove().holds()) return;
        ++alike;
        // One more than NaN is NaN.
        EXPECT_EQ(without_lane(under.f, before), without_lane(under.f, after)) << text(c);
      });
  }
  EXPECT_GT(planted, 200);
  EXPECT_LE(alike * 5, planted);
}

TEST(ProofReduce, DroppedAndDoubledStatements) {
  int planted = 0;
  for (const Case& c : cases()) {
    if (c.op != TileOp::Sum || c.accum) continue;
    Under under(c);
    for (std::size_t i = 0; i < under.code.size(); ++i) {
      const StmtKind kind = under.f[under.code[i]].kind;
      if (kind != StmtKind::Store && kind != StmtKind::For && kind != StmtKind::If) continue;
      const ir::Block whole = under.code;
      under.code.erase(under.code.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(under.prove().holds()) << text(c) << ": without statement " << i;
      under.code = whole;
      ++planted;
      // What folds twice is wrong; a move may be made again.
      const bool is_fold =
          kind == StmtKind::For ||
          (kind == StmtKind::Store && under.f[under.f[under.code[i]].expr].op == ExprOp::Add);
      if (!is_fold) continue;
      under.code.insert(under.code.begin() + static_cast<std::ptrdiff_t>(i), under.code[i]);
      EXPECT_FALSE(under.prove().holds()) << text(c) << ": statement " << i << " twice";
      under.code = whole;
      ++planted;
    }
  }
  EXPECT_GT(planted, 30);
}

// The statements that fold, from the first shuffle on.
std::vector<std::size_t> shuffles(const Under& under) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < under.code.size(); ++i) {
    const ir::Stmt& s = under.f[under.code[i]];
    if (s.kind == StmtKind::Store &&
        ir::print(under.f, s.expr).find("shuffle") != std::string::npos)
      out.push_back(i);
  }
  return out;
}

ExprId with_callee_lane(Under& under, ExprId expr, std::int64_t lane) {
  ir::Expr fold = under.f[expr];
  ir::Expr shuffle = under.f[fold.args[1]];
  shuffle.args[2] = ir::int_imm(under.f, DType::Int32, lane);
  fold.args[1] = under.f.add(std::move(shuffle));
  return under.f.add(std::move(fold));
}

TEST(ProofReduce, FaultsByName) {
  Under under({});
  const std::vector<std::size_t> at = shuffles(under);
  ASSERT_EQ(at.size(), 2U);
  const auto prove_with = [&](std::size_t i, std::int64_t lane) {
    const StmtId id = under.code[at[i]];
    const ExprId before = under.f[id].expr;
    under.f.at(id).expr = with_callee_lane(under, before, lane);
    const std::string out = under.prove().difference;
    under.f.at(id).expr = before;
    return out;
  };
  const std::string where = "element 0 of the destination in thread 0 of the unit ";
  EXPECT_EQ(prove_with(1, 1), where + "has other elements folded into it");  // a part twice
  EXPECT_EQ(prove_with(1, 4),
            where + "has other elements folded into it");  // a lane of another row
  EXPECT_EQ(prove_with(1, 3), "");                         // lanes 2 and 3 have the same by then
  const ir::Block whole = under.code;
  under.code.erase(under.code.begin() + static_cast<std::ptrdiff_t>(at[0]));
  EXPECT_EQ(under.prove().difference, where + "has 8 elements folded into it, expected 16");
  under.code = whole;
  under.code.insert(under.code.begin() + static_cast<std::ptrdiff_t>(at[0]), under.code[at[0]]);
  EXPECT_EQ(under.prove().difference, where + "has 32 elements folded into it, expected 16");
  under.code = whole;
  EXPECT_TRUE(under.prove().holds());
}

// Lanes in another order give another sum of floats, but the same maximum and the same integer.
TEST(ProofReduce, OrderOfSums) {
  const auto exchanged = [](const Case& c) {
    Under under(c);
    const std::vector<std::size_t> at = shuffles(under);
    std::swap(under.code[at[0]], under.code[at[1]]);
    return under.prove().difference;
  };
  EXPECT_EQ(exchanged({}),
            "element 0 of the destination in thread 0 of the unit is folded in another order, or "
            "otherwise");
  EXPECT_EQ(exchanged({.op = TileOp::Max}), "");
  EXPECT_EQ(exchanged({.type = DType::Int32}), "");
}

TEST(ProofReduce, OtherOperations) {
  for (const Case& c : cases()) {
    Under under(c);
    for (const StmtId id : all_of(under, StmtKind::Store)) {
      const ExprId before = under.f[id].expr;
      ir::Expr e = under.f[before];
      if (e.op != ExprOp::Add && e.op != ExprOp::Max && e.op != ExprOp::Min) continue;
      e.op = e.op == ExprOp::Max ? ExprOp::Min : ExprOp::Max;
      under.f.at(id).expr = under.f.add(std::move(e));
      EXPECT_FALSE(under.prove().holds()) << text(c);
      under.f.at(id).expr = before;
    }
  }
}

// Another operation or type than the call's, part of the lanes.
TEST(ProofReduce, FaultsOfRedux) {
  Under under({.op = TileOp::Max,
               .type = DType::Int32,
               .d_shape = {1},
               .a_shape = {32},
               .d = "S[1] + R[32:1@laneid]",
               .a = "S[32:1@laneid]"});
  ASSERT_TRUE(under.prove().holds()) << under.prove().difference << under.prove().could_not;
  const std::vector<StmtId> calls = all_of(under, StmtKind::Ptx);
  ASSERT_EQ(calls.size(), 1U);
  ir::PtxCall& call = under.f.ptx_calls[under.f[calls[0]].ptx.index];
  const ir::PtxCall before = call;
  const auto prove_with = [&](const std::string& opcode) {
    call.opcode = isa::opcode_of(opcode);
    const Proof proof = under.prove();
    call = before;
    return proof.difference + proof.could_not;
  };
  const std::string otherwise =
      "element 0 of the destination in thread 0 of the unit is folded in another order, or "
      "otherwise";
  EXPECT_EQ(prove_with("redux.sync.max.s32"), "");
  EXPECT_EQ(prove_with("redux.sync.min.s32"), otherwise);
  EXPECT_EQ(prove_with("redux.sync.max.u32"), otherwise);
  EXPECT_EQ(prove_with("redux.sync.xor.b32"), "`redux.sync.xor.b32`");
  call.operands[2].expr = ir::int_imm(under.f, DType::Uint32, 0xFFFF);
  EXPECT_EQ(under.prove().could_not, "`redux.sync.max.s32` in parts of a warp");
  call = before;
  under.code.erase(std::ranges::find(under.code, calls[0]));
  EXPECT_EQ(under.prove().difference,
            "element 0 of the destination in thread 0 of the unit has 1 elements folded into it, "
            "expected 32");
}

// Lane 1 holds elements 0 and 1, lane 0 only the first.
TEST(ProofReduce, ElementsSharedInPart) {
  const Under under({.d_shape = {1},
                     .a_shape = {4},
                     .d = "S[1] + R[32:1@laneid]",
                     .a = "S[4:1@laneid] + R[2:1@laneid]"});
  EXPECT_EQ(under.rule, "replica");
  EXPECT_EQ(under.reason,
            "threads 0 and 1 of the warp both hold element 0 of `A`, but not the same elements "
            "beside it");
}

}  // namespace
}  // namespace ww::lower::proof_reduce_test
