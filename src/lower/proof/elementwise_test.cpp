// SPDX-License-Identifier: Apache-2.0
// The proof of an elementwise primitive must hold for what the variants write, and for nothing near
// it: other registers or threads, operands exchanged, stores dropped, doubled or somewhere else,
// conversions and operations left out. elementwise_casts_test.cpp has the faults of conversions.
#include <gtest/gtest.h>

#include <functional>

#include "ir/print/print.h"
#include "lower/proof/test_elementwise.h"
#include "lower/test_calls.h"

namespace ww::lower::proof_elementwise_test {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using num::DType;
using test::all_of;
using test::Builder;
using test::for_each_change;
using test::Scope;
using test::TileArg;
using Case = test::ElementwiseCase;
using Under = test::ElementwiseUnderTest;

TileArg scalar(Builder& b, const std::string& name) {
  return TileArg(b.var(b.param(name, ir::Type::of(DType::Float32))));
}

std::vector<Case> cases() {
  using enum DType;
  const std::string turned = "S[(32,2,2):(1@laneid,1,2)]", gaps = "S[(32,4):(1@laneid,3)]";
  std::vector<Case> out;
  out.push_back({});
  out.push_back({.op = TileOp::Sub, .a = turned});
  out.push_back({.op = TileOp::Fdiv, .types = {Float16, Float32, Float32}});
  out.push_back({.op = TileOp::Cast, .types = {Float16, Float32}, .a = gaps});
  out.push_back({.op = TileOp::Fma, .types = {Float32, Float32, Float16, Float32}, .a = turned});
  out.push_back({.op = TileOp::Select, .types = {Float16, Float32, Float16, Int32}});
  for (const int choice : {0, 1}) {
    out.push_back({.op = TileOp::Select, .types = {Float16, Float32, Float16}});
    out.back().edit = [choice](Builder& b, std::vector<TileArg>& args) {
      args.emplace_back(b.n(choice));
    };
  }
  for (const TileOp op :
       {TileOp::Sqrt, TileOp::Exp, TileOp::Exp2, TileOp::Log2, TileOp::Reciprocal, TileOp::Silu})
    out.push_back({.op = op, .types = {Float32, Float16}});
  for (const TileOp op :
       {TileOp::Log, TileOp::Log1p, TileOp::Expm1, TileOp::Rsqrt, TileOp::Sin, TileOp::Cos,
        TileOp::Tanh, TileOp::Sigmoid, TileOp::Erf, TileOp::Gelu, TileOp::GeluTanh, TileOp::Abs,
        TileOp::Neg, TileOp::Relu, TileOp::Floor, TileOp::Ceil, TileOp::Round})
    out.push_back({.op = op, .types = {Float32, Float16}});
  for (const TileOp op :
       {TileOp::Abs, TileOp::Neg, TileOp::Relu, TileOp::Round, TileOp::BitwiseNot})
    out.push_back({.op = op, .types = {Int32, Int8}, .a = gaps});
  out.push_back({.op = TileOp::Pow, .types = {Float16, Float32, Float32}});
  out.push_back({.op = TileOp::Clamp, .types = {Float32, Float32, Float16, Float32}});
  out.push_back({.op = TileOp::Where, .types = {Float16, Int32, Float32, Float16}});
  for (const TileOp op : {TileOp::Equal, TileOp::NotEqual, TileOp::Less, TileOp::LessEqual,
                          TileOp::Greater, TileOp::GreaterEqual}) {
    out.push_back({.op = op, .types = {Bool, Float16, Float32}});
    out.push_back({.op = op, .types = {Bool, Int8, Uint8}, .a = turned});
  }
  for (const TileOp op : {TileOp::LogicalAnd, TileOp::LogicalOr, TileOp::LogicalXor})
    out.push_back({.op = op, .types = {Bool, Int32, Bool}});
  out.push_back({.op = TileOp::LogicalNot, .types = {Bool, Float16}});
  for (const TileOp op : {TileOp::BitwiseAnd, TileOp::BitwiseOr, TileOp::BitwiseXor,
                          TileOp::LeftShift, TileOp::RightShift})
    out.push_back({.op = op, .types = {Int32, Int32, Int16}});
  out.push_back({.op = TileOp::Sqrt});  // bias, and a scale
  out.back().edit = [](Builder& b, std::vector<TileArg>& args) { args.push_back(scalar(b, "s")); };
  out.push_back({.op = TileOp::Mul, .types = {Float16, Float16}});
  out.back().edit = [](Builder& b, std::vector<TileArg>& args) { args.push_back(scalar(b, "s")); };
  out.push_back({.op = TileOp::Maximum, .types = {Int32, Int32}});
  out.back().edit = [](Builder& b, std::vector<TileArg>& args) { args.emplace_back(b.n(7)); };
  out.push_back({.op = TileOp::Fill, .types = {Float16}});
  out.back().edit = [](Builder& b, std::vector<TileArg>& args) { args.push_back(scalar(b, "s")); };
  out.push_back({.op = TileOp::Zero, .types = {Int8}});
  out.push_back({.op = TileOp::Sub, .types = {Float32, Float32}});  // in place
  out.back().edit = [](Builder&, std::vector<TileArg>& args) { args.push_back(args[0]); };
  out.push_back(
      {.op = TileOp::Zero, .variant = "memory", .types = {Float16}, .scope = Scope::Shared});
  out.push_back(
      {.op = TileOp::Fill, .variant = "memory", .types = {Float64}, .scope = Scope::Shared});
  out.back().edit = [](Builder& b, std::vector<TileArg>& args) { args.push_back(scalar(b, "s")); };
  const auto mixed = [&](Case c) {
    c.variant = "mixed";
    out.push_back(std::move(c));
  };
  mixed({.op = TileOp::Sub, .from = Scope::Shared});
  mixed({.op = TileOp::Sub, .scope = Scope::Shared});
  mixed({.op = TileOp::Cast,
         .types = {Float16, Float32},
         .scope = Scope::Shared,
         .from = Scope::Shared});
  mixed({.op = TileOp::Fma,
         .types = {Float16, Float16, Float32, Float16},
         .a = turned,
         .scope = Scope::Shared});
  mixed({.op = TileOp::Sub,
         .types = {Float32, Float32},
         .scope = Scope::Shared,
         .from = Scope::Shared});
  out.back().edit = [](Builder&, std::vector<TileArg>& args) { args.push_back(args[0]); };
  for (const TileOp op : {TileOp::Sub, TileOp::Neg, TileOp::Abs, TileOp::Relu, TileOp::Fma})
    out.push_back({.op = op, .types = std::vector(ir::params_of(op).size(), Float16)});
  mixed({.op = TileOp::Sub, .types = {Bfloat16, Bfloat16, Bfloat16}, .from = Scope::Shared});
  for (const TileOp op : {TileOp::Exp, TileOp::Tanh, TileOp::Silu, TileOp::GeluTanh, TileOp::Erf})
    out.push_back({.op = op, .types = {Float32, Float16}, .is_fast = true});
  out.push_back({.op = TileOp::Fdiv, .types = {Float16, Float16, Float16}, .is_fast = true});
  out.push_back({.op = TileOp::Pow, .types = {Float32, Float32, Float32}, .is_fast = true});
  mixed({.op = TileOp::Sigmoid,
         .types = {Float32, Float32},
         .scope = Scope::Shared,
         .from = Scope::Shared,
         .is_fast = true});
  out.push_back({.op = TileOp::Cast, .types = {Float16, Float32}, .round = "rz"});
  out.push_back({.op = TileOp::Cast, .types = {Int8, Float16}, .round = "rm"});
  out.push_back({.op = TileOp::Cast, .types = {Int8, Int32}, .is_saturated = true});
  out.push_back({.op = TileOp::Cast,
                 .types = {Float16, Float64},
                 .a = turned,
                 .round = "rp",
                 .is_saturated = true});
  mixed({.op = TileOp::Cast,
         .types = {Bfloat16, Float32},
         .from = Scope::Shared,
         .round = "rn",
         .is_saturated = true});
  // Only some threads, and registers that differ between threads.
  out.push_back({.d = "S[(8,4,4):(4@laneid,1@laneid,1)]"});
  out.back().edit = [](Builder& b, std::vector<TileArg>& args) {
    for (TileArg& arg : args) std::get<ir::Region>(arg).ranges[0] = {b.n(4), b.n(9)};
  };
  return out;
}

std::string text(const Case& c) { return std::string(ir::name_of(c.op)); }

TEST(ProofElementwise, HoldsForWhatIsWritten) {
  for (const Case& c : cases()) {
    const Under under(c);
    ASSERT_EQ(under.reason, "") << text(c);
    const Proof proof = under.prove();
    EXPECT_TRUE(proof.holds()) << text(c) << ": " << proof.difference << proof.could_not;
  }
}

// Registers, strides and counts of loops, constants, bounds of threads.
TEST(ProofElementwise, EveryChangedNumberIsCaught) {
  int planted = 0;
  for (const Case& c : cases()) {
    Under under(c);
    std::vector<std::function<ExprId&()>> places;
    for (const StmtId id : all_of(under, StmtKind::Store)) {
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).expr; });
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).args[0]; });
    }
    for (const StmtId id : all_of(under, StmtKind::For))
      places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).args[1]; });
    for (const StmtKind kind : {StmtKind::If, StmtKind::Evaluate, StmtKind::Bind})
      for (const StmtId id : all_of(under, kind))
        places.emplace_back([&under, id]() -> ExprId& { return under.f.at(id).expr; });
    for (const auto& place : places)
      for_each_change(under.f, place, [&](ExprId before, ExprId after) {
        EXPECT_FALSE(under.prove().holds())
            << text(c) << ": " << ir::print(under.f, before) << " as " << ir::print(under.f, after);
        ++planted;
      });
  }
  EXPECT_GT(planted, 50);
}

bool is_effect(const ir::Function& f, StmtId id) {
  const StmtKind kind = f[id].kind;
  const bool is_barrier =
      kind == StmtKind::Evaluate && f[f[id].expr].callee != ir::Intrinsic::CopyBytes;
  return !is_barrier && (kind == StmtKind::Store || kind == StmtKind::For || kind == StmtKind::If ||
                         kind == StmtKind::Evaluate || kind == StmtKind::Ptx);
}

TEST(ProofElementwise, DroppedStatements) {
  int planted = 0;
  for (const Case& c : cases()) {
    Under under(c);
    const std::function<void(ir::Block&)> visit = [&](ir::Block& block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        if (!is_effect(under.f, block[i])) continue;
        const ir::Block whole = block;
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_FALSE(under.prove().holds()) << text(c);
        block = whole;
        ++planted;
      }
    };
    visit(under.code);
    for (const StmtKind kind : {StmtKind::For, StmtKind::If})
      for (const StmtId id : all_of(under, kind)) visit(under.f.at(id).body);
  }
  EXPECT_GT(planted, 40);
}

// Other instructions on words of two elements, other words, operands exchanged.
TEST(ProofElementwise, PackedFaults) {
  using enum DType;
  Under under({.op = TileOp::Sub, .types = {Float16, Float16, Float16}});
  ASSERT_TRUE(under.prove().holds());
  const std::vector<StmtId> all = all_of(under, StmtKind::Ptx);
  ASSERT_EQ(all.size(), 1U);
  ir::PtxCall& call = under.f.at(under.f[all[0]].ptx);
  const ir::PtxCall right = call;
  ASSERT_EQ(call.opcode.text(), "sub.rn.f16x2");
  for (const std::string other : {"add.rn.f16x2", "mul.rn.f16x2", "max.f16x2", "sub.rn.bf16x2",
                                  "sub.rn.ftz.f16x2", "sub.rn.sat.f16x2"}) {
    call.opcode = isa::opcode_of(other);
    EXPECT_FALSE(under.prove().holds()) << other;
  }
  call = right;
  std::swap(call.operands[1], call.operands[2]);
  EXPECT_FALSE(under.prove().holds());
  call = right;
  call.operands[1] = call.operands[2];
  EXPECT_FALSE(under.prove().holds());
  call = right;
  EXPECT_TRUE(under.prove().holds());
}

// Other approximations, operands exchanged, and the accurate function.
TEST(ProofElementwise, FastFaults) {
  using enum DType;
  Under under({.op = TileOp::Fdiv, .types = {Float32, Float32, Float32}, .is_fast = true});
  ASSERT_TRUE(under.prove().holds());
  const std::vector<StmtId> all = all_of(under, StmtKind::Ptx);
  ASSERT_EQ(all.size(), 1U);
  ir::PtxCall& call = under.f.at(under.f[all[0]].ptx);
  const ir::PtxCall right = call;
  ASSERT_EQ(call.opcode.text(), "div.approx.ftz.f32");
  for (const std::string other : {"div.approx.f32", "div.full.ftz.f32", "div.rn.f32"}) {
    call.opcode = isa::opcode_of(other);
    EXPECT_FALSE(under.prove().holds()) << other;
  }
  call = right;
  std::swap(call.operands[1], call.operands[2]);
  EXPECT_FALSE(under.prove().holds());
  call = right;
  EXPECT_TRUE(under.prove().holds());
  const Under accurate({.op = TileOp::Fdiv, .types = {Float32, Float32, Float32}});
  EXPECT_EQ(all_of(accurate, StmtKind::Ptx).size(), 0U);
}

// A step made twice is wrong where it reads what it has written.
TEST(ProofElementwise, DoubledInPlace) {
  Case c{.op = TileOp::Sub, .types = {DType::Float32, DType::Float32}};
  c.edit = [](Builder&, std::vector<TileArg>& args) {
    args.push_back(args[1]);
    args[1] = args[0];
  };
  Under under(c);
  ASSERT_TRUE(under.prove().holds());
  under.code.push_back(under.code.back());
  EXPECT_EQ(under.prove().difference,
            "element 0 of the destination in thread 0 of the unit is another value");
}

// Operands exchanged, or one of them instead of the operation; functions and conversions left out.
TEST(ProofElementwise, OtherExpressions) {
  int planted = 0;
  for (const Case& c : cases()) {
    Under under(c);
    for (const StmtId id : all_of(under, StmtKind::Store)) {
      const ExprId before = under.f[id].expr;
      const std::function<void(ExprId, const std::function<void(ExprId)>&)> visit =
          [&](ExprId at, const std::function<void(ExprId)>& set) {
            const ir::Expr e = under.f[at];
            if (e.op == ExprOp::Load || e.args.empty()) return;
            const auto try_one = [&](ExprId other) {
              set(other);
              EXPECT_FALSE(under.prove().holds())
                  << text(c) << ": " << ir::print(under.f, under.f[id].expr);
              set(at);
              ++planted;
            };
            for (const ExprId arg : e.args)
              if (under.f[arg].type == e.type) try_one(arg);
            for (std::size_t i = 1; i < e.args.size(); ++i) {
              if (under.f[e.args[0]].type != under.f[e.args[i]].type) continue;
              ir::Expr other = e;
              std::swap(other.args[0], other.args[i]);
              try_one(under.f.add(std::move(other)));
            }
            for (std::size_t i = 0; i < e.args.size(); ++i)
              visit(e.args[i], [&, i](ExprId other) {
                ir::Expr parent = e;
                parent.args[i] = other;
                set(under.f.add(std::move(parent)));
              });
          };
      visit(before, [&](ExprId other) { under.f.at(id).expr = other; });
      under.f.at(id).expr = before;
      EXPECT_TRUE(under.prove().holds()) << text(c);
    }
  }
  EXPECT_GT(planted, 40);
}

// A scalar in registers of D, read again when they hold something else.
TEST(ProofElementwise, ScalarReadAgain) {
  Case c{.types = {DType::Float32, DType::Float32}};
  c.edit = [](Builder& b, std::vector<TileArg>& args) {
    const ir::BufferId local = b.view("r", std::get<ir::Region>(args[0]).buffer, {4}, "S[4:1]");
    args.emplace_back(b.at(local, {b.n(0)}));
  };
  Under under(c);
  ASSERT_TRUE(under.prove().holds());
  const std::vector<StmtId> binds = all_of(under, StmtKind::Bind);
  ASSERT_EQ(binds.size(), 1U);
  for (const StmtId id : all_of(under, StmtKind::Store)) {
    ir::Expr sum = under.f[under.f[id].expr];
    sum.args[1] = under.f[binds[0]].expr;
    under.f.at(id).expr = under.f.add(std::move(sum));
  }
  EXPECT_FALSE(under.prove().holds());
}

// Two threads take one element of D, or one takes what another has changed.
TEST(ProofElementwise, ThreadsMeetInMemory) {
  Case c{.op = TileOp::Neg, .variant = "mixed", .types = {DType::Float32}, .scope = Scope::Shared};
  c.edit = [](Builder&, std::vector<TileArg>& args) { args.push_back(args[0]); };
  Under under(c);
  ASSERT_EQ(under.reason, "");
  ASSERT_TRUE(under.prove().holds());
  for (const StmtId id : all_of(under, StmtKind::Bind)) {
    ir::Stmt& bind = under.f.at(id);
    if (under.f[bind.expr].type.is_pointer()) continue;
    bind.expr = ir::int_imm(under.f, DType::Int32, 0, {});  // all threads take the first vector
  }
  EXPECT_EQ(under.prove().difference,
            "byte 0 of `D` changes, and thread 0 of the unit is not alone to use it");
}

// Had A been in registers of D, the first store would have destroyed it.
TEST(ProofElementwise, OverwrittenOperand) {
  Under under({.op = TileOp::Cast, .types = {DType::Float32, DType::Float16}});
  ASSERT_TRUE(under.prove().holds());
  put_into_destination(under, "A");
  EXPECT_EQ(under.prove().difference,
            "thread 0 of the unit reads byte 2 of `D`, which is not an operand");
}

TEST(ProofElementwise, WritesElsewhere) {
  Under under({});
  for (const StmtId id : all_of(under, StmtKind::Store))
    under.f.at(id).buffer = under.f[under.f[under.f[id].expr].args[0]].buffer;  // into A
  EXPECT_EQ(under.prove().difference, "byte 0 of `A` is written by thread 0 of the unit");
}

TEST(ProofElementwise, CodeThatIsNotUnderstoodIsNoProof) {
  Under under({});
  under.code.push_back(under.f.add(ir::Stmt{.kind = StmtKind::Return}));
  EXPECT_EQ(under.prove().could_not, "a statement `Return`");
}

}  // namespace
}  // namespace ww::lower::proof_elementwise_test
