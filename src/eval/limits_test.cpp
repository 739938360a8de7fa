// SPDX-License-Identifier: Apache-2.0
// Kernels that would go on for ever, or keep more and more: each ends at a limit.
#include "eval/test_kernel.h"

namespace ww::eval::test::limits_test {
namespace {

using testing::HasSubstr;

// A loop without an end, by 32 threads, with what `body` puts into it.
template <typename Body>
Result<Outcome> forever(const Limits& limits, const Body& body,
                        const std::vector<Numbers>& inputs = {}) {
  TestKernel k;
  std::vector<BufferId> params;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    params.push_back(k.matched("p" + std::to_string(i), {32, 32}, DType::Float32));
  k.start(32);
  const BufferId shared = k.alloc("s", {32, 32}, DType::Float32, Scope::Shared);
  k.when(k.eq(k.op(ExprOp::Mul, k.tid(), k.n(0)), 0));
  body(k, params, shared);
  k.end_while();
  return k.try_run(inputs, {.limits = limits});
}

std::string stopped(const Result<Outcome>& outcome) {
  if (outcome) return "it ended";
  return outcome.error().kind == DiagKind::RunLimit ? outcome.error().text : "another error";
}

constexpr std::uint64_t kMega = std::uint64_t{1} << 20U;

TEST(EvalLimits, ThePlaceIsTheStatementThatTheRunHadComeTo) {
  TestKernel k;
  k.start(32);
  k.when(k.eq(k.op(ExprOp::Mul, k.tid(), k.n(0)), 0));
  ir::Stmt& loop = k.f.at(k.end());
  loop.kind = ir::StmtKind::While;
  loop.span = Span::at(7, 12);
  const auto outcome = k.try_run({}, {.limits = {.instructions = 1000}});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().span, Span::at(7, 12));
}

// The innermost loop with most of the work is named, not one beside it or around it.
TEST(EvalLimits, ANoteSaysWhichLoopTookMost) {
  TestKernel k;
  k.start(32);
  k.loop("few", 10);
  k.end();
  k.loop("outer", 1000);
  k.loop("inner", 1000);
  k.f.at(k.end()).span = Span::at(30, 35);
  k.f.at(k.end()).span = Span::at(20, 25);
  const auto outcome = k.try_run({}, {.limits = {.instructions = 5000}});
  ASSERT_FALSE(outcome);
  ASSERT_EQ(outcome.error().notes.size(), 2U);
  EXPECT_THAT(outcome.error().notes[0].text,
              HasSubstr("of 5001 instructions so far were spent in this loop"));
  EXPECT_EQ(outcome.error().notes[0].span, Span::at(30, 35));
}

// A long expression takes as many steps as its parts would as statements.
TEST(EvalLimits, OperationsOfAnExpressionCount) {
  const auto needs = [](int operations) {
    std::uint64_t low = 1, high = 100'000;
    while (low < high) {
      const std::uint64_t most = (low + high) / 2;
      TestKernel k;
      k.start(32);
      ExprId sum = k.tid();
      for (int i = 0; i < operations; ++i) sum = k.op(ExprOp::BitXor, sum, k.n(i));
      k.when(k.eq(sum, 1));
      k.end();
      if (k.try_run({}, {.limits = {.instructions = most}}))
        high = most;
      else
        low = most + 1;
    }
    return low;
  };
  EXPECT_EQ(needs(300) - needs(100), 200U);
}

// Two hundred trips are a few hundred statements; what is done in each counts as well.
TEST(EvalLimits, PrimitivesCountByTheirWork) {
  for (const TileOp op : {TileOp::Copy, TileOp::Gemm, TileOp::Zero}) {
    TestKernel k;
    const BufferId a = k.matched("a", {32, 32}, DType::Float32);
    const BufferId b = k.matched("b", {32, 32}, DType::Float32);
    k.start(32);
    const BufferId d = k.alloc("d", {32, 32}, DType::Float32, Scope::Shared);
    k.loop("i", 200);
    std::vector<ir::TileArg> args{k.full(d)};
    if (op != TileOp::Zero) args.emplace_back(k.full(a));
    if (op == TileOp::Gemm)
      args = {k.full(d),
              k.full(a),
              k.full(b),
              k.full(d),
              ir::Setting(false),
              ir::Setting(false),
              k.real(DType::Float32, 1),
              k.real(DType::Float32, 0)};
    k.tile(op, Unit::Warp, std::move(args));
    k.end();
    const std::vector<Numbers> inputs{Numbers(1024, 1), Numbers(1024, 1)};
    const std::uint64_t most = op == TileOp::Zero ? 12'000 : op == TileOp::Copy ? 24'000 : 40'000;
    EXPECT_THAT(stopped(k.try_run(inputs, {.limits = {.instructions = most}})),
                HasSubstr("instructions is reached here"));
    EXPECT_TRUE(k.try_run(inputs, {.limits = {.instructions = 2 * most}}));
  }
}

TEST(EvalLimits, WorkThatNobodyWaitsForCountsAsMemory) {
  const auto copies =
      forever({.memory = 32 * kMega},
              [](TestKernel& k, const std::vector<BufferId>& params, BufferId shared) {
                k.tile(TileOp::CopyAsync, Unit::Cta, {k.full(shared), k.full(params[0])});
                k.ptx("cp.async.commit_group", {});
              },
              {Numbers(1024, 1)});
  EXPECT_EQ(stopped(copies),
            "the limit of 33554432 bytes of memory is reached here, most of it for asynchronous "
            "work without a wait");
  const auto commits = forever({.memory = 4 * kMega}, [](TestKernel& k, const auto&, BufferId) {
    k.ptx("cp.async.commit_group", {});
  });
  EXPECT_THAT(stopped(commits), HasSubstr("without a wait"));
}

// With waits the same loop ends at another limit: what has arrived takes no memory.
TEST(EvalLimits, WorkThatHasArrivedTakesNone) {
  const auto outcome =
      forever({.instructions = 12'000, .memory = 32 * kMega},
              [](TestKernel& k, const std::vector<BufferId>& params, BufferId shared) {
                k.tile(TileOp::CopyAsync, Unit::Cta, {k.full(shared), k.full(params[0])});
                k.ptx("cp.async.commit_group", {});
                k.ptx("cp.async.wait_all", {});
                k.sync();
              },
              {Numbers(1024, 1)});
  EXPECT_THAT(stopped(outcome), HasSubstr("12000 instructions"));
}

TEST(EvalLimits, PrintedTextCountsAsMemory) {
  const auto outcome = forever({.memory = kMega}, [](TestKernel& k, const auto&, BufferId) {
    k.evaluate(k.call(Intrinsic::Printf, {k.text("on and on and on\\n")}));
  });
  EXPECT_THAT(stopped(outcome), HasSubstr("most of it for what the kernel prints"));
}

// The buffer itself is small enough; who touched its elements is not.
TEST(EvalLimits, TheRecordOfAccessesCountsAsMemory) {
  TestKernel k;
  const BufferId out = k.matched("out", {1 << 18}, DType::Float32);
  k.start(32);
  k.tile(TileOp::Zero, Unit::Cta, {k.full(out)});
  k.tile(TileOp::Zero, Unit::Cta, {k.full(out)});
  const auto tight = k.try_run({{}}, {.limits = {.memory = 28 * kMega}});
  EXPECT_THAT(stopped(tight), HasSubstr("bytes of memory"));
  EXPECT_TRUE(k.try_run({{}}, {.limits = {.memory = 128 * kMega}}));
}

TEST(EvalLimits, OperandsOfAPrimitiveCountAsMemory) {
  TestKernel k;
  const BufferId out = k.matched("out", {1 << 20}, DType::Int8);
  k.start(32);
  k.tile(TileOp::Zero, Unit::Cta, {k.full(out)});
  EXPECT_THAT(stopped(k.try_run({{}}, {.limits = {.memory = 16 * kMega}})),
              HasSubstr("most of it for the operands of this statement"));
}

}  // namespace
}  // namespace ww::eval::test::limits_test
