// SPDX-License-Identifier: Apache-2.0
// One fault per test, planted in a function that is good otherwise: exactly that finding must come.
// Here: structure, scoping, types, control, level; verify_buffers_test.cpp and
// verify_calls_test.cpp have the others.
#include "ir/verify/verify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/verify/test_findings.h"

namespace ww::ir::verify_verify_test {
namespace {

using test::Builder;
using test::DType;
using test::findings;

TEST(Verify, ProgramsAreGood) {
  for (const auto make : {test::ldmatrix_program, test::reg_program, test::tensor_program,
                          test::gemm_program, test::lowered_program}) {
    EXPECT_EQ(findings(make()), "");
  }
}

TEST(Verify, FindingsStandInSourceOrderUpToALimit) {
  Builder b;
  for (const std::size_t at : {30U, 10U, 20U})
    b.stmt({.kind = StmtKind::Break, .span = Span::at(at, at + 1)});
  std::vector<Diag> found = verify(b.done());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].span, Span::at(10, 11));
  EXPECT_EQ(found[2].span, Span::at(30, 31));
  EXPECT_EQ(verify(b.f, {.target = {}, .max_findings = 2}).size(), 2U);
}

// --- structure -----------------------------------------------------------------------------------

TEST(VerifyNodes, MissingExpression) {
  Builder b;
  b.stmt({.kind = StmtKind::Evaluate});
  EXPECT_EQ(findings(b), "Evaluate lacks an expression; there are 0 [BrokenIr]");
}

TEST(VerifyNodes, MissingBuffer) {
  Builder b;
  b.stmt({.kind = StmtKind::Alloc, .buffer = BufferId{3}});
  EXPECT_EQ(findings(b), "Alloc names no buffer; there are 0 [BrokenIr]");
}

TEST(VerifyNodes, MissingVariable) {
  Builder b;
  b.stmt({.kind = StmtKind::Bind, .expr = b.n(1), .var = VarId{7}});
  EXPECT_EQ(findings(b), "Bind names no variable; there are 0 [BrokenIr]");
}

TEST(VerifyNodes, ExpressionBeforeItsOperand) {
  Builder b;
  Expr e{.op = ExprOp::Neg, .type = Type::of(DType::Int32)};
  e.args = {ExprId{0}};
  b.evaluate(b.f.add(e));
  EXPECT_EQ(findings(b), "`Neg` has an operand that was made after it [BrokenIr]");
}

TEST(VerifyNodes, WrongNumberOfOperands) {
  Builder b;
  Expr e{.op = ExprOp::Add, .type = Type::of(DType::Int32)};
  e.args = {b.n(1)};
  b.evaluate(b.f.add(e));
  EXPECT_EQ(findings(b), "`Add` with 1 operand [BrokenIr]");
}

TEST(VerifyNodes, WrongNumberOfArguments) {
  Builder b;
  b.evaluate(b.f.add(Expr{
      .op = ExprOp::Call, .type = Type::of(DType::Uint32), .callee = Intrinsic::CvtaToShared}));
  EXPECT_EQ(findings(b), "`T.cuda.cvta_generic_to_shared` with 0 arguments [BrokenIr]");
}

TEST(VerifyNodes, StatementInTwoPlaces) {
  Builder b;
  const StmtId id = b.stmt({.kind = StmtKind::Return});
  Function f = b.done();
  f.body.push_back(id);
  EXPECT_EQ(findings(f), "a `Return` statement stands in two places [BrokenIr]");
}

TEST(VerifyNodes, LeafWithAnOperand) {
  Builder b;
  const ExprId one = b.n(1);
  const ExprId two = b.n(2);
  b.f.at(two).args = {one};
  b.evaluate(two);
  EXPECT_EQ(findings(b), "`IntImm` with 1 operand [BrokenIr]");
}

TEST(VerifyNodes, LoopWithoutExtent) {
  Builder b;
  b.loop("i", 4);
  b.f.at(b.end()).args = {b.n(0)};
  EXPECT_EQ(findings(b), "`For` with 1 argument [BrokenIr]");
}

TEST(VerifyNodes, TileCallWithoutAllParameters) {
  Builder b = test::reg_program();
  b.f.tile_calls[0].args.pop_back();
  EXPECT_EQ(findings(b), "`copy` with 2 arguments; it has 3 parameters [BrokenIr]");
}

TEST(VerifyNodes, InstructionWithoutAnOpcode) {
  Builder b;
  b.ptx("bar.warp.sync", {});
  b.f.ptx_calls[0].opcode = {};
  EXPECT_EQ(findings(b), "`Ptx` without an opcode [BrokenIr]");
}

TEST(VerifyNodes, LayoutAgainstItsKind) {
  Builder b;
  Buffer buffer = b.buffer("A", {4}, DType::Int32, Scope::Local);
  buffer.layout_kind = LayoutKind::Explicit;
  b.alloc(std::move(buffer));
  EXPECT_EQ(findings(b), "buffer `A` lacks a layout against its kind [BrokenIr]");
}

TEST(VerifyNodes, AnnotationOfAnotherParameter) {
  Builder b;
  b.param("A", Type::handle());
  b.f.params[0].buffer = b.f.add(b.buffer("A", {4}, DType::Int32, Scope::Global));
  EXPECT_EQ(findings(b), "buffer `A` annotates parameter `A` and is not matched to it [BrokenIr]");
}

// Calls `visit` with every reference of the function from one node to another.
template <typename Visit>
void for_each_reference(Function& f, const Visit& visit) {
  const auto each = [&](auto&... ids) { (visit(ids), ...); };
  const auto all = [&](auto&... lists) { (std::ranges::for_each(lists, visit), ...); };
  for (std::uint32_t i = 0; i < f.stmt_count(); ++i) {
    Stmt& s = f.at(StmtId{i});
    each(s.expr, s.var, s.buffer, s.tile, s.ptx);
    all(s.args, s.vars, s.body, s.other);
  }
  for (std::uint32_t i = 0; i < f.buffer_count(); ++i) {
    Buffer& b = f.at(BufferId{i});
    each(b.param, b.base, b.pointer, b.elem_offset, b.byte_offset, b.allocated_addr);
    all(b.shape);
  }
  for (std::uint32_t i = 0; i < f.tile_calls.size(); ++i) {
    for (TileArg& arg : f.at(TileCallId{i}).args) {
      if (auto* const expr = std::get_if<ExprId>(&arg)) visit(*expr);
      auto* const region = std::get_if<Region>(&arg);
      if (region == nullptr) continue;
      visit(region->buffer);
      for (RangeExpr& range : region->ranges) each(range.min, range.extent);
    }
    for (auto& [key, buffer] : f.at(TileCallId{i}).workspace) visit(buffer);
  }
  for (std::uint32_t i = 0; i < f.ptx_calls.size(); ++i)
    for (PtxOperand& operand : f.at(PtxCallId{i}).operands) visit(operand.expr);
  for (std::uint32_t i = 0; i < f.expr_count(); ++i) {
    Expr& e = f.at(ExprId{i});
    each(e.var, e.buffer);
    all(e.args);
  }
}

// How many nodes of that kind there are.
template <typename Id>
std::uint32_t count_of(const Function& f, Id /*unused*/) {
  const auto count = [&] {
    if constexpr (std::same_as<Id, ExprId>) return f.expr_count();
    if constexpr (std::same_as<Id, StmtId>) return f.stmt_count();
    if constexpr (std::same_as<Id, VarId>) return f.var_count();
    if constexpr (std::same_as<Id, BufferId>) return f.buffer_count();
    if constexpr (std::same_as<Id, TileCallId>) return f.tile_calls.size();
    if constexpr (std::same_as<Id, PtxCallId>) return f.ptx_calls.size();
  };
  return static_cast<std::uint32_t>(count());
}

// The references of whole programs, each in turn led to nowhere: found, and not followed.
TEST(VerifyNodes, ReferencesToNowhere) {
  for (const auto make : {test::ldmatrix_program, test::reg_program, test::tensor_program,
                          test::gemm_program, test::lowered_program}) {
    const Function good = make().done();
    for (std::size_t wanted = 0, count = 1; wanted < count; ++wanted) {
      Function bad = good;
      count = 0;
      for_each_reference(bad, [&](auto& id) {
        if (id.valid() && count++ == wanted) id.index = count_of(good, id);
      });
      const std::string found = findings(bad);
      EXPECT_TRUE(found.ends_with("[BrokenIr]")) << good.name << ", reference " << wanted << found;
    }
  }
}

// --- scoping -------------------------------------------------------------------------------------

TEST(VerifyScoping, ViewOfAView) {
  Builder b;
  const BufferId a = b.alloc("A", {4}, DType::Int32, Scope::Local);
  const BufferId v = b.view("V", a, {4});
  b.view("W", v, {4});
  EXPECT_EQ(findings(b), "`W` is a view of `V`, which is a view itself [BrokenIr]");
}

TEST(VerifyScoping, VariableOutsideItsBlock) {
  Builder b;
  const VarId i = b.loop("i", 4);
  b.end();
  b.evaluate(b.add(b.var(i), b.var(i)));
  EXPECT_EQ(findings(b), "`i` is used outside the block that binds it [NotBound]");
}

TEST(VerifyScoping, VariableBeforeItsBinding) {
  Builder b;
  const VarId x = b.f.add(Var{.name = "x", .type = Type::of(DType::Int32)});
  b.evaluate(b.var(x));
  b.stmt({.kind = StmtKind::Bind, .expr = b.n(1), .var = x});
  EXPECT_EQ(findings(b), "`x` is used before it is bound [NotBound]");
}

TEST(VerifyScoping, BufferOutsideItsBlock) {
  Builder b;
  b.when(bool_imm(b.f, true));
  const BufferId a = b.alloc("A", {4}, DType::Int32, Scope::Local);
  b.end();
  b.store(a, {b.n(0)}, b.n(1));
  EXPECT_EQ(findings(b), "`A` is used outside the block that binds it [NotBound]");
}

TEST(VerifyScoping, ViewBeforeItsBase) {
  Builder b;
  const BufferId a = b.f.add(b.buffer("A", {4}, DType::Int32, Scope::Local));
  b.view("V", a, {4});
  EXPECT_EQ(findings(b), "`A` is used before it is bound [NotBound]");
}

TEST(VerifyScoping, TileCallBeforeItsBuffer) {
  Builder b;
  const BufferId a = b.f.add(b.buffer("A", {4}, DType::Int32, Scope::Local));
  b.tile(TileOp::Zero, Unit::Thread, {b.full(a)});
  EXPECT_EQ(findings(b), "`A` is used before it is bound [NotBound]");
}

TEST(VerifyScoping, ParameterThatIsNone) {
  Builder b;
  const VarId p = b.f.add(Var{.name = "p", .type = Type::handle(), .kind = VarKind::Param});
  b.evaluate(b.var(p));
  EXPECT_EQ(findings(b), "`p` is used before it is bound [NotBound]");
}

TEST(VerifyScoping, ExtentOfNoParameter) {
  Builder b;
  const VarId n =
      b.f.add(Var{.name = "n", .type = Type::of(DType::Int32), .kind = VarKind::Extent});
  b.evaluate(b.var(n));
  EXPECT_EQ(findings(b), "`n` has no value at launch: it is the extent of no parameter [NotBound]");
}

TEST(VerifyScoping, ExtentOfAParameter) {
  Builder b;
  const VarId n =
      b.f.add(Var{.name = "n", .type = Type::of(DType::Int32), .kind = VarKind::Extent});
  Buffer buffer = b.buffer("A", {4}, DType::Int32, Scope::Global);
  buffer.shape[0] = b.var(n);
  b.matched("A_ptr", std::move(buffer));
  b.evaluate(b.var(n));
  EXPECT_EQ(findings(b), "");
}

TEST(VerifyScoping, BoundTwice) {
  Builder b;
  const VarId x = b.bind("x", b.n(1));
  b.stmt({.kind = StmtKind::Bind, .expr = b.n(1), .var = x});
  EXPECT_EQ(findings(b), "`x` is bound twice [BrokenIr]");
}

TEST(VerifyScoping, BoundByAnotherKindOfStatement) {
  Builder b;
  const VarId x = b.bind("x", b.n(1));
  b.f.at(x).kind = VarKind::Loop;
  EXPECT_EQ(findings(b), "`x` is bound by a statement of another kind than its own [BrokenIr]");
}

// --- types ---------------------------------------------------------------------------------------

class VerifyTypes : public ::testing::Test {
 protected:
  Builder b;
  VarId i_ = b.param("i", Type::of(DType::Int32));
  VarId x_ = b.param("x", Type::of(DType::Float32));
  VarId p_ = b.param("p", Type::pointer(DType::Float32));
  BufferId a = b.alloc("A", {4, 4}, DType::Float32, Scope::Local);

  ExprId i() { return b.var(i_); }
  ExprId x() { return b.var(x_); }
  // What is found of one expression.
  std::string of(ExprOp op, Type type, std::initializer_list<ExprId> args) {
    Expr e{.op = op, .type = type};
    e.args = args;
    b.evaluate(b.f.add(std::move(e)));
    return findings(b);
  }
  std::string of_call(Intrinsic callee, Type type, std::initializer_list<ExprId> args) {
    Expr e{.op = ExprOp::Call, .type = type, .callee = callee};
    e.args = args;
    b.evaluate(b.f.add(std::move(e)));
    return findings(b);
  }
  static constexpr Type kInt = Type::of(DType::Int32);
  static constexpr Type kFloat = Type::of(DType::Float32);
  static constexpr Type kBool = Type::of(DType::Bool);
};

TEST_F(VerifyTypes, MixedOperands) {
  EXPECT_EQ(of(ExprOp::Add, kInt, {i(), x()}), "`+` of `int32` and `float32` [BadType]");
}
TEST_F(VerifyTypes, OperatorOfAnotherType) {
  EXPECT_EQ(of(ExprOp::FloorDiv, kFloat, {x(), x()}), "`//` of `float32` [BadType]");
}
TEST_F(VerifyTypes, ResultOfAnotherType) {
  EXPECT_EQ(of(ExprOp::Lt, kInt, {i(), i()}),
            "`<` has type `int32`, its operands make it `bool` [BadType]");
}
TEST_F(VerifyTypes, ConstantOutOfRange) {
  Expr e{.op = ExprOp::IntImm, .type = Type::of(DType::Int8)};
  e.integer = 300;
  b.evaluate(b.f.add(std::move(e)));
  EXPECT_EQ(findings(b), "the constant 300 has type `int8` [BadType]");
}
TEST_F(VerifyTypes, InexactFloat) {
  Expr e{.op = ExprOp::FloatImm, .type = Type::of(DType::Float16)};
  e.real = 0.1;
  b.evaluate(b.f.add(std::move(e)));
  EXPECT_EQ(findings(b), "the constant 0.1 has type `float16` [BadType]");
}
TEST_F(VerifyTypes, VariableOfAnotherType) {
  Expr e{.op = ExprOp::Var, .type = kFloat};
  e.var = i_;
  b.evaluate(b.f.add(std::move(e)));
  EXPECT_EQ(findings(b), "`Var` has type `float32`, its operands make it `int32` [BadType]");
}
TEST_F(VerifyTypes, CastToMoreLanes) {
  EXPECT_EQ(of(ExprOp::Cast, Type::of(DType::Float32, 2), {i()}),
            "`Cast` from `int32` to `float32x2` [BadType]");
}
TEST_F(VerifyTypes, BitsOfAnotherWidth) {
  EXPECT_EQ(of(ExprOp::Reinterpret, Type::of(DType::Uint64), {i()}),
            "`reinterpret` from `int32` to `uint64` [BadType]");
}
TEST_F(VerifyTypes, ChoiceByANumber) {
  EXPECT_EQ(of(ExprOp::Select, kInt, {i(), i(), i()}),
            "`Select` of `int32`, expected a condition [BadType]");
}
TEST_F(VerifyTypes, RampOfFloats) {
  EXPECT_EQ(of(ExprOp::Ramp, Type::of(DType::Float32, 4), {x(), x()}),
            "`Ramp` of `float32`, expected an integer [BadType]");
}
TEST_F(VerifyTypes, BroadcastOfAVector) {
  const ExprId vector = broadcast(b.f, i(), 2).value();
  EXPECT_EQ(of(ExprOp::Broadcast, Type::of(DType::Int32, 4), {vector}),
            "`Broadcast` of `int32x2`, expected one value [BadType]");
}
TEST_F(VerifyTypes, ShuffleBeyondItsLanes) {
  const ExprId vector = broadcast(b.f, i(), 2).value();
  EXPECT_EQ(of(ExprOp::Shuffle, Type::of(DType::Int32, 2), {vector, b.n(0), b.n(2)}),
            "a lane of `Shuffle` is not a constant from 0 to 1 [BadType]");
}
TEST_F(VerifyTypes, MathematicsOfIntegers) {
  EXPECT_EQ(of_call(Intrinsic::Exp, kInt, {i()}),
            "`x` of `T.exp` is `int32`, expected a float [BadType]");
}
TEST_F(VerifyTypes, FunctionOfNoPointer) {
  EXPECT_EQ(
      of_call(Intrinsic::CvtaToShared, Type::of(DType::Uint32), {i()}),
      "`pointer` of `T.cuda.cvta_generic_to_shared` is `int32`, expected a pointer into shared "
      "memory [BadType]");
}
TEST_F(VerifyTypes, ResultOfAFunction) {
  EXPECT_EQ(of_call(Intrinsic::Ldg, kInt, {b.var(p_)}),
            "`T.cuda.ldg` has type `int32`, its operands make it `float32` [BadType]");
}
TEST_F(VerifyTypes, IndexThatIsNoInteger) {
  Expr e{.op = ExprOp::Load, .type = kFloat};
  e.args = {b.n(0), x()};
  e.buffer = a;
  b.evaluate(b.f.add(std::move(e)));
  EXPECT_EQ(findings(b),
            "the index of dimension 1 of `A` has type `float32`, expected an integer [BadType]");
}
TEST_F(VerifyTypes, StoredValue) {
  b.store(a, {b.n(0), b.n(0)}, i());
  EXPECT_EQ(findings(b), "`int32` is stored into `A`, which has `float32` [BadType]");
}
TEST_F(VerifyTypes, BoundValue) {
  b.f.at(b.bind("y", i())).type = kFloat;
  EXPECT_EQ(findings(b), "`y` has type `float32`, its value `int32` [BadType]");
}
TEST_F(VerifyTypes, ConditionThatIsANumber) {
  b.when(i());
  b.end();
  EXPECT_EQ(findings(b), "the condition has type `int32`, expected `bool` [BadType]");
}
TEST_F(VerifyTypes, LoopBoundOfAnotherType) {
  b.loop("k", 4);
  b.f.at(b.end()).args[1] = b.u32(4);
  EXPECT_EQ(findings(b), "a bound of `k` has type `uint32`, the variable `int32` [BadType]");
}

// --- control and level ---------------------------------------------------------------------------

TEST_F(VerifyTypes, UnrollOfRunTime) {
  b.loop("k", 4, LoopKind::Unroll);
  b.f.at(b.end()).args[1] = i();
  EXPECT_EQ(findings(b),
            "the extent of the `unroll` loop over `k` is not constant [NeedsConstant]");
}

TEST(VerifyControl, StepBelowOne) {
  Builder b;
  b.loop("k", 4);
  const StmtId loop = b.end();
  b.f.at(loop).args.push_back(b.n(0));
  EXPECT_EQ(findings(b), "the step of `k` is 0, expected a constant from 1 [BadArgument]");
  b.f.at(loop).args.back() = b.n(1);
  EXPECT_EQ(findings(b), "");
}

TEST(VerifyControl, JumpOutsideALoop) {
  Builder b;
  b.loop("k", 4);
  b.stmt({.kind = StmtKind::Continue});
  b.end();
  b.stmt({.kind = StmtKind::Continue});
  EXPECT_EQ(findings(b), "`continue` stands in no loop [BrokenIr]");
}

TEST(VerifyLevel, LaunchVariableInATileProgram) {
  Builder b;
  b.launch("tx", "threadIdx.x", 32);
  EXPECT_EQ(findings(b), "launch variable `tx` in a tile program [BrokenIr]");
}

TEST(VerifyLevel, TileNodesInALoweredProgram) {
  Builder b = test::lowered_program();
  b.id(ScopeIdKind::LaneId, "", 32);
  EXPECT_EQ(findings(b), "scope id `lane_id` in a lowered program [BrokenIr]");
  b = test::lowered_program();
  b.alloc("A", {4}, DType::Int32, Scope::Local, "S[4:1]");
  EXPECT_EQ(findings(b), "buffer `A` has a layout in a lowered program [BrokenIr]");
  b = test::lowered_program();
  const BufferId plain = b.alloc("A", {4}, DType::Int32, Scope::Local);
  b.tile(TileOp::Zero, Unit::Thread, {b.full(plain)});
  EXPECT_EQ(findings(b), "tile call `zero` in a lowered program [BrokenIr]");
}

}  // namespace
}  // namespace ww::ir::verify_verify_test
