// SPDX-License-Identifier: Apache-2.0
// Index arithmetic that leaves its type is found; the same in a value wraps around.
#include "eval/test_kernel.h"
#include "ir/indices.h"

namespace ww::eval::test::overflow_test {
namespace {

TEST(EvalOverflow, AnIndexThatLeavesItsType) {
  for (const bool is_index : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {64}, DType::Int32);
    k.start(64);
    const ExprId sum = k.add(k.mul(k.tid(), k.n(1 << 26)), k.tid());
    k.store(out, {is_index ? sum : k.mod(sum, 64)}, k.tid());
    ir::mark_indices(k.f);
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), is_index ? "overflow, bounds" : "");
    if (is_index) {
      EXPECT_EQ(o.text(),
                "`tid * 67108864` overflows in thread 32 of CTA (0,0,0): 32 * 67108864 is not in "
                "`int32`");
    }
  }
}

TEST(EvalOverflow, OneThatRangesBoundIsNotLookedAt) {
  TestKernel k;
  const BufferId out = k.matched("out", {64}, DType::Int32);
  k.start(8);
  k.store(out, {k.add(k.mul(k.tid(), k.n(8)), k.n(7))}, k.tid());
  ir::mark_indices(k.f);
  EXPECT_EQ(k.run({{}}).checks(), "");
}

TEST(EvalOverflow, TheStartOfARegion) {
  for (const std::int64_t n : {1, 1 << 30}) {
    TestKernel k;
    const BufferId in = k.matched("in", {64}, DType::Int32);
    const BufferId out = k.matched("out", {8}, DType::Int32);
    const ir::VarId size = k.param("n", ir::Type::of(DType::Int32));
    k.start(32);
    k.tile(TileOp::Copy, Unit::Cta, {k.full(out), k.part(in, {{k.mul(k.var(size), k.n(4)), 8}})});
    ir::mark_indices(k.f);
    const Outcome o = k.run({Numbers(64, 3), {}, {static_cast<double>(n)}});
    EXPECT_EQ(o.checks(), n == 1 ? "" : "overflow");
  }
}

// The last value must be in the type; that the end is not is no harm.
TEST(EvalOverflow, ALoop) {
  for (const std::int64_t trips : {8, 9}) {
    TestKernel k;
    const BufferId out = k.matched("out", {1}, DType::Int32);
    k.start(1);
    const ir::VarId i = k.loop("i", trips);
    k.store(out, {k.n(0)}, k.var(i));
    const ir::StmtId loop = k.end();
    k.f.at(loop).args[0] = k.n(2147483640);
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), trips == 8 ? "" : "overflow");
    if (trips == 9) {
      EXPECT_EQ(o.text(),
                "`i` overflows in thread 0 of CTA (0,0,0): 9 rounds of 1 from 2147483640 on leave "
                "`int32`");
    }
  }
}

TEST(EvalOverflow, ABoundOfAnotherType) {
  for (const double bound : {3.0, 4294967295.0}) {
    TestKernel k;
    const BufferId out = k.matched("out", {1}, DType::Int32);
    const ir::VarId u = k.param("u", ir::Type::of(DType::Uint32));
    k.start(1);
    const ir::VarId i = k.loop("i", 1);
    k.store(out, {k.n(0)}, k.var(i));
    const ir::StmtId loop = k.end();
    const ExprId trips = k.to(DType::Int32, k.var(u));
    k.f.at(trips).no_wrap = true;
    k.f.at(loop).args[1] = trips;
    const Outcome o = k.run({{}, {bound}});
    EXPECT_EQ(o.checks(), bound == 3.0 ? "" : "overflow");
  }
}

}  // namespace
}  // namespace ww::eval::test::overflow_test
