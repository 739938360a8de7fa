// SPDX-License-Identifier: Apache-2.0
// How many bytes a copy moves must be a number in the text that some access can have. The proof
// reads it before anything else is known about the code.
#include <gtest/gtest.h>

#include <limits>

#include "lower/test_calls.h"

namespace ww::lower::byte_count_test {
namespace {

using ir::ExprId;
using ir::TileOp;
using ir::test::Builder;
using num::DType;
using test::CallUnderTest;

constexpr target::Target kTarget{.arch = target::Arch::Sm90a, .ptx = 90};

/// D = A, from global to shared memory; or D = 0.
ir::Function function_of(TileOp op) {
  Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", 32);
  const ir::BufferId d = b.alloc("D", {32, 8}, DType::Float16, ir::Scope::Shared);
  const ir::BufferId a =
      b.matched("A_ptr", b.buffer("A", {32, 8}, DType::Float16, ir::Scope::Global));
  if (op == TileOp::Zero)
    b.tile(op, ir::Unit::Cta, {b.full(d)});
  else
    b.tile(op, ir::Unit::Cta, {b.full(d), b.full(a)});
  return b.done();
}

struct Case {
  TileOp op;
  std::string_view variant;
  CallUnderTest::Prove prove;
};

/// Where the code says how many bytes it copies.
ExprId& count_in(CallUnderTest& w) {
  for (ir::PtxCall& call : w.f.ptx_calls)
    if (call.opcode.mnemonic() == "cp.async") return call.operands[2].expr;
  for (const ir::StmtId id : test::all_of(w, ir::StmtKind::Evaluate))
    if (w.f[w.f[id].expr].callee == ir::Intrinsic::CopyBytes) return w.f.at(w.f[id].expr).args[2];
  WW_CHECK(false, "the code copies no bytes");
}

TEST(ByteCount, MustBeANumberOfBytes) {
  for (const Case& c :
       {Case{TileOp::Copy, "gmem_smem", prove_copy}, Case{TileOp::CopyAsync, "ldgsts", prove_copy},
        Case{TileOp::Zero, "memory", prove_elementwise}}) {
    CallUnderTest w(function_of(c.op), test::variant_named(c.op, c.variant), c.prove, kTarget);
    ASSERT_EQ(w.reason, "") << c.variant;
    EXPECT_TRUE(w.prove().holds()) << c.variant;
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-16}, std::int64_t{33},
                                     std::numeric_limits<std::int64_t>::max()}) {
      const ExprId number = ir::int_imm(w.f, DType::Int64, bytes);
      count_in(w) = number;
      EXPECT_EQ(w.prove().difference, fmt::format("{} bytes are copied", bytes)) << c.variant;
    }
  }
}

TEST(ByteCount, MustBeAConstant) {
  for (const auto& [op, variant] :
       {std::pair(TileOp::Copy, "gmem_smem"), {TileOp::CopyAsync, "ldgsts"}}) {
    CallUnderTest w(function_of(op), test::variant_named(op, variant), prove_copy, kTarget);
    ASSERT_EQ(w.reason, "") << variant;
    const ir::VarId n = w.f.add(ir::Var{.name = "n", .type = ir::Type::of(DType::Int32)});
    const ExprId count = ir::var_ref(w.f, n);
    count_in(w) = count;
    EXPECT_EQ(w.prove().could_not, "a byte count `n` that is not a constant") << variant;
  }
}

}  // namespace
}  // namespace ww::lower::byte_count_test
