// SPDX-License-Identifier: Apache-2.0
#include "ir/param_use.h"

#include <gtest/gtest.h>

#include "ir/build.h"

namespace ww::ir::param_use_test {
namespace {

using num::DType;

// Three buffers A, B, C of one parameter each, and a body to fill.
struct Program {
  Function f;
  BufferId buffers[3];

  Program() {
    for (int i = 0; i < 3; ++i) {
      Var var;
      var.name = std::string(1, static_cast<char>('A' + i));
      var.type = Type::handle();
      var.kind = VarKind::Param;
      const VarId id = f.add(std::move(var));
      f.params.push_back({id, {}});
      Buffer buffer;
      buffer.name = std::string(1, static_cast<char>('A' + i));
      buffer.shape = {int_imm(f, DType::Int32, 16), int_imm(f, DType::Int32, 16)};
      buffer.origin = BufferOrigin::Param;
      buffer.param = id;
      buffers[i] = f.add(std::move(buffer));
    }
  }
  Region whole(int i) {
    Region region{buffers[i], {}, {}};
    for (const ExprId extent : std::vector(f[buffers[i]].shape))
      region.ranges.push_back({int_imm(f, DType::Int32, 0), extent});
    return region;
  }
  void tile(TileOp op, std::vector<TileArg> args) {
    Stmt s;
    s.kind = StmtKind::Tile;
    s.tile = f.add(TileCall{op, Unit::Thread, std::move(args), "", {}, {}});
    f.body.push_back(f.add(std::move(s)));
  }
  // "rw" for each of A, B, C.
  std::string uses() {
    std::string out;
    for (const ParamUse& use : param_uses(f)) {
      out += out.empty() ? "" : " ";
      out += use.reads ? "r" : "-";
      out += use.writes ? "w" : "-";
    }
    return out;
  }
};

TEST(ParamUses, CopyReadsAndWrites) {
  Program p;
  p.tile(TileOp::Copy, {p.whole(1), p.whole(0)});
  EXPECT_EQ(p.uses(), "r- -w --");
  EXPECT_TRUE(param_uses(p.f)[1].is_output());
}

TEST(ParamUses, GemmReadsCOnlyWithBeta) {
  for (const double beta : {0.0, 1.0}) {
    Program p;
    p.tile(TileOp::Gemm, {p.whole(2), p.whole(0), p.whole(1), p.whole(2), Setting(false),
                          Setting(false), Setting(1.0), Setting(beta)});
    EXPECT_EQ(p.uses(), beta == 0 ? "r- r- -w" : "r- r- rw");
  }
}

TEST(ParamUses, InPlaceAndAccumulatingOpsReadTheirTarget) {
  Program p;
  p.tile(TileOp::Exp, {p.whole(0), std::monostate(), std::monostate(), std::monostate()});
  p.tile(TileOp::Sum, {p.whole(1), p.whole(0), Setting(std::int64_t{-1}), Setting(true)});
  p.tile(TileOp::Zero, {p.whole(2), std::monostate()});
  EXPECT_EQ(p.uses(), "rw rw -w");
}

TEST(ParamUses, StoresLoadsAndPointersCount) {
  Program p;
  const ExprId zero = int_imm(p.f, DType::Int32, 0);
  const ExprId index[] = {zero, zero};
  Stmt store;
  store.kind = StmtKind::Store;
  store.buffer = p.buffers[1];
  store.args = {zero, zero};
  store.expr = load(p.f, p.buffers[0], index).value();
  p.f.body.push_back(p.f.add(std::move(store)));
  Stmt evaluate;
  evaluate.kind = StmtKind::Evaluate;
  evaluate.expr = address_of(p.f, p.buffers[2], index).value();
  p.f.body.push_back(p.f.add(std::move(evaluate)));
  EXPECT_EQ(p.uses(), "r- -w rw");
}

}  // namespace
}  // namespace ww::ir::param_use_test
