// SPDX-License-Identifier: Apache-2.0
#include "ir/equal.h"

#include <gtest/gtest.h>

#include "ir/test_programs.h"

namespace ww::ir::equal_test {
namespace {

using test::Builder;
using test::DType;

/// What `difference` says, or "".
std::string diff(const Function& a, const Function& b) { return difference(a, b).value_or(""); }

TEST(Equal, EveryProgramEqualsItself) {
  for (const auto make : {test::ldmatrix_program, test::reg_program, test::tensor_program,
                          test::gemm_program, test::lowered_program}) {
    EXPECT_EQ(diff(make().done(), make().done()), "");
  }
}

TEST(Equal, NumbersOfNodesDoNotCount) {
  Builder other;
  other.n(7);  // shifts all ids
  Builder one;
  for (Builder* b : {&one, &other})
    b->store(b->alloc("A", {4}, DType::Int32, Scope::Local), {b->n(0)}, b->n(1));
  EXPECT_EQ(diff(one.done(), other.done()), "");
}

TEST(Equal, SharedAndCopiedExpressionsAreEqual) {
  Builder shared;
  const ExprId x = shared.var(shared.bind("x", shared.n(1)));
  shared.bind("y", shared.add(x, x));
  Builder copied;
  const VarId v = copied.bind("x", copied.n(1));
  copied.bind("y", copied.add(copied.var(v), copied.var(v)));
  EXPECT_EQ(diff(shared.done(), copied.done()), "");
}

TEST(Equal, LocalNamesDoNotCount) {
  const auto make = [](const char* name) {
    Builder b;
    const VarId x = b.bind(name, b.n(1));
    b.bind("y", b.add(b.var(x), b.n(1)));
    return b.done();
  };
  EXPECT_EQ(diff(make("x"), make("z")), "");
}

TEST(Equal, NamesOfParametersCount) {
  Builder a;
  a.matched("A", {4}, DType::Int32);
  Builder b;
  b.matched("B", {4}, DType::Int32);
  EXPECT_EQ(diff(a.done(), b.done()), "names of parameter 0: `A_ptr` and `B_ptr`");
}

TEST(Equal, VariablesCorrespondOneToOne) {
  const auto make = [](bool swapped) {
    Builder b;
    const VarId x = b.bind("x", b.n(1));
    const VarId y = b.bind("y", b.n(1));
    b.evaluate(b.add(b.var(x), b.var(y)));
    b.evaluate(swapped ? b.add(b.var(y), b.var(x)) : b.add(b.var(x), b.var(x)));
    return b.done();
  };
  EXPECT_EQ(diff(make(false), make(false)), "");
  EXPECT_EQ(diff(make(false), make(true)), "body[3] Evaluate, value: `x + x` and `y + x`");
}

TEST(Equal, BuffersCorrespondOneToOne) {
  const auto make = [](bool second) {
    Builder b;
    const BufferId x = b.alloc("X", {4}, DType::Int32, Scope::Local);
    const BufferId y = b.alloc("Y", {4}, DType::Int32, Scope::Local);
    b.store(second ? y : x, {b.n(0)}, b.n(1));
    return b.done();
  };
  EXPECT_EQ(diff(make(false), make(true)), "body[2] Store, buffers `X` and `Y` do not correspond");
}

TEST(Equal, SaysWhatDiffers) {
  const auto with = [](std::int64_t extent, DType dtype, Scope scope) {
    Builder b;
    b.alloc("A", {extent}, dtype, scope);
    return b.done();
  };
  const Function base = with(4, DType::Int32, Scope::Local);
  EXPECT_EQ(diff(base, with(5, DType::Int32, Scope::Local)),
            "body[0] Alloc, buffer `A`, shape[0]: `4` and `5`");
  EXPECT_EQ(diff(base, with(4, DType::Float32, Scope::Local)),
            "body[0] Alloc, buffer `A`, element types: `int32` and `float32`");
  EXPECT_EQ(diff(base, with(4, DType::Int32, Scope::Shared)),
            "body[0] Alloc, buffer `A`, scopes: `local` and `shared`");
  EXPECT_EQ(diff(base, Builder().done()), "body: 1 and 0 statements");
  EXPECT_EQ(diff(base, Builder("other").done()), "names of the functions: `main` and `other`");
}

TEST(Equal, TextsOfStatementsCount) {
  const auto with = [](auto&& make) {
    Builder b;
    b.stmt(make(b));
    return b.done();
  };
  const auto asserts = [&](const std::string& message) {
    return with([&](Builder& b) {
      return Stmt{.kind = StmtKind::Assert, .expr = bool_imm(b.f, true), .message = message};
    });
  };
  const auto attr = [&](const std::string& key) {
    return with([&](Builder&) { return Stmt{.kind = StmtKind::Attr, .attr = key}; });
  };
  const auto launch = [](std::string_view id) {
    Builder b;
    b.launch("v", id, 8);
    return b.done();
  };
  EXPECT_EQ(diff(asserts("m"), asserts("n")), "body[0] Assert, text: `m` and `n`");
  EXPECT_EQ(diff(attr("k"), attr("l")), "body[0] Attr, text: `k` and `l`");
  EXPECT_EQ(diff(launch("threadIdx.x"), launch("threadIdx.y")),
            "body[0] LaunchThread, text: `threadIdx.x` and `threadIdx.y`");
  EXPECT_EQ(diff(asserts("m"), asserts("m")) + diff(attr("k"), attr("k")), "");
}

TEST(Equal, SaysWhereInNestedBlocks) {
  const auto make = [](std::int64_t stored) {
    Builder b;
    const BufferId a = b.alloc("A", {4}, DType::Int32, Scope::Local);
    const VarId i = b.loop("i", 4);
    b.when(b.op(ExprOp::Lt, b.var(i), b.n(2)));
    b.store(a, {b.var(i)}, b.n(stored));
    b.end();
    b.end();
    return b.done();
  };
  EXPECT_EQ(diff(make(1), make(2)), "body[1] For, body[0] If, body[0] Store, value: `1` and `2`");
}

TEST(Equal, TypesOfEqualTextsCount) {
  const auto make = [](std::int64_t zeros) {
    Builder b;
    b.bind("x", zeros == 0 ? b.real(DType::Float32, 0.0) : b.real(DType::Float32, -0.0));
    return b.done();
  };
  EXPECT_EQ(diff(make(0), make(1)), "body[0] Bind, value: `T.float32(0.0)` and `T.float32(-0.0)`");
}

TEST(Equal, DefaultsMayBeGivenOrLeftOut) {
  Function given = test::gemm_program().done();
  Function left_out = test::gemm_program().done();
  for (std::size_t i = 4; i < 8; ++i) left_out.tile_calls[0].args[i] = std::monostate();
  EXPECT_EQ(diff(given, left_out), "");
  given.tile_calls[0].args[7] = Setting(1.0);
  EXPECT_EQ(diff(given, left_out).substr(0, 8), "body[10]");
}

TEST(Equal, FlatAndRowMajorAreOneInOneDimension) {
  const auto make = [](LayoutKind kind, std::vector<std::int64_t> shape) {
    Builder b;
    Buffer buffer = b.buffer("A", std::move(shape), DType::Int32, Scope::Local);
    buffer.layout_kind = kind;
    b.alloc(std::move(buffer));
    return b.done();
  };
  EXPECT_EQ(diff(make(LayoutKind::None, {4}), make(LayoutKind::RowMajor, {4})), "");
  EXPECT_EQ(diff(make(LayoutKind::None, {2, 2}), make(LayoutKind::RowMajor, {2, 2})),
            "body[0] Alloc, buffer `A`, kinds of layout");
}

TEST(Equal, AttributesInAnyOrder) {
  Builder a;
  a.f.attrs = {{"x", Setting(std::int64_t{1})}, {"y", Setting(true)}};
  Builder b;
  b.f.attrs = {{"y", Setting(true)}, {"x", Setting(std::int64_t{1})}};
  EXPECT_EQ(diff(a.done(), b.done()), "");
  b.f.attrs[1].second = Setting(std::int64_t{2});
  EXPECT_EQ(diff(a.done(), b.done()), "attributes: values of `x`");
}

TEST(Equal, PtxCallsOperandByOperand) {
  Function a = test::lowered_program().done();
  Function b = a;
  b.ptx_calls[0].opcode = isa::opcode_of("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
  EXPECT_NE(diff(a, b).find("opcode"), std::string::npos) << diff(a, b);
  b = a;
  b.ptx_calls[0].operands[0].kind = PtxOperandKind::Value;
  EXPECT_NE(diff(a, b).find("operand 0: of different kinds"), std::string::npos) << diff(a, b);
}

TEST(Same, ComparesExpressionsOfOneFunction) {
  Builder b;
  const VarId x = b.bind("x", b.n(1));
  const VarId y = b.bind("y", b.n(1));
  EXPECT_TRUE(same(b.f, b.add(b.var(x), b.n(1)), b.add(b.var(x), b.n(1))));
  EXPECT_FALSE(same(b.f, b.add(b.var(x), b.n(1)), b.add(b.var(y), b.n(1))));
  EXPECT_FALSE(same(b.f, b.n(1), b.u32(1)));
}

}  // namespace
}  // namespace ww::ir::equal_test
