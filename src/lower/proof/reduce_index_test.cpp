// SPDX-License-Identifier: Apache-2.0
// The proof of `argmax` and `argmin`: keys are those of their elements and indices, and nothing near.
#include <gtest/gtest.h>

#include <functional>

#include "ir/print/print.h"
#include "lower/test_calls.h"

namespace ww::lower::proof_reduce_index_test {
namespace {

using ir::ExprId;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using num::DType;
using test::all_of;
using test::Builder;
using test::Scope;
using test::Setting;
using test::TileArg;

ir::Function function_of(TileOp op, DType type, DType index) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 32);
  std::vector<TileArg> args;
  args.emplace_back(
      b.full(b.alloc("D", {8}, index, Scope::Local, "S[8:4@laneid] + R[4:1@laneid]")));
  args.emplace_back(
      b.full(b.alloc("A", {8, 12}, type, Scope::Local, "S[(8,4,3):(4@laneid,1@laneid,1)]")));
  args.emplace_back(Setting(std::int64_t{-1}));
  b.tile(op, ir::Unit::Warp, std::move(args));
  return b.done();
}

class Under : public test::CallUnderTest {
 public:
  explicit Under(TileOp op, DType type, DType index = DType::Int32)
      : CallUnderTest(function_of(op, type, index), test::variant_named(op, "registers"),
                      prove_reduction, {.arch = target::Arch::Sm90a, .ptx = 90}) {}
};

TEST(ProofReduceIndex, HoldsForWhatIsWritten) {
  for (const TileOp op : {TileOp::Argmax, TileOp::Argmin})
    for (const DType type :
         {DType::Float32, DType::Float16, DType::Int32, DType::Uint32, DType::Int8})
      for (const DType index : {DType::Int32, DType::Int64}) {
        const Under under(op, type, index);
        ASSERT_EQ(under.reason, "") << num::name_of(type);
        const Proof proof = under.prove();
        EXPECT_TRUE(proof.holds()) << num::name_of(type) << proof.difference << proof.could_not;
      }
}

// Bits of keys, indices, registers and lanes; lanes that have the same part are as good.
TEST(ProofReduceIndex, EveryChangedNumberIsCaught) {
  int planted = 0, alike = 0;
  for (const TileOp op : {TileOp::Argmax, TileOp::Argmin})
    for (const DType type : {DType::Float32, DType::Uint32}) {
      Under under(op, type);
      for (const StmtId id : all_of(under, StmtKind::Store))
        for (const bool is_value : {true, false})
          test::for_each_change(
              under.f,
              [&]() -> ExprId& { return is_value ? under.f.at(id).expr : under.f.at(id).args[0]; },
              [&](ExprId, ExprId after) {
                ++planted;
                if (!under.prove().holds()) return;
                ++alike;
                EXPECT_NE(ir::print(under.f, after).find("shuffle"), std::string::npos)
                    << ir::print(under.f, after);
              });
    }
  EXPECT_GT(planted, 100);
  EXPECT_LE(alike * 10, planted);
}

TEST(ProofReduceIndex, TheOtherEnd) {
  Under under(TileOp::Argmax, DType::Float32);
  for (const StmtId id : all_of(under, StmtKind::Store)) {
    ir::Expr e = under.f[under.f[id].expr];
    if (e.op != ir::ExprOp::Max) continue;
    e.op = ir::ExprOp::Min;
    const ExprId before = under.f[id].expr;
    under.f.at(id).expr = under.f.add(std::move(e));
    EXPECT_FALSE(under.prove().holds());
    under.f.at(id).expr = before;
  }
  EXPECT_TRUE(under.prove().holds());
}

// Such calls are expanded before variants are asked; at cluster scope they are not.
TEST(ProofReduceIndex, Declines) {
  const Under under(TileOp::Argmax, DType::Float64);
  EXPECT_EQ(under.rule, "dtype");
  EXPECT_EQ(under.reason,
            "`A` has elements of type float64, expected at most 32 bits beside an index");
}

}  // namespace
}  // namespace ww::lower::proof_reduce_index_test
