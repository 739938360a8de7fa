// SPDX-License-Identifier: Apache-2.0
// Instructions of copies with faults in them: another form, other operands, another descriptor. The
// proof must not hold for any.
#include <gtest/gtest.h>

#include "ir/build.h"
#include "lower/proof/proof.h"
#include "lower/proof/test_copies.h"

namespace ww::lower::proof_copy_faults_test {
namespace {

using ir::ExprId;
using ir::Scope;
using ir::StmtId;
using ir::StmtKind;
using num::DType;
using test::cached_case;
using test::changed;
using test::copy_cases;
using test::CopyCase;
using test::masked_cases;
using test::WrittenCopy;

/// The opcode with a modifier, put before `next`, or without it where it has it.
isa::Opcode with_or_without(const isa::Opcode& opcode, std::string_view modifier,
                            std::string_view next) {
  std::string text = opcode.text();
  if (const auto at = text.find(modifier); at != std::string::npos)
    text.erase(at, modifier.size());
  else
    text.insert(text.rfind(next), modifier);
  return isa::opcode_of(text);
}

/// The pointers that copies of bytes, and cp.async, read from.
void find_sources(ir::Function& f, const ir::Block& code, std::vector<ExprId*>& out) {
  for (const StmtId id : code) {
    const ir::Stmt& s = f[id];
    if (s.kind == StmtKind::Ptx) out.push_back(&f.at(s.ptx).operands[1].expr);
    if (s.kind == StmtKind::Evaluate) out.push_back(&f.at(s.expr).args[1]);
    find_sources(f, s.body, out);
  }
}

// A call says that its region may leave its buffer, and it never does: its code has no condition, and
// is proven like that of a plain copy.
TEST(Proof, RegionsThatNeverLeave) {
  for (const std::string variant : {"ldgsts", "gmem_smem"}) {
    CopyCase c = test::async_case({16, 16}, {16, 16}, DType::Float16, true);
    c.variant = variant;
    c.is_async = variant == "ldgsts";
    WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << variant;
    ASSERT_TRUE(w.prove().holds()) << w.prove().difference << w.prove().could_not;
    std::vector<ExprId*> sources;
    find_sources(w.f, w.code, sources);
    ASSERT_FALSE(sources.empty()) << variant;
    ir::Expr moved{.op = ir::ExprOp::Call, .type = w.f[*sources[0]].type};
    moved.callee = ir::Intrinsic::PointerOffset;
    moved.args = {*sources[0], ir::int_imm(w.f, DType::Int32, 8)};
    *sources[0] = w.f.add(std::move(moved));
    EXPECT_NE(w.prove().difference, "") << variant;
  }
}

TEST(Proof, ExchangedInstructions) {
  for (const CopyCase& c : copy_cases()) {
    if (c.variant != "ldstmatrix") continue;
    WrittenCopy w(c);
    ASSERT_FALSE(w.f.ptx_calls.empty());
    isa::Opcode& opcode = w.f.ptx_calls.back().opcode;
    const isa::Opcode before = opcode;
    opcode = with_or_without(before, ".trans", ".shared");
    EXPECT_FALSE(w.prove().holds()) << opcode.text();
    opcode = before;
    auto& operands = w.f.ptx_calls.back().operands;
    const std::size_t first = before.mnemonic() == "stmatrix" ? 1 : 0;
    std::swap(operands[first], operands[first + 1]);
    EXPECT_FALSE(w.prove().holds()) << "exchanged registers";
  }
}

/// The block whose last statement is an instruction; nullptr: none is.
ir::Block* block_of_instructions(ir::Function& f, ir::Block& code) {
  if (code.empty()) return nullptr;
  if (f[code.back()].kind == StmtKind::Ptx) return &code;
  for (const StmtId id : code)
    if (ir::Block* found = block_of_instructions(f, f.at(id).body)) return found;
  return nullptr;
}

// What is known of an instruction is not taken for the next one, though all else is the same.
TEST(Proof, ExchangedInstructionsBehindTheirLike) {
  int planted = 0;
  for (const CopyCase& c : copy_cases()) {
    if (c.variant != "ldstmatrix") continue;
    WrittenCopy w(c);
    ir::Block* block = block_of_instructions(w.f, w.code);
    if (block == nullptr) continue;
    ir::Stmt again = w.f[block->back()];
    again.ptx = w.f.add(w.f[again.ptx]);
    block->push_back(w.f.add(again));
    EXPECT_TRUE(w.prove().holds()) << w.prove().difference << w.prove().could_not;
    isa::Opcode& opcode = w.f.at(again.ptx).opcode;
    opcode = with_or_without(opcode, ".trans", ".shared");
    EXPECT_NE(w.prove().difference, "") << opcode.text();
    ++planted;
  }
  EXPECT_GT(planted, 0);
}

/// The bools that the code reads, wherever they are bound.
void find_masks(const ir::Function& f, const ir::Block& block, std::vector<StmtId>& out) {
  for (const StmtId id : block) {
    if (f[id].kind == StmtKind::Bind && f[f[id].var].name.starts_with("mask") &&
        f[f[id].expr].op == ir::ExprOp::Load)
      out.push_back(id);
    find_masks(f, f[id].body, out);
    find_masks(f, f[id].other, out);
  }
}

// The bool of a neighbour, no bool, and its opposite.
TEST(Proof, MasksWithFaults) {
  int planted = 0;
  for (const CopyCase& c : masked_cases()) {
    WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    ASSERT_TRUE(w.prove().holds()) << name_of(c) << w.prove().difference << w.prove().could_not;
    std::vector<StmtId> masks;
    find_masks(w.f, w.code, masks);
    ASSERT_FALSE(masks.empty()) << name_of(c);
    const ExprId before = w.f[masks[0]].expr;
    const auto expect_wrong = [&](ExprId value, const std::string& what) {
      w.f.at(masks[0]).expr = value;
      EXPECT_NE(w.prove().difference, "") << what << " in " << name_of(c) << w.prove().could_not;
      w.f.at(masks[0]).expr = before;
      ++planted;
    };
    ir::Expr beside = w.f[before];
    beside.args.back() = ir::index_binary(w.f, ir::ExprOp::Add, beside.args.back(),
                                          ir::int_imm(w.f, DType::Int32, 1));
    expect_wrong(w.f.add(std::move(beside)), "the bool beside");
    expect_wrong(ir::bool_imm(w.f, true), "always");
    expect_wrong(ir::bool_imm(w.f, false), "never");
  }
  EXPECT_GT(planted, 75);
}

/// The cp.async of the written code, one call or several.
std::vector<ir::PtxCall*> copies_in(ir::Function& f) {
  std::vector<ir::PtxCall*> out;
  for (ir::PtxCall& call : f.ptx_calls)
    if (call.opcode.mnemonic() == "cp.async") out.push_back(&call);
  return out;
}

TEST(Proof, AsynchronousCopiesWithFaults) {
  int planted = 0;
  for (const CopyCase& c : copy_cases()) {
    if (c.variant != "ldgsts") continue;
    WrittenCopy w(c);
    ASSERT_EQ(w.reason, "");
    ASSERT_EQ(copies_in(w.f).size(), 1U);
    ir::PtxCall& call = *copies_in(w.f)[0];
    const ir::PtxCall before = call;
    const auto number = [&](std::int64_t n) { return ir::int_imm(w.f, DType::Int32, n); };
    const auto expect_wrong = [&](const std::string& what, const std::string& why = {}) {
      const Proof proof = w.prove();
      EXPECT_NE(proof.difference, "") << what << " in " << name_of(c) << proof.could_not;
      if (!why.empty()) {
        EXPECT_NE(proof.difference.find(why), std::string::npos)
            << what << ": " << proof.difference;
      }
      call = before;
      ++planted;
    };
    const std::int64_t bytes = *ir::const_int(w.f, before.operands[2].expr);
    call.operands[2].expr = number(bytes / 2);
    expect_wrong("half the size");
    std::swap(call.operands[0], call.operands[1]);
    expect_wrong("the other direction");
    call.operands[1].expr =
        ir::call(w.f, ir::Intrinsic::PointerOffset,
                 std::vector{before.operands[1].expr, number(bytes / (num::bits_of(c.dtype) / 8))})
            .value();
    expect_wrong("another address");
    if (before.predicate.valid()) {
      call.predicate = {};
      expect_wrong("no predicate", "is written and must not be");
    }
    if (before.operands.size() < 4) continue;
    call.operands.pop_back();
    expect_wrong("no source size", c.has_predicate && c.shape == c.src_shape
                                       ? "expected zero"
                                       : "is read, outside the source");
    call.operands[3].expr = number(0);
    expect_wrong("only zeros", "gets zero");
    call.operands[3].expr = number(bytes + 1);
    expect_wrong("a source size beyond the size", fmt::format("reads {} of {}", bytes + 1, bytes));
  }
  EXPECT_GT(planted, 30);
}

TEST(Proof, TensorCopiesWithFaults) {
  for (const CopyCase& c : copy_cases()) {
    if (c.variant != "tcgen05_ldst") continue;
    WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    ASSERT_FALSE(w.f.ptx_calls.empty());
    ir::PtxCall& call = w.f.ptx_calls.back();
    const ir::PtxCall before = call;
    const auto expect_wrong = [&](const std::string& what) {
      EXPECT_FALSE(w.prove().holds()) << what << " in " << call.opcode.text();
      call = before;
    };
    const bool is_load = c.dst_scope == Scope::Local;
    const std::size_t first = is_load ? 0 : before.operands.size() - 2;
    std::swap(call.operands[first], call.operands[first + 1]);
    if (before.operands.size() > 3) expect_wrong("exchanged registers");
    for (ir::PtxOperand& operand : call.operands)
      if (operand.kind == ir::PtxOperandKind::Address)
        operand.expr = w.f[operand.expr].args[0];  // no lane, no column
    expect_wrong("lane 0 in every warp");
    for (ir::PtxOperand& operand : call.operands)
      if (operand.kind == ir::PtxOperandKind::Address) {
        int which = 0;
        operand.expr = changed(w.f, operand.expr, which);
      }
    expect_wrong("another address");
    call.opcode = with_or_without(before.opcode, is_load ? ".pack::16b" : ".unpack::16b", ".b32");
    expect_wrong("the other packing");
  }
}

TEST(Proof, EveryBitOfADescriptorCounts) {
  int planted = 0;
  for (const CopyCase& c : copy_cases()) {
    if (c.variant != "tcgen05_cp") continue;
    WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    const std::string& opcode = w.f.ptx_calls.back().opcode.text();
    for (const StmtId id : w.code) {
      if (w.f[id].kind != StmtKind::Bind || w.f[w.f[id].var].name != "desc") continue;
      const ExprId before = w.f[id].expr;
      const auto bits = static_cast<std::uint64_t>(*ir::const_int(w.f, w.f[before].args[1]));
      const bool has_halves = opcode.ends_with("x256b") && bits >> 61U == 0;
      const bool has_groups = !opcode.ends_with(".4x256b");
      for (unsigned bit = 0; bit < 64; ++bit) {
        const bool is_unused =
            (bit >= 16 && bit < 30 && !has_halves) || (bit >= 32 && bit < 46 && !has_groups);
        if (is_unused) continue;
        ir::Expr descriptor = w.f[before];
        descriptor.args[1] = ir::int_imm(w.f, DType::Uint64,
                                         static_cast<std::int64_t>(bits ^ std::uint64_t{1} << bit));
        w.f.at(id).expr = w.f.add(std::move(descriptor));
        EXPECT_FALSE(w.prove().holds()) << "bit " << bit << " of " << opcode;
        ++planted;
      }
      w.f.at(id).expr = before;
    }
    EXPECT_TRUE(w.prove().holds());
  }
  EXPECT_GT(planted, 300);
}

TEST(Proof, ExchangedShapesOfTensorCopies) {
  for (const CopyCase& c : copy_cases()) {
    if (c.variant != "tcgen05_cp") continue;
    WrittenCopy w(c);
    isa::Opcode& opcode = w.f.ptx_calls.back().opcode;
    const isa::Opcode before = opcode;
    for (const std::string shape : {"128x256b", "128x128b", "64x128b.warpx2::02_13",
                                    "64x128b.warpx2::01_23", "32x128b.warpx4", "4x256b"}) {
      opcode = isa::opcode_of("tcgen05.cp.cta_group::1." + shape);
      EXPECT_EQ(w.prove().holds(), opcode == before)
          << opcode.text() << " instead of " << before.text();
    }
    opcode = before;
  }
}

/// The instruction of the code, wherever it stands.
ir::PtxCall* first_ptx(ir::Function& f, const ir::Block& block) {
  for (const StmtId id : block) {
    if (f[id].ptx.valid()) return &f.ptx_calls[f[id].ptx.index];
    if (ir::PtxCall* const found = first_ptx(f, f[id].body)) return found;
  }
  return nullptr;
}

// What is stored from registers of its own is what was loaded into them.
TEST(Proof, RegistersOnTheWay) {
  WrittenCopy exchanged(cached_case());
  ir::PtxCall* call = first_ptx(exchanged.f, exchanged.code);
  ASSERT_NE(call, nullptr);
  ASSERT_EQ(call->opcode.text(), "ld.global.nc.v4.b32");
  std::swap(call->operands[0], call->operands[1]);
  EXPECT_FALSE(exchanged.prove().holds());

  WrittenCopy fewer(cached_case());
  call = first_ptx(fewer.f, fewer.code);
  call->opcode = isa::opcode_of("ld.global.nc.v2.b32");
  call->operands.erase(call->operands.begin() + 2, call->operands.begin() + 4);
  const std::string found = fewer.prove().difference;  // not that it is element 0
  EXPECT_TRUE(found.contains("is read, outside the source")) << found;
}

// --- vectors with a tail ---

/// Every statement of the code, inner ones too.
void for_each(ir::Function& f, const ir::Block& block, const std::function<void(StmtId)>& visit) {
  for (const StmtId id : block) {
    visit(id);
    const ir::Stmt s = f[id];
    for_each(f, s.body, visit);
    for_each(f, s.other, visit);
  }
}

std::vector<StmtId> statements(WrittenCopy& w, const std::function<bool(const ir::Stmt&)>& is_one) {
  std::vector<StmtId> out;
  for_each(w.f, w.code, [&](StmtId id) {
    if (is_one(w.f[id])) out.push_back(id);
  });
  return out;
}

TEST(Proof, HoldsForVectorsWithATail) {
  for (const CopyCase& c : test::cut_rows()) {
    const WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    const Proof proof = w.prove();
    EXPECT_TRUE(proof.holds()) << name_of(c) << ": " << proof.difference << proof.could_not;
  }
}

// Which vectors are whole, and which elements of a tail are inside: one more or one less is wrong.
TEST(Proof, ConditionsThatAreOffByOne) {
  int planted = 0;
  for (const CopyCase& c : test::cut_rows()) {
    WrittenCopy w(c);
    for (const StmtId id :
         statements(w, [](const ir::Stmt& s) { return s.kind == StmtKind::If; })) {
      const ir::Expr before = w.f[w.f[id].expr];
      if (before.args.size() != 2 || !w.f[before.args[0]].type.is_int()) continue;
      for (const std::int64_t by : {-1, 1}) {
        ir::Expr changed = before;
        changed.args[1] = ir::binary(w.f, ir::ExprOp::Add, {.expr = before.args[1]},
                                     {.expr = ir::int_imm(w.f, DType::Int32, by)})
                              .value();
        const ExprId right = w.f[id].expr;
        w.f.at(id).expr = w.f.add(std::move(changed));
        EXPECT_NE(w.prove().difference, "") << name_of(c) << ": " << by;
        w.f.at(id).expr = right;
        ++planted;
      }
    }
  }
  EXPECT_GE(planted, 10);
}

TEST(Proof, DroppedTailsAndFills) {
  int tails = 0, fills = 0;
  for (const CopyCase& c : test::cut_rows()) {
    WrittenCopy w(c);
    const auto expect_wrong = [&](StmtId id, const std::string& what) {
      const ir::Stmt before = w.f[id];
      ir::Stmt nothing{.kind = StmtKind::If, .expr = ir::bool_imm(w.f, false)};
      w.f.at(id) = nothing;
      EXPECT_NE(w.prove().difference, "") << what << " of " << name_of(c);
      w.f.at(id) = before;
    };
    for (const StmtId id :
         statements(w, [](const ir::Stmt& s) { return s.kind == StmtKind::Store; })) {
      const bool is_tail = w.f[w.f[id].expr].op == ir::ExprOp::Load;
      expect_wrong(id, is_tail ? "a tail" : "a fill");
      ++(is_tail ? tails : fills);
    }
    // Another value, and zero.
    for (const StmtId id : statements(w, [&](const ir::Stmt& s) {
           return s.kind == StmtKind::Store && w.f[s.expr].op == ir::ExprOp::FloatImm;
         }))
      for (const double value : {0.0, 2.0}) {
        const ExprId right = w.f[id].expr;
        w.f.at(id).expr = ir::float_imm(w.f, c.dtype, value);
        EXPECT_NE(w.prove().difference, "") << value << " in " << name_of(c);
        w.f.at(id).expr = right;
      }
  }
  EXPECT_GE(tails, 5);
  EXPECT_GE(fills, 3);
}

}  // namespace
}  // namespace ww::lower::proof_copy_faults_test
