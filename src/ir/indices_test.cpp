// SPDX-License-Identifier: Apache-2.0
#include "ir/indices.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/test_programs.h"

namespace ww::ir::indices_test {
namespace {

using num::DType;
using test::Builder;

class Indices : public testing::Test {
 protected:
  Builder b;
  BufferId a = b.matched("A", {64}, DType::Int32);
  VarId n = b.param("n", Type::of(DType::Int32));

  ExprId plus(ExprId x, ExprId y) {
    return binary(b.f, ExprOp::Add, {x, false}, {y, false}).value();
  }
  ExprId times(ExprId x, std::int64_t by) {
    return binary(b.f, ExprOp::Mul, {x, false}, {b.n(by), false}).value();
  }
  StmtId store(ExprId index, ExprId value) {
    Stmt s{.kind = StmtKind::Store, .expr = value};
    s.args = {index};
    s.buffer = a;
    const StmtId id = b.f.add(std::move(s));
    b.f.body.push_back(id);
    return id;
  }
};

TEST_F(Indices, SumsAndProductsOfAnIndex) {
  const ExprId index = plus(times(b.var(n), 4), b.var(n));
  const StmtId at = store(index, b.n(0));
  mark_indices(b.f);
  const ExprId out = b.f[at].args[0];
  EXPECT_EQ(out, index) << "nothing else needs it as a value";
  EXPECT_TRUE(b.f[out].no_wrap);
  EXPECT_TRUE(b.f[b.f[out].args[0]].no_wrap);
  EXPECT_FALSE(b.f[b.f[out].args[1]].no_wrap) << "a name is a value";
}

TEST_F(Indices, OtherOperatorsTakeValues) {
  const ExprId product = times(b.var(n), 1103515245);
  const ExprId rest = binary(b.f, ExprOp::FloorMod, {product, false}, {b.n(64), false}).value();
  const StmtId at = store(plus(rest, b.n(1)), b.n(0));
  mark_indices(b.f);
  EXPECT_TRUE(b.f[b.f[at].args[0]].no_wrap);
  EXPECT_FALSE(b.f[rest].no_wrap);
  EXPECT_FALSE(b.f[product].no_wrap);
}

TEST_F(Indices, WhatIsBothHasATwin) {
  const ExprId sum = plus(times(b.var(n), 4), b.n(1));
  const StmtId at = store(sum, sum);
  mark_indices(b.f);
  const ExprId index = b.f[at].args[0];
  EXPECT_NE(index, sum);
  EXPECT_EQ(b.f[at].expr, sum);
  EXPECT_TRUE(b.f[index].no_wrap);
  EXPECT_FALSE(b.f[sum].no_wrap);
  EXPECT_TRUE(b.f[b.f[index].args[0]].no_wrap);
  EXPECT_FALSE(b.f[b.f[sum].args[0]].no_wrap);
  const std::size_t count = b.f.expr_count();
  mark_indices(b.f);
  EXPECT_EQ(b.f.expr_count(), count) << "once is enough";
}

TEST_F(Indices, OperandsStayBeforeTheirUsers) {
  // The difference is an index in one place and a value in the other; what is made of it for the
  // index, and what loads there, come later than its twin.
  const ExprId shared = plus(b.var(n), b.n(3));
  const ExprId index = times(shared, 4);
  const ExprId rest = binary(b.f, ExprOp::FloorMod, {shared, false}, {b.n(64), false}).value();
  const ExprId loaded = b.at(a, {index});
  store(rest, plus(loaded, b.n(1)));
  mark_indices(b.f);
  for (std::uint32_t i = 0; i < b.f.expr_count(); ++i)
    for (const ExprId arg : b.f[ExprId{i}].args) EXPECT_LT(arg.index, i);
}

TEST_F(Indices, IndicesInsideOfValues) {
  const ExprId index = times(b.var(n), 4);
  const ExprId value = plus(b.at(a, {index}), b.n(1));
  const StmtId at = store(b.n(0), value);
  mark_indices(b.f);
  EXPECT_EQ(b.f[at].expr, value);
  EXPECT_FALSE(b.f[value].no_wrap);
  EXPECT_TRUE(b.f[b.f[b.f[value].args[0]].args[0]].no_wrap);
}

TEST_F(Indices, UnsignedNumbersAreValues) {
  const VarId u = b.param("u", Type::of(DType::Uint32));
  const ExprId sum = plus(b.var(u), b.var(u));
  store(sum, b.n(0));
  mark_indices(b.f);
  EXPECT_FALSE(b.f[sum].no_wrap);
}

// A chain that recursion would not survive, and one that is shared at every step.
TEST_F(Indices, DeepAndSharedExpressions) {
  ExprId deep = b.var(n);
  for (int k = 0; k < 200000; ++k) deep = plus(deep, b.var(n));
  ExprId shared = b.var(n);
  for (int k = 0; k < 60; ++k) shared = plus(shared, shared);
  store(deep, shared);
  store(shared, b.n(0));
  mark_indices(b.f);
  EXPECT_TRUE(b.f[deep].no_wrap);
  EXPECT_FALSE(b.f[shared].no_wrap);
}

}  // namespace
}  // namespace ww::ir::indices_test
