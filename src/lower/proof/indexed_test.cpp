// SPDX-License-Identifier: Apache-2.0
// The proof of gathers and scatters: it holds for what the variant writes, and faults are caught.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "ir/print/print.h"
#include "lower/test_calls.h"

namespace ww::lower::proof_indexed_test {
namespace {

using ir::ExprId;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using ir::Unit;
using test::all_of;
using test::Builder;
using test::Scope;
using test::Setting;

struct Side {
  std::vector<std::int64_t> shape;
  Scope scope = Scope::Shared;
  std::string layout = {};
};

struct Case {
  std::string name;
  TileOp op = TileOp::Gather;
  Side table = {{40, 32}}, tile = {{16, 32}}, index = {{16}};
  num::DType type = num::DType::Float32, index_type = num::DType::Int32;
  std::int64_t axis = 0;
  bool takes_any = false;
};

ir::Function function_of(const Case& c) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 64);
  const auto alloc = [&](const std::string& name, const Side& side, num::DType type) {
    return b.full(b.alloc(name, side.shape, type, side.scope, side.layout));
  };
  const auto table = alloc("table", c.table, c.type), tile = alloc("tile", c.tile, c.type);
  const auto index = alloc("index", c.index, c.index_type);
  const bool is_gather = c.op == TileOp::Gather;
  b.tile(
      c.op, Unit::Warp,
      {is_gather ? tile : table, is_gather ? table : tile, index, test::TileArg(Setting(c.axis))});
  if (c.takes_any) {
    auto& config = b.f.tile_calls.back().config;
    if (is_gather)
      config.emplace_back("fill_value", 2.5);
    else
      config.emplace_back("clip", true);
  }
  return b.done();
}

class Under : public test::CallUnderTest {
 public:
  explicit Under(const Case& c)
      : CallUnderTest(function_of(c), test::variant_named(c.op, "indexed"), prove_indexed,
                      {.arch = target::Arch::Sm90a, .ptx = 90}) {}
};

std::vector<Case> cases() {
  const Side lanes{{16, 32}, Scope::Local, "S[(4,4,8,4):(4,8@laneid,1@laneid,1)]"};
  const Side spread{{16}, Scope::Local, "S[16:2@laneid] + R[2:1@laneid]"};
  return {
      {.name = "gather"},
      {.name = "filled", .takes_any = true},
      {.name = "wide indices", .index_type = num::DType::Int64, .takes_any = true},
      {.name = "swizzled",
       .table = {{64, 64}, Scope::Shared, "ComposeLayout(2, 3, 3, S[(64,64):(64,1)])"},
       .tile = {{16, 64}}},
      {.name = "digits", .table = {{8, 32}, Scope::Shared, "S[(2,4,32):(32,72,1)]"}},
      {.name = "into registers", .tile = lanes},
      {.name = "through scratch", .tile = lanes, .index = spread},
      {.name = "for each element", .index = {{16, 32}}},
      {.name = "columns", .table = {{16, 40}}, .index = {{32}}, .axis = 1},
      {.name = "scatter", .op = TileOp::Scatter},
      {.name = "clipped", .op = TileOp::Scatter, .takes_any = true},
      {.name = "of registers", .op = TileOp::Scatter, .tile = lanes},
      {.name = "scatter_add", .op = TileOp::ScatterAdd, .takes_any = true},
      {.name = "of numbers",
       .op = TileOp::ScatterAdd,
       .table = {{50}},
       .tile = {{128}},
       .index = {{128}}},
  };
}

TEST(ProofIndexed, HoldsForWhatIsWritten) {
  for (const Case& c : cases()) {
    const Under under(c);
    ASSERT_EQ(under.reason, "") << c.name;
    const Proof proof = under.prove();
    EXPECT_TRUE(proof.holds()) << c.name << ": " << proof.difference << proof.could_not;
  }
}

// Every number in an address, an index, a condition or a value.
TEST(ProofIndexed, EveryChangedNumberIsCaught) {
  int planted = 0, alike = 0;
  for (const Case& c : cases()) {
    Under under(c);
    std::vector<std::function<ExprId&()>> places;
    for (const StmtKind kind : {StmtKind::Store, StmtKind::Bind, StmtKind::If, StmtKind::Evaluate})
      for (const StmtId id : all_of(under, kind))
        if (under.f[id].expr.valid())
          places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).expr; });
    for (const StmtId id : all_of(under, StmtKind::Store))
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).args[0]; });
    for (const auto& place : places)
      test::for_each_change(under.f, place, [&](ExprId, ExprId after) {
        ++planted;
        if (!under.prove().holds()) return;
        ++alike;
        // The other lane that has an index may pass it on as well.
        EXPECT_EQ(ir::print(under.f, after), "threadIdx_x % 2 == 1") << c.name;
      });
  }
  EXPECT_GT(planted, 300);
  EXPECT_LE(alike, 1);
}

std::string difference(const Under& under) {
  const Proof proof = under.prove();
  return proof.difference + proof.could_not;
}

TEST(ProofIndexed, MissingStatements) {
  for (const Case& c : cases()) {
    Under under(c);
    for (const StmtKind kind : {StmtKind::Store, StmtKind::Evaluate})
      for (const StmtId id : all_of(under, kind)) {
        const bool is_last = under.code.back() == id;
        const ir::Stmt before = under.f[id];
        under.f.at(id).kind = StmtKind::If;
        under.f.at(id).expr = ir::int_imm(under.f, num::DType::Bool, 0, {});
        under.f.at(id).args.clear();
        under.f.at(id).body.clear();
        // The barrier at the end is for those who come after.
        if (!is_last) {
          EXPECT_NE(difference(under), "") << c.name << ": " << ir::print(under.f, before.expr);
        }
        under.f.at(id) = before;
      }
  }
}

// A condition that always holds lets indices out of range through.
TEST(ProofIndexed, MissingConditions) {
  for (const Case& c : cases()) {
    if (!c.takes_any) continue;
    Under under(c);
    int found = 0;
    for (const StmtId id : all_of(under, StmtKind::If)) {
      const ExprId before = under.f[id].expr;
      under.f.at(id).expr = ir::int_imm(under.f, num::DType::Bool, 1, {});
      EXPECT_NE(difference(under), "") << c.name;
      under.f.at(id).expr = before;
      ++found;
    }
    EXPECT_GT(found, 0) << c.name;
  }
}

}  // namespace
}  // namespace ww::lower::proof_indexed_test
