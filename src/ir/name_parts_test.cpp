// SPDX-License-Identifier: Apache-2.0
#include "ir/name_parts.h"

#include <gtest/gtest.h>

#include "ir/print/print.h"
#include "ir/test_programs.h"
#include "ir/verify/verify.h"

namespace ww::ir::name_parts_test {
namespace {

using num::DType;
using test::Builder;

// A kernel of 64 threads with two buffers of integers.
class NameParts : public testing::Test {
 protected:
  Builder b;
  BufferId in = b.matched("A", {64}, DType::Int32);
  BufferId out = b.matched("B", {64}, DType::Int32);
  VarId tid;

  NameParts() {
    b.f.has_device_entry = true;
    b.id(ScopeIdKind::CtaId, "", 1);
    tid = b.id(ScopeIdKind::ThreadId, "tid", 64);
  }
  ExprId doubled(ExprId x, int times) {
    for (int i = 0; i < times; ++i) x = b.add(x, x);
    return x;
  }
  ExprId counted(ExprId x, int times) {
    for (int i = 0; i < times; ++i) x = b.add(x, b.n(1));
    return x;
  }
  static void expect_small(const Function& f) {
    EXPECT_TRUE(check_measures(f).has_value());
    for (const Diag& finding : verify(f)) ADD_FAILURE() << finding.text;
  }
};

TEST_F(NameParts, SmallExpressionsStay) {
  b.store(out, {b.var(tid)}, counted(b.at(in, {b.var(tid)}), 90));
  Function f = b.done();
  const std::string before = print(f);
  ASSERT_TRUE(name_parts(f).has_value());
  EXPECT_EQ(print(f), before);
}

TEST_F(NameParts, DeepOnes) {
  for (const int depth : {101, 1'000, 20'000}) {
    Builder one = b;
    ExprId x = one.at(in, {one.var(tid)});
    for (int i = 0; i < depth; ++i) x = one.add(x, one.n(1));
    one.store(out, {one.var(tid)}, x);
    Function f = one.done();
    ASSERT_TRUE(name_parts(f).has_value()) << depth;
    expect_small(f);
    EXPECT_NE(print(f).find("part: T.let[T.int32] = A[tid] + 1 + 1"), std::string::npos);
  }
}

TEST_F(NameParts, SharedOnes) {
  b.store(out, {b.var(tid)}, doubled(b.at(in, {b.var(tid)}), 60));
  Function f = b.done();
  EXPECT_FALSE(check_measures(f).has_value());
  ASSERT_TRUE(name_parts(f).has_value());
  expect_small(f);
  EXPECT_NE(print(f).find("B[tid] = part_9 + part_9"), std::string::npos) << print(f);
}

// What is not computed from memory has its name for all statements of the block, and inside them.
TEST_F(NameParts, NamesAreUsedAgain) {
  const ExprId x = doubled(b.var(tid), 60);
  b.bind("first", b.add(x, b.n(1)));
  b.when(b.op(ExprOp::Gt, x, b.n(7)));
  b.bind("second", b.add(x, b.n(2)));
  b.end();
  Function f = b.done();
  ASSERT_TRUE(name_parts(f).has_value());
  expect_small(f);
  const std::string text = print(f);
  EXPECT_NE(text.find("first: T.let[T.int32] = part_8 + part_8"), std::string::npos) << text;
  EXPECT_NE(text.find("second: T.let[T.int32] = part_8 + part_8"), std::string::npos) << text;
  EXPECT_EQ(text.find("part_9"), std::string::npos) << text;
}

// A load under a condition may only be made there, an effect as often as it is written, and the
// condition of a loop is computed in each round.
TEST_F(NameParts, RefusesWhatCannotMove) {
  const auto refused = [&](auto&& add) {
    Builder one = b;
    add(one);
    Function f = one.done();
    const auto named = name_parts(f);
    ASSERT_FALSE(named.has_value());
    EXPECT_EQ(named.error().kind, DiagKind::Budget);
    EXPECT_NE(named.error().text.find("expected at most"), std::string::npos);
    EXPECT_FALSE(named.error().notes.empty());
  };
  refused([&](Builder& one) {
    const ExprId holds = one.op(ExprOp::Gt, one.var(tid), one.n(3));
    ExprId x = one.var(tid);
    for (int i = 0; i < 60; ++i) {
      const ExprId loaded = one.add(one.at(in, {x}), one.at(in, {x}));
      x = choose(one.f, ExprOp::IfThenElse, holds, {.expr = loaded}, {.expr = one.n(0)}).value();
    }
    one.store(out, {one.var(tid)}, x);
  });
  refused([&](Builder& one) {
    const ExprId number = one.call(Intrinsic::AtomicAdd, {one.address(in, {one.n(0)}), one.n(1)},
                                   Type::of(DType::Int32));
    ExprId x = number;
    for (int i = 0; i < 60; ++i) x = one.add(x, x);
    one.store(out, {one.var(tid)}, x);
  });
  refused([&](Builder& one) {
    ExprId x = one.at(in, {one.var(tid)});
    for (int i = 0; i < 60; ++i) x = one.add(x, x);
    one.stmt({.kind = StmtKind::While, .expr = one.op(ExprOp::Gt, x, one.n(0))});
  });
}

// Without memory in it, the same choice can be computed ahead.
TEST_F(NameParts, PureChoicesMove) {
  ExprId x = b.var(tid);
  for (int i = 0; i < 2'000; ++i)
    x = choose(b.f, ExprOp::IfThenElse, b.op(ExprOp::Gt, x, b.n(3)), {.expr = b.add(x, b.n(-1))},
               {.expr = b.add(x, b.n(1))})
            .value();
  b.stmt({.kind = StmtKind::While, .expr = b.op(ExprOp::Gt, x, b.n(9))});
  Function f = b.done();
  ASSERT_TRUE(name_parts(f).has_value());
  expect_small(f);
}

TEST_F(NameParts, ShapesOfParametersAreChecked) {
  const VarId n = b.param("n", Type::of(DType::Int32));
  const BufferId c = b.matched("C", {64}, DType::Int32);
  b.f.at(c).shape = {doubled(b.var(n), 60)};
  Function f = b.done();
  // The buffer is declared by a statement, whose lets stand before it.
  ASSERT_TRUE(name_parts(f).has_value());
  expect_small(f);
}

}  // namespace
}  // namespace ww::ir::name_parts_test
