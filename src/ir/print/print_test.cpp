// SPDX-License-Identifier: Apache-2.0
#include "ir/print/print.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/test_programs.h"

namespace ww::ir::print_print_test {
namespace {

using test::Builder;
using test::DType;

/// The body of a function, without the four blanks before each line.
std::string body_of(Builder& b) {
  const std::string all = print(b.done(), {.header = false});
  std::string out;
  std::size_t at = all.find("):\n") + 3;
  while (at < all.size()) {
    const std::size_t end = all.find('\n', at);
    out += all.substr(at + 4, end - at - 3);
    at = end + 1;
  }
  return out;
}

class PrintExpr : public ::testing::Test {
 protected:
  Builder b;
  VarId x_ = b.bind("x", b.n(1));
  VarId y_ = b.bind("y", b.n(2));
  VarId p_ = b.bind("p", bool_imm(b.f, true));

  ExprId x() { return b.var(x_); }
  ExprId y() { return b.var(y_); }
  ExprId p() { return b.var(p_); }
  ExprId op(ExprOp kind, ExprId a, ExprId c) { return b.op(kind, a, c); }
  ExprId un(ExprOp kind, ExprId a) { return unary(b.f, kind, {.expr = a}).value(); }
  std::string text(ExprId id) {
    b.evaluate(id);
    return print(b.done(), id);
  }
};

TEST_F(PrintExpr, Constants) {
  EXPECT_EQ(text(b.n(5)), "5");
  EXPECT_EQ(text(b.n(-5)), "-5");
  EXPECT_EQ(text(b.u32(0xffffffff)), "T.uint32(4294967295)");
  EXPECT_EQ(text(int_imm(b.f, DType::Uint64, -1)), "T.uint64(18446744073709551615)");
  EXPECT_EQ(text(int_imm(b.f, DType::Int64, -3)), "T.int64(-3)");
  EXPECT_EQ(text(bool_imm(b.f, true)), "T.bool(True)");
  EXPECT_EQ(text(text_imm(b.f, "a\"b\\\n\x01")), R"("a\"b\\\n\x01")");
}

TEST_F(PrintExpr, FloatsShortAndExact) {
  EXPECT_EQ(text(b.real(DType::Float32, 0.5)), "T.float32(0.5)");
  EXPECT_EQ(text(b.real(DType::Float32, 1)), "T.float32(1.0)");
  EXPECT_EQ(text(b.real(DType::Float32, 0.1)), "T.float32(0.1)");
  EXPECT_EQ(text(b.real(DType::Float64, 0.1)), "T.float64(0.1)");
  EXPECT_EQ(text(b.real(DType::Float64, 1.0 / 3)), "T.float64(0.3333333333333333)");
  EXPECT_EQ(text(b.real(DType::Float16, 65504)), "T.float16(65504.0)");
  EXPECT_EQ(text(b.real(DType::Float32, 1e20)), "T.float32(1e+20)");
  EXPECT_EQ(text(b.real(DType::Float32, -0.0)), "T.float32(-0.0)");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(text(b.real(DType::Float32, infinity)), "T.float32(\"inf\")");
  EXPECT_EQ(text(b.real(DType::Float32, -infinity)), "T.float32(\"-inf\")");
  EXPECT_EQ(text(b.real(DType::Float32, std::numeric_limits<double>::quiet_NaN())),
            "T.float32(\"nan\")");
}

TEST_F(PrintExpr, ParenthesesOnlyWhereNeeded) {
  EXPECT_EQ(text(b.add(b.mul(x(), y()), b.n(1))), "x * y + 1");
  EXPECT_EQ(text(b.mul(b.add(x(), y()), b.n(2))), "(x + y) * 2");
  EXPECT_EQ(text(op(ExprOp::Sub, x(), op(ExprOp::Sub, y(), b.n(1)))), "x - (y - 1)");
  EXPECT_EQ(text(op(ExprOp::Sub, op(ExprOp::Sub, x(), y()), b.n(1))), "x - y - 1");
  EXPECT_EQ(text(b.mod(b.div(x(), 4), 2)), "x // 4 % 2");
  EXPECT_EQ(text(b.mul(x(), b.mod(y(), 2))), "x * (y % 2)");
  EXPECT_EQ(text(op(ExprOp::BitOr, op(ExprOp::BitAnd, x(), y()), op(ExprOp::Shl, x(), b.n(2)))),
            "x & y | x << 2");
  EXPECT_EQ(text(op(ExprOp::BitAnd, op(ExprOp::BitXor, x(), y()), b.n(3))), "(x ^ y) & 3");
  EXPECT_EQ(text(un(ExprOp::Neg, b.add(x(), y()))), "-(x + y)");
  EXPECT_EQ(text(b.mul(un(ExprOp::Neg, x()), y())), "-x * y");
  EXPECT_EQ(text(un(ExprOp::BitNot, x())), "~x");
  EXPECT_EQ(text(b.add(x(), b.n(-1))), "x + -1");
}

TEST_F(PrintExpr, ComparisonsAndLogic) {
  const ExprId less = op(ExprOp::Lt, x(), y());
  EXPECT_EQ(text(op(ExprOp::And, less, p())), "x < y and p");
  EXPECT_EQ(text(op(ExprOp::And, op(ExprOp::Or, less, p()), p())), "(x < y or p) and p");
  EXPECT_EQ(text(op(ExprOp::Or, op(ExprOp::And, less, p()), p())), "x < y and p or p");
  EXPECT_EQ(text(op(ExprOp::And, p(), op(ExprOp::And, p(), p()))), "p and (p and p)");
  EXPECT_EQ(text(un(ExprOp::Not, less)), "not x < y");
  EXPECT_EQ(text(un(ExprOp::Not, op(ExprOp::And, p(), p()))), "not (p and p)");
  EXPECT_EQ(text(op(ExprOp::Eq, less, p())), "(x < y) == p");
  EXPECT_EQ(text(op(ExprOp::Eq, un(ExprOp::Not, p()), p())), "(not p) == p");
  EXPECT_EQ(text(op(ExprOp::Eq, b.add(x(), y()), b.n(1))), "x + y == 1");
}

TEST_F(PrintExpr, Functions) {
  EXPECT_EQ(text(cast(b.f, x(), Type::of(DType::Float16)).value()), "T.Cast(\"float16\", x)");
  EXPECT_EQ(text(reinterpret(b.f, x(), Type::of(DType::Uint32)).value()),
            "T.reinterpret(\"uint32\", x)");
  EXPECT_EQ(text(choose(b.f, ExprOp::Select, p(), {.expr = x()}, {.expr = y()}).value()),
            "T.Select(p, x, y)");
  EXPECT_EQ(text(choose(b.f, ExprOp::IfThenElse, p(), {.expr = x()}, {.expr = y()}).value()),
            "T.if_then_else(p, x, y)");
  EXPECT_EQ(text(op(ExprOp::Min, x(), b.add(y(), b.n(1)))), "T.min(x, y + 1)");
  EXPECT_EQ(text(op(ExprOp::TruncDiv, x(), y())), "T.truncdiv(x, y)");
  EXPECT_EQ(text(ramp(b.f, x(), b.n(2), 4).value()), "T.Ramp(x, 2, 4)");
  EXPECT_EQ(text(broadcast(b.f, x(), 4).value()), "T.Broadcast(x, 4)");
  Expr shuffle{.op = ExprOp::Shuffle, .type = Type::of(DType::Int32, 2)};
  shuffle.args = {broadcast(b.f, x(), 2).value(), broadcast(b.f, y(), 2).value(), b.n(0), b.n(3)};
  shuffle.integer = 2;
  EXPECT_EQ(text(b.f.add(shuffle)), "T.Shuffle([T.Broadcast(x, 2), T.Broadcast(y, 2)], [0, 3])");
}

TEST_F(PrintExpr, Intrinsics) {
  const BufferId a = b.alloc("A", {4}, DType::Float32, Scope::Shared);
  EXPECT_EQ(text(b.call(Intrinsic::CtaSync, {})), "T.cuda.cta_sync()");
  EXPECT_EQ(text(b.call(Intrinsic::ByteOffset, {b.address(a, {x()}), b.n(4)},
                        Type::pointer(DType::Float16))),
            "T.ptr_byte_offset(T.address_of(A[x]), 4, \"float16\")");
  EXPECT_EQ(
      text(b.call(Intrinsic::FuncCall, {text_imm(b.f, "f"), text_imm(b.f, "int f(int);"), x(), y()},
                  Type::of(DType::Int32))),
      "T.cuda.func_call(\"f\", x, y, source_code=\"int f(int);\", return_type=\"int32\")");
  EXPECT_EQ(text(b.call(Intrinsic::FuncCall, {text_imm(b.f, "g"), text_imm(b.f, "")})),
            "T.cuda.func_call(\"g\", source_code=\"\", return_type=\"void\")");
  EXPECT_EQ(text(buffer_data(b.f, a)), "A.data");
}

TEST_F(PrintExpr, Loads) {
  const BufferId a = b.alloc("A", {8, 8}, DType::Float32, Scope::Shared);
  const BufferId none = b.alloc("N", {}, DType::Float32, Scope::Local);
  EXPECT_EQ(text(b.at(a, {x(), b.add(y(), b.n(1))})), "A[x, y + 1]");
  EXPECT_EQ(text(b.at(a, {x(), b.n(0)}, 4)), "A.vload([x, 0], dtype=\"float32x4\")");
  EXPECT_EQ(text(b.at(a, {x(), ramp(b.f, b.n(0), b.n(2), 4).value()})), "A[x, T.Ramp(0, 2, 4)]");
  EXPECT_EQ(text(b.at(none, {})), "N[()]");
}

TEST(PrintStmt, Stores) {
  Builder b;
  const BufferId a = b.alloc("A", {8}, DType::Float32, Scope::Local);
  b.store(a, {b.n(1)}, b.real(DType::Float32, 2));
  b.store(a, {b.n(0)}, b.at(a, {b.n(4)}, 4));
  b.store(a, {ramp(b.f, b.n(0), b.n(2), 4).value()}, b.at(a, {b.n(4)}, 4));
  EXPECT_EQ(body_of(b),
            "A = T.alloc_local((8,))\n"
            "A[1] = T.float32(2.0)\n"
            "A.vstore([0], A.vload([4], dtype=\"float32x4\"))\n"
            "A[T.Ramp(0, 2, 4)] = A.vload([4], dtype=\"float32x4\")\n");
}

TEST(PrintStmt, Scalars) {
  Builder b;
  const BufferId x = b.scalar("x", DType::Int32, b.n(1));
  Buffer late = b.buffer("y", {1}, DType::Float32, Scope::Local);
  late.is_scalar = true;
  const BufferId y = b.alloc(std::move(late));
  b.store(x, {b.n(0)}, b.add(b.at(x, {b.n(0)}), b.n(1)));
  b.store(y, {b.n(0)}, b.real(DType::Float32, 1));
  Buffer shared = b.buffer("z", {1}, DType::Uint32, Scope::Shared);
  shared.is_scalar = true;
  b.alloc(std::move(shared));
  b.bind("p", b.address(x, {b.n(0)}));
  EXPECT_EQ(body_of(b),
            "x: T.int32 = 1\n"
            "y: T.float32\n"
            "x = x + 1\n"
            "y = T.float32(1.0)\n"
            "z = T.alloc_scalar(\"uint32\", \"shared\")\n"
            "p: T.let[T.handle(\"int32\")] = T.address_of(x)\n");
}

TEST(PrintStmt, AScalarDoesNotStartFromItself) {
  Builder b;
  Buffer scalar = b.buffer("x", {1}, DType::Int32, Scope::Local);
  scalar.is_scalar = true;
  const BufferId x = b.alloc(std::move(scalar));
  b.store(x, {b.n(0)}, b.add(b.at(x, {b.n(0)}), b.n(1)));
  EXPECT_EQ(body_of(b), "x: T.int32\nx = x + 1\n");
}

TEST(PrintStmt, Loops) {
  Builder b;
  b.loop("i", 8);
  b.end();
  b.loop("i", 4, LoopKind::Unroll);
  b.end();
  b.loop("i", 4, LoopKind::Vectorized);
  b.end();
  b.loop("i", 4, LoopKind::Parallel);
  b.end();
  b.loop("i", 32, LoopKind::ThreadBinding);
  b.f.at(b.end()).hardware = {HardwareId::Kind::ThreadIdx, 0};
  b.loop("i", 6);
  b.f.at(b.end()).args[0] = b.n(2);
  b.loop("i", 4);
  b.f.at(b.end()).args.push_back(b.n(2));
  const VarId last = b.loop("i", 8);
  const StmtId typed = b.end();
  b.f.at(last).type = Type::of(DType::Uint32);
  b.f.at(typed).args = {b.u32(0), b.u32(8)};
  b.f.at(typed).settings = {{"unroll", Setting(false)}};
  EXPECT_EQ(body_of(b),
            "for i in range(8):\n    pass\n"
            "for i in T.unroll(4):\n    pass\n"
            "for i in T.vectorized(4):\n    pass\n"
            "for i in T.parallel(4):\n    pass\n"
            "for i in T.thread_binding(32, \"threadIdx.x\"):\n    pass\n"
            "for i in range(2, 8):\n    pass\n"
            "for i in T.serial(0, 8, step=2):\n    pass\n"
            "for i in T.serial(8, dtype=\"uint32\", annotations={\"unroll\": False}):\n    pass\n");
}

TEST(PrintStmt, LoopsWithBoundsOfRunTime) {
  Builder b;
  const VarId n = b.param("n", Type::of(DType::Int32));
  b.loop("i", 8);
  b.f.at(b.end()).args = {b.n(0), b.var(n)};
  b.loop("i", 8);
  b.f.at(b.end()).args = {b.var(n), b.n(8)};
  EXPECT_EQ(body_of(b), "for i in range(n):\n    pass\nfor i in range(n, n + 8):\n    pass\n");
}

TEST(PrintStmt, Branches) {
  Builder b;
  const VarId p = b.bind("p", bool_imm(b.f, true));
  const auto branch = [&](Block other) {
    b.when(b.var(p));
    b.stmt({.kind = StmtKind::Return});
    const StmtId id = b.end();
    b.f.at(id).other = std::move(other);
    return id;
  };
  branch({b.f.add(Stmt{.kind = StmtKind::If,
                       .expr = b.var(p),
                       .other = {b.f.add(Stmt{.kind = StmtKind::Return})}})});
  Stmt loop{.kind = StmtKind::While, .expr = b.var(p)};
  loop.body = {b.f.add(Stmt{.kind = StmtKind::Continue}), b.f.add(Stmt{.kind = StmtKind::Break})};
  b.stmt(std::move(loop));
  EXPECT_EQ(body_of(b),
            "p: T.let[T.bool] = T.bool(True)\n"
            "if p:\n    return\n"
            "elif p:\n    pass\n"
            "else:\n    return\n"
            "while p:\n    continue\n    break\n");
}

TEST(PrintStmt, AssertEvaluateAttr) {
  Builder b;
  b.stmt({.kind = StmtKind::Assert, .expr = bool_imm(b.f, true), .message = "no"});
  b.evaluate(b.n(1));
  b.evaluate(b.call(Intrinsic::WarpSync, {}));
  b.stmt(
      {.kind = StmtKind::Attr, .attr = "k", .setting = Setting(std::int64_t{2}), .is_open = true});
  b.stmt({.kind = StmtKind::Attr, .attr = "e", .setting = Setting(b.n(3))});
  b.stmt({.kind = StmtKind::Attr, .attr = "f", .setting = Setting(1.0)});
  EXPECT_EQ(body_of(b),
            "assert T.bool(True), \"no\"\n"
            "T.evaluate(1)\n"
            "T.cuda.warp_sync()\n"
            "T.attr({\"k\": 2})\n"
            "with T.attr({\"e\": T.int32(3)}):\n    pass\n"
            "with T.attr({\"f\": 1.0}):\n    pass\n");
}

TEST(PrintStmt, ScopeIds) {
  Builder b;
  b.id(ScopeIdKind::LaneId, "lane", 0);
  const VarId warp = b.id(ScopeIdKind::WarpId, "", 4);
  Stmt grid{.kind = StmtKind::ScopeIds, .scope_id = ScopeIdKind::CtaId};
  for (const char* name : {"bx", ""}) {
    grid.vars.push_back(
        b.f.add(Var{.name = name, .type = Type::of(DType::Uint32), .kind = VarKind::ScopeId}));
  }
  grid.args = {b.n(4), b.n(2)};
  b.stmt(std::move(grid));
  b.id(ScopeIdKind::ThreadId, "", 128);
  b.evaluate(b.var(warp));
  EXPECT_EQ(body_of(b),
            "lane = T.lane_id()\n"
            "v = T.warp_id([4])\n"
            "bx, v_1 = T.cta_id([4, 2], dtype=\"uint32\")\n"
            "T.thread_id([128])\n"
            "T.evaluate(v)\n");
}

}  // namespace
}  // namespace ww::ir::print_print_test
