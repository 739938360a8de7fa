// SPDX-License-Identifier: Apache-2.0
// The proof of a product must hold for what the variant writes, and for nothing near it: registers
// exchanged, other steps of k, instructions dropped or doubled, other starts, forgotten factors.
#include <gtest/gtest.h>

#include "ir/equal.h"
#include "ir/print/print.h"
#include "lower/gemm/test_calls.h"

namespace ww::lower::proof_gemm_test {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::StmtId;
using ir::StmtKind;
using test::all_of;
using test::Builder;
using test::for_each_change;
using test::GemmCase;
using test::GemmUnderTest;
using test::TileArg;

TileArg runtime(Builder& b, const std::string& name) {
  return TileArg(b.var(b.param(name, ir::Type::of(num::DType::Float32))));
}

std::vector<GemmCase> cases() {
  std::vector<GemmCase> out;
  out.push_back(GemmCase::natural(1, 1, 2));
  out.push_back(GemmCase::natural(2, 2, 3));
  out.push_back(GemmCase::natural(1, 2, 4));
  out.back().beta = ir::Setting(1.0);
  out.push_back(GemmCase::natural(2, 1, 2));  // alpha and beta before and after, C apart
  out.back().alpha = ir::Setting(0.5);
  out.back().beta = ir::Setting(1.5);
  out.back().c = out.back().d;
  out.push_back(GemmCase::natural(1, 1, 2));  // the same in place
  out.back().alpha = ir::Setting(0.5);
  out.back().beta = ir::Setting(1.5);
  out.push_back(GemmCase::natural(1, 1, 2));  // beta·C first
  out.back().beta = ir::Setting(-3.25);
  out.push_back(GemmCase::natural(1, 1, 2));  // known at run time
  out.back().edit = [](Builder& b, std::vector<TileArg>& args) {
    args[6] = runtime(b, "x");
    args[7] = runtime(b, "y");
  };
  out.push_back(GemmCase::natural(1, 1, 2));  // halves
  out.back().out = num::DType::Float16;
  out.push_back(GemmCase::natural(1, 1, 4, 1));
  out.back().in = out.back().out = num::DType::Float64;
  return out;
}

TEST(ProofGemm, HoldsForWhatIsWritten) {
  for (const GemmCase& c : cases()) {
    const GemmUnderTest gemm(c);
    ASSERT_EQ(gemm.reason, "");
    const Proof proof = gemm.prove();
    EXPECT_TRUE(proof.holds()) << proof.difference << proof.could_not;
  }
}

// --- planted faults ---

/// Is an operand one of C, where all of C are zeros? Then it does not matter which.
bool is_zero(const GemmCase& c, const ir::PtxCall& call, std::size_t operand) {
  const auto is = [](const TileArg& arg, double value) {
    const auto* setting = std::get_if<ir::Setting>(&arg);
    return setting != nullptr && std::get<double>(*setting) == value;
  };
  const bool is_half = c.out == num::DType::Float16;
  return operand + (is_half ? 2 : 4) >= call.operands.size() && (!is(c.alpha, 1) || is(c.beta, 0));
}

TEST(ProofGemm, EveryExchangeOfRegistersIsCaught) {
  int planted = 0;
  for (const GemmCase& c : cases()) {
    GemmUnderTest gemm(c);
    ir::PtxCall& call = gemm.f.ptx_calls.back();
    auto& operands = call.operands;
    for (std::size_t i = 0; i < operands.size(); ++i)
      for (std::size_t j = i + 1; j < operands.size(); ++j) {
        if (ir::same(gemm.f, operands[i].expr, operands[j].expr)) continue;  // d and c
        if (is_zero(c, call, i) && is_zero(c, call, j)) continue;
        std::swap(operands[i], operands[j]);
        EXPECT_FALSE(gemm.prove().holds()) << i << " and " << j;
        std::swap(operands[i], operands[j]);
        ++planted;
      }
  }
  EXPECT_GT(planted, 300);
}

// Registers, strides of loops, zeros to begin with, alpha, beta.
TEST(ProofGemm, EveryChangedNumberIsCaught) {
  int planted = 0;
  for (const GemmCase& c : cases()) {
    GemmUnderTest gemm(c);
    std::vector<std::function<ExprId&()>> places;
    for (const StmtId id : all_of(gemm, StmtKind::Ptx)) {
      const auto call = gemm.f[id].ptx.index;
      for (std::size_t i = 0; i < gemm.f.ptx_calls[call].operands.size(); ++i) {
        if (is_zero(c, gemm.f.ptx_calls[call], i)) continue;
        places.push_back(
            [&gemm, call, i]() -> ExprId& { return gemm.f.ptx_calls[call].operands[i].expr; });
      }
    }
    for (const StmtId id : all_of(gemm, StmtKind::Store)) {
      places.push_back([&gemm, id]() -> ExprId& { return gemm.f.at(id).expr; });
      places.push_back([&gemm, id]() -> ExprId& { return gemm.f.at(id).args[0]; });
    }
    for (const StmtId id : all_of(gemm, StmtKind::For))
      places.push_back([&gemm, id]() -> ExprId& { return gemm.f.at(id).args[1]; });
    for (const auto& place : places)
      for_each_change(gemm.f, place, [&](ExprId before, ExprId after) {
        EXPECT_FALSE(gemm.prove().holds())
            << gemm.report.tiling << ": " << ir::print(gemm.f, before) << " as "
            << ir::print(gemm.f, after);
        ++planted;
      });
  }
  EXPECT_GT(planted, 250);
}

TEST(ProofGemm, DroppedAndDoubledStatements) {
  for (const GemmCase& c : cases()) {
    GemmUnderTest gemm(c);
    const std::function<void(ir::Block&)> visit = [&](ir::Block& block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        const StmtKind kind = gemm.f[block[i]].kind;
        if (kind == StmtKind::Declare || kind == StmtKind::Alloc) continue;
        const ir::Block whole = block;
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_FALSE(gemm.prove().holds()) << "dropped " << ir::name_of(kind);
        block = whole;
        if (kind != StmtKind::Ptx) continue;  // a start may well be made twice
        block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), whole[i]);
        EXPECT_FALSE(gemm.prove().holds()) << "doubled " << ir::name_of(kind);
        block = whole;
      }
    };
    visit(gemm.code);
    for (const StmtId id : all_of(gemm, StmtKind::For)) visit(gemm.f.at(id).body);
  }
}

TEST(ProofGemm, ForgottenFactors) {
  int planted = 0;
  for (const GemmCase& c : cases()) {
    GemmUnderTest gemm(c);
    // What is stored is one argument of the product, or of the product and sum.
    for (const StmtId id : all_of(gemm, StmtKind::Store)) {
      const ExprId before = gemm.f[id].expr;
      const ir::Expr e = gemm.f[before];
      if (e.op != ExprOp::Mul && e.op != ExprOp::Call) continue;
      for (const ExprId side : e.args) {
        gemm.f.at(id).expr = side;
        EXPECT_FALSE(gemm.prove().holds()) << ir::print(gemm.f, before);
        ++planted;
      }
      gemm.f.at(id).expr = before;
    }
  }
  EXPECT_GT(planted, 20);
}

// Where beta is 0 at run time, C must not count even if it holds no number.
TEST(ProofGemm, BetaOfZeroIsTriedAsWell) {
  GemmCase c;
  c.c = c.d;
  c.edit = [](Builder& b, std::vector<TileArg>& args) { args[7] = runtime(b, "y"); };
  GemmUnderTest gemm(c);
  ASSERT_TRUE(gemm.prove().holds());
  for (const StmtId id : all_of(gemm, StmtKind::Store)) {
    ir::Expr product = gemm.f[gemm.f[id].expr];
    const ir::Expr read = gemm.f[product.args[1]];
    ASSERT_EQ(read.op, ExprOp::IfThenElse);
    ir::Expr turned = read;
    turned.args[2] = read.args[1];  // C itself
    product.args[1] = gemm.f.add(std::move(turned));
    gemm.f.at(id).expr = gemm.f.add(std::move(product));
  }
  EXPECT_FALSE(gemm.prove().holds());
}

// A factor in registers of D, read again when they hold something else.
TEST(ProofGemm, FactorReadAgain) {
  GemmCase c = GemmCase::natural(1, 1, 2);
  c.edit = [](Builder& b, std::vector<TileArg>& args) {
    const ir::BufferId local = b.view("r", std::get<ir::Region>(args[0]).buffer, {4}, "S[4:1]");
    args[7] = TileArg(b.at(local, {b.n(0)}));
  };
  GemmUnderTest gemm(c);
  ASSERT_TRUE(gemm.prove().holds());
  ExprId text;
  for (const StmtId id : all_of(gemm, StmtKind::Bind)) text = gemm.f[id].expr;
  const std::vector<StmtId> stores = all_of(gemm, StmtKind::Store);
  const auto read_again_in = [&](StmtId id) {
    ir::Expr product = gemm.f[gemm.f[id].expr];
    ASSERT_EQ(product.op, ExprOp::Mul);
    product.args[0] = text;
    gemm.f.at(id).expr = gemm.f.add(std::move(product));
  };
  read_again_in(stores.front());  // nothing has been written yet
  EXPECT_TRUE(gemm.prove().holds());
  read_again_in(stores.back());
  EXPECT_EQ(gemm.prove().difference, "element (8, 1) of D in thread 0 of the unit is another sum");
}

/// A·A^T of one fragment.
GemmCase with_itself() {
  GemmCase c = GemmCase::natural(1, 2, 2);
  c.turns_b = true;
  c.edit = [](Builder&, std::vector<TileArg>& args) { args[2] = args[1]; };
  return c;
}

TEST(ProofGemm, OperandsInTheSameRegisters) {
  GemmUnderTest gemm(with_itself());
  ASSERT_TRUE(gemm.prove().holds());
  auto& operands = gemm.f.ptx_calls.back().operands;
  std::swap(operands[8], operands[9]);  // of B
  EXPECT_FALSE(gemm.prove().holds());
  std::swap(operands[8], operands[9]);
  std::swap(operands[5], operands[8]);  // of A and B, with other rows
  EXPECT_FALSE(gemm.prove().holds());
}

// Had A been in registers of D, of another width, the first store would have destroyed it.
TEST(ProofGemm, OverwrittenOperand) {
  GemmUnderTest gemm(GemmCase::natural(1, 1, 2));
  ASSERT_TRUE(gemm.prove().holds());
  put_into_destination(gemm, "A");
  EXPECT_EQ(gemm.prove().difference,
            "thread 0 of the unit reads byte 0 of `D`, which holds nothing");
}

TEST(ProofGemm, OtherInstructionsAndWrites) {
  GemmUnderTest other(GemmCase::natural(1, 1, 2));
  other.f.ptx_calls.back().opcode =
      isa::opcode_of("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32");
  EXPECT_FALSE(other.prove().holds());
  GemmUnderTest type(GemmCase::natural(1, 1, 2));
  type.f.ptx_calls.back().opcode =
      isa::opcode_of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  EXPECT_EQ(type.prove().difference,
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 on float16");
  // A is not written.
  GemmUnderTest writes(GemmCase::natural(1, 1, 2));
  for (const StmtId id : all_of(writes, StmtKind::Store)) {
    const ir::PtxCall& call = writes.f.ptx_calls.back();
    writes.f.at(id).buffer = writes.f[call.operands[4].expr].buffer;
    EXPECT_NE(writes.prove().difference, "");
    break;
  }
}

// Two halves that lie side by side are a register only if the first is an even one.
TEST(ProofGemm, HalvesOfTwoRegisters) {
  GemmUnderTest gemm(GemmCase::natural(1, 1, 2));
  const ExprId pointer = gemm.f.ptx_calls.back().operands[4].expr;
  ASSERT_EQ(gemm.f[pointer].op, ExprOp::AddressOf);
  const ExprId one = ir::int_imm(gemm.f, num::DType::Int32, 1);
  ExprId& index = gemm.f.at(pointer).args[0];
  index = ir::binary(gemm.f, ExprOp::Add, {.expr = index}, {.expr = one}).value();
  EXPECT_EQ(gemm.prove().difference,
            "a register of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 begins at bit 16");
}

TEST(ProofGemm, CodeThatIsNotUnderstoodIsNoProof) {
  GemmUnderTest gemm(GemmCase::natural(1, 1, 2));
  gemm.code.push_back(gemm.f.add(ir::Stmt{.kind = StmtKind::Return}));
  EXPECT_EQ(gemm.prove().could_not, "a statement `Return`");
  GemmUnderTest half(GemmCase::natural(1, 1, 2));
  const auto number = [&](int value) { return ir::int_imm(half.f, num::DType::Int32, value); };
  ir::Stmt guard{.kind = StmtKind::If};
  guard.expr = ir::binary(half.f, ExprOp::Lt, {.expr = number(1)}, {.expr = number(0)}).value();
  guard.body = half.code;
  half.code = {half.f.add(std::move(guard))};
  EXPECT_FALSE(half.prove().holds());
}

}  // namespace
}  // namespace ww::lower::proof_gemm_test
