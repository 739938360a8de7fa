// SPDX-License-Identifier: Apache-2.0
#include "ir/function.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/visit.h"
namespace ww::ir::function_test {
namespace {

using num::DType;

constexpr int kMany = 20'000;

Buffer named_buffer(std::string name, ExprId extent) {
  Buffer out;
  out.name = std::move(name);
  out.shape = {extent};
  return out;
}

TileCall forced_call(std::string dispatch) {
  TileCall out;
  out.dispatch = std::move(dispatch);
  return out;
}

/// One node of each kind, then many more of each.
struct Crowded {
  Function f;
  ExprId expr = int_imm(f, DType::Int32, 7);
  VarId var = f.add(Var{.name = "v", .type = Type::of(DType::Int32)});
  BufferId buffer = f.add(named_buffer("b", expr));
  TileCallId tile = f.add(forced_call("t"));
  PtxCallId ptx = f.add(PtxCall{.opcode = isa::opcode_of("bar.warp.sync")});
  StmtId stmt = f.add(Stmt{.expr = expr, .message = "s"});

  void add_many() {
    for (int i = 0; i < kMany; ++i) {
      int_imm(f, DType::Int32, i);
      f.add(Var{});
      f.add(Buffer{});
      f.add(TileCall{});
      f.add(PtxCall{});
      f.add(Stmt{});
    }
  }
};

TEST(Function, ReferencesToNodesSurviveManyAdditions) {
  Crowded all;
  Function& f = all.f;
  const Expr& expr = f[all.expr];
  const Var& var = f[all.var];
  const Buffer& buffer = f[all.buffer];
  const TileCall& tile = f[all.tile];
  const PtxCall& ptx = f[all.ptx];
  Stmt& stmt = f.at(all.stmt);
  all.add_many();
  EXPECT_EQ(&expr, &f[all.expr]);
  EXPECT_EQ(expr.integer, 7);
  EXPECT_EQ(&var, &f[all.var]);
  EXPECT_EQ(var.name, "v");
  EXPECT_EQ(&buffer, &f[all.buffer]);
  EXPECT_EQ(buffer.shape[0], all.expr);
  EXPECT_EQ(&tile, &f[all.tile]);
  EXPECT_EQ(tile.dispatch, "t");
  EXPECT_EQ(&ptx, &f[all.ptx]);
  EXPECT_EQ(ptx.opcode.text(), "bar.warp.sync");
  EXPECT_EQ(&stmt, &f[all.stmt]);
  EXPECT_EQ(stmt.message, "s");
}

// --- what is worked out for an expression --------------------------------------------------------

class WorkedOut : public testing::Test {
 protected:
  const Expr& call(Intrinsic callee, SmallVec<ExprId, 3> args) {
    return f_[f_.add(Expr{.op = ExprOp::Call, .args = std::move(args), .callee = callee})];
  }
  const Expr& sum_of(ExprId a, ExprId b) {
    return f_[f_.add(Expr{.op = ExprOp::Add, .args = {a, b}})];
  }
  ExprId last() const { return {static_cast<std::uint32_t>(f_.expr_count() - 1)}; }

  Function f_;
  ExprId seven_ = f_.add(Expr{.integer = 7});
};

TEST_F(WorkedOut, NodesCountSharedOnesAsOftenAsTheyAreUsed) {
  EXPECT_EQ(f_[seven_].nodes, 1U);
  EXPECT_EQ(sum_of(seven_, seven_).nodes, 3U);
  EXPECT_EQ(sum_of(last(), last()).nodes, 7U);
  for (int i = 0; i < 64; ++i) sum_of(last(), last());
  EXPECT_EQ(f_[last()].nodes, ~std::uint32_t{0});  // as many, or more
}

TEST_F(WorkedOut, LoadsReadAndCallsMayDoMore) {
  EXPECT_FALSE(call(Intrinsic::Abs, {seven_}).reads_memory);
  const Expr& load = f_[f_.add(Expr{.op = ExprOp::Load, .args = {seven_}})];
  EXPECT_TRUE(load.reads_memory);
  EXPECT_FALSE(load.has_effect);
  EXPECT_TRUE(sum_of(seven_, last()).reads_memory);
  EXPECT_FALSE(f_[last()].has_effect);
  EXPECT_TRUE(call(Intrinsic::AtomicAdd, {seven_, seven_}).has_effect);
  EXPECT_TRUE(sum_of(last(), seven_).has_effect);
  EXPECT_TRUE(f_[last()].reads_memory);
  EXPECT_FALSE(sum_of(seven_, seven_).has_effect);
}

TEST(Function, CopiesHaveTheSameIdsAndNodesOfTheirOwn) {
  Crowded all;
  all.add_many();
  Function copy = all.f;
  EXPECT_EQ(copy.expr_count(), all.f.expr_count());
  EXPECT_NE(&copy[all.stmt], &all.f[all.stmt]);
  copy.at(all.stmt).message = "changed";
  EXPECT_EQ(all.f[all.stmt].message, "s");
}

// The map adds nodes while the statement's parts are replaced in their places.
TEST(Function, RootsAreReplacedWhileNodesAreAdded) {
  Crowded all;
  Function& f = all.f;
  f.at(all.stmt).kind = StmtKind::Ptx;
  f.at(all.stmt).ptx = all.ptx;
  f.at(all.ptx).operands = {{.expr = all.expr}, {.expr = all.expr}};
  map_roots(f, all.stmt, [&](ExprId) {
    all.add_many();
    return int_imm(f, DType::Int32, 8);
  });
  EXPECT_EQ(const_int(f, f[all.stmt].expr), 8);
  for (const PtxOperand& operand : f[all.ptx].operands) EXPECT_EQ(const_int(f, operand.expr), 8);
}

}  // namespace
}  // namespace ww::ir::function_test
