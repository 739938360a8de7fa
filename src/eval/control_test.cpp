// SPDX-License-Identifier: Apache-2.0
// Loops, branches, divergence, arguments and limits.
#include "eval/test_kernel.h"

namespace ww::eval::test::control_test {
namespace {

using ir::test::value;
using testing::HasSubstr;

TEST(EvalControl, EveryThreadStoresItsNumber) {
  TestKernel k;
  const BufferId out = k.matched("out", {2, 64}, DType::Int32);
  k.start(64, 2);
  k.store(out, {k.cta(), k.tid()}, k.add(k.mul(k.cta(), k.n(100)), k.tid()));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[0][63], 63);
  EXPECT_EQ(o.arrays[0][64 + 5], 105);
  EXPECT_EQ(o.report.written[0], std::vector<bool>(128, true));
}

TEST(EvalControl, OnlyWhatIsWrittenCountsAsWritten) {
  TestKernel k;
  const BufferId out = k.matched("out", {4}, DType::Int32);
  k.start(1);
  k.store(out, {k.n(2)}, k.n(7));
  EXPECT_EQ(k.run({{1, 1, 1, 1}}).report.written[0],
            (std::vector<bool>{false, false, true, false}));
}

TEST(EvalControl, LoopsNestWithBreakAndContinue) {
  TestKernel k;
  const BufferId out = k.matched("out", {1}, DType::Int32);
  k.start(1);
  const BufferId sum = k.scalar("sum", DType::Int32, k.n(0));
  const auto total = [&] { return k.at(sum, {k.n(0)}); };
  const ir::VarId i = k.loop("i", 10);
  k.when(k.eq(k.var(i), 7));
  k.leave(ir::StmtKind::Break);
  k.end();
  k.when(k.eq(k.mod(k.var(i), 2), 1));
  k.leave(ir::StmtKind::Continue);
  k.end();
  k.loop("j", 3);
  k.store(sum, {k.n(0)}, k.add(total(), k.var(i)));
  k.end();
  k.end();
  k.store(out, {k.n(0)}, total());
  EXPECT_EQ(k.run({{}}).arrays[0][0], 3 * (0 + 2 + 4 + 6));
}

TEST(EvalControl, LoopsHaveAStartAndAStep) {
  TestKernel k;
  const BufferId out = k.matched("out", {12}, DType::Int32);
  k.start(1);
  const ir::VarId i = k.loop("i", 4);
  k.store(out, {k.var(i)}, k.var(i));
  ir::Stmt& loop = k.f.at(k.end());
  loop.args = {k.n(2), k.n(4), k.n(3)};
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.report.written[0], (std::vector<bool>{false, false, true, false, false, true, false,
                                                    false, true, false, false, true}));
}

TEST(EvalControl, ArmsDivergeAndMeetAgain) {
  TestKernel k;
  const BufferId out = k.matched("out", {64}, DType::Int32);
  k.start(64);
  const BufferId x = k.scalar("x", DType::Int32, k.n(0));
  k.when(k.lt(k.mod(k.tid(), 4), 2));
  k.store(x, {k.n(0)}, k.n(1));
  k.otherwise();
  k.store(x, {k.n(0)}, k.n(2));
  k.end_otherwise();
  k.sync();
  k.store(out, {k.tid()}, k.at(x, {k.n(0)}));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[0][1], 1);
  EXPECT_EQ(o.arrays[0][2], 2);
}

TEST(EvalControl, TripCountsMayDifferBetweenThreads) {
  TestKernel k;
  const BufferId out = k.matched("out", {32}, DType::Int32);
  k.start(32);
  const BufferId x = k.scalar("x", DType::Int32, k.tid());
  k.when(k.op(ExprOp::Gt, k.at(x, {k.n(0)}), k.n(0)));
  k.store(x, {k.n(0)}, k.op(ExprOp::Sub, k.at(x, {k.n(0)}), k.n(3)));
  k.end_while();
  k.store(out, {k.tid()}, k.at(x, {k.n(0)}));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.arrays[0][0], 0);
  EXPECT_EQ(o.arrays[0][4], -2);
  EXPECT_EQ(o.arrays[0][30], 0);
}

TEST(EvalControl, ASpinningLoopLetsTheOthersPass) {
  TestKernel k;
  const BufferId flag = k.matched("flag", {1}, DType::Int32);
  const BufferId out = k.matched("out", {1}, DType::Int32);
  k.start(2);
  const auto old = [&] {
    return k.call(Intrinsic::AtomicAdd, {k.address(flag, {k.n(0)}), k.n(0)});
  };
  k.when(k.eq(k.tid(), 0));
  k.when(k.eq(old(), 0));
  k.end_while();
  k.store(out, {k.n(0)}, k.n(1));
  k.end();
  k.when(k.eq(k.tid(), 1));
  k.evaluate(k.call(Intrinsic::AtomicExch, {k.address(flag, {k.n(0)}), k.n(1)}));
  k.end();
  EXPECT_EQ(k.run({{0}, {}}).arrays[1][0], 1);
}

TEST(EvalControl, ReturnEndsAThread) {
  TestKernel k;
  const BufferId out = k.matched("out", {32}, DType::Int32);
  k.start(32);
  k.when(k.lt(k.tid(), 16));
  k.leave(ir::StmtKind::Return);
  k.end();
  k.sync();
  k.store(out, {k.tid()}, k.n(1));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_FALSE(o.report.written[0][15]);
  EXPECT_TRUE(o.report.written[0][16]);
}

TEST(EvalControl, TheUnusedSideIsNotEvaluated) {
  TestKernel k;
  const BufferId in = k.matched("in", {4}, DType::Int32);
  const BufferId out = k.matched("out", {8}, DType::Int32);
  k.start(8);
  const ExprId inside = k.lt(k.tid(), 4);
  const ExprId value =
      ir::choose(k.f, ExprOp::IfThenElse, inside, {.expr = k.at(in, {k.tid()})}, {.expr = k.n(-1)})
          .value();
  k.store(out, {k.tid()}, value);
  const Outcome o = k.run({{5, 6, 7, 8}, {}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[1], (Numbers{5, 6, 7, 8, -1, -1, -1, -1}));
}

TEST(EvalControl, AndStopsAtTheFirstFalse) {
  TestKernel k;
  const BufferId in = k.matched("in", {4}, DType::Int32);
  const BufferId out = k.matched("out", {8}, DType::Int32);
  k.start(8);
  k.when(k.op(ExprOp::And, k.lt(k.tid(), 4), k.eq(k.at(in, {k.tid()}), 6)));
  k.store(out, {k.tid()}, k.n(1));
  k.end();
  const Outcome o = k.run({{5, 6, 7, 6}, {0, 0, 0, 0, 0, 0, 0, 0}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[1], (Numbers{0, 1, 0, 1, 0, 0, 0, 0}));
}

TEST(EvalControl, RandomOrderGivesTheSameResult) {
  TestKernel k;
  const BufferId out = k.matched("out", {64}, DType::Int32);
  k.start(64);
  const BufferId s = k.alloc("s", {64}, DType::Int32, Scope::Shared);
  k.when(k.eq(k.mod(k.tid(), 2), 0));
  k.store(s, {k.tid()}, k.tid());
  k.otherwise();
  k.store(s, {k.tid()}, k.n(-1));
  k.end_otherwise();
  k.sync();
  k.store(out, {k.tid()}, k.at(s, {k.op(ExprOp::Sub, k.n(63), k.tid())}));
  const Numbers expected = k.run({{}}).arrays[0];
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Outcome o = k.run({{}}, {.seed = seed});
    EXPECT_EQ(o.checks(), "") << seed;
    EXPECT_EQ(o.arrays[0], expected) << seed;
  }
}

TEST(EvalControl, VectorsAreLoadedAndStored) {
  TestKernel k;
  const BufferId in = k.matched("in", {4, 8}, DType::Float32);
  const BufferId out = k.matched("out", {4, 8}, DType::Float32);
  k.start(4);
  k.store(out, {k.tid(), k.n(4)}, k.at(in, {k.tid(), k.n(0)}, 4));
  const ExprId ramp = ir::ramp(k.f, k.n(0), k.n(1), 4).value();
  const ExprId odd = ir::ramp(k.f, k.n(1), k.n(2), 4).value();
  k.store(out, {k.tid(), ramp}, k.at(in, {k.tid(), odd}, 4));
  const Outcome o = k.run({count_to(32), {}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(Numbers(o.arrays[1].begin() + 8, o.arrays[1].begin() + 16),
            (Numbers{9, 11, 13, 15, 8, 9, 10, 11}));
}

TEST(EvalControl, ScalarsAndRuntimeExtents) {
  TestKernel k;
  const ir::VarId n = k.f.add(
      ir::Var{.name = "n", .type = ir::Type::of(DType::Int32), .kind = ir::VarKind::Extent});
  ir::Buffer a = k.buffer("A", {}, DType::Float32, Scope::Global);
  a.shape.push_back(k.var(n));
  const BufferId in = k.matched("A_ptr", std::move(a));
  const ir::VarId scale = k.param("scale", ir::Type::of(DType::Float32));
  k.start(1);
  const BufferId at = k.scalar("at", DType::Int32, k.op(ExprOp::Sub, k.var(n), k.n(1)));
  k.store(in, {k.at(at, {k.n(0)})}, k.mul(k.at(in, {k.at(at, {k.n(0)})}), k.var(scale)));
  EXPECT_EQ(k.run({{1, 2, 3, 4, 5}, {10}}).arrays[0], (Numbers{1, 2, 3, 4, 50}));
}

TEST(EvalControl, ArgumentsMustFit) {
  TestKernel k;
  k.matched("A", {4}, DType::Float32);
  k.start(1);
  const ir::Function f = k.done();
  std::vector<std::byte> bytes(12);
  const auto few = run(f, {});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().kind, DiagKind::BadArgument);
  EXPECT_EQ(few.error().text, "`main` was given 0 arguments: it has 1 parameters");
  const auto small = run(f, {BufferArg{&bytes, {}, true}});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().text, "`A_ptr` was given 12 bytes: its 4 elements take 16");
  const auto scalar = run(f, {ScalarArg{1}});
  ASSERT_FALSE(scalar);
  EXPECT_EQ(scalar.error().text, "`A_ptr` was given a scalar: it is a buffer");
  bytes.resize(16);
  const auto shape = run(f, {BufferArg{&bytes, {2, 2}, true}});
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().text, "`A_ptr` was given an array of shape [2, 2]: expected [4]");
}

// Nothing is matched to the parameter, and its argument is no memory at all.
TEST(EvalControl, ArgumentsMayBeEmpty) {
  TestKernel k;
  k.param("a", ir::Type::handle());
  const BufferId out = k.matched("B", {2}, DType::Float32);
  k.start(2);
  k.store(out, {k.tid()}, k.real(DType::Float32, 3));
  std::vector<std::byte> none, bytes(8);
  const auto report = run(k.done(), {BufferArg{&none, {}, true}, BufferArg{&bytes, {}, false}});
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_TRUE(report->findings.empty());
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(unpack(DType::Float32, bytes), (Numbers{3, 3}));
}

TEST(EvalControl, EndlessLoopsEndAtALimit) {
  TestKernel k;
  k.start(2);
  k.when(k.eq(k.op(ExprOp::Mul, k.tid(), k.n(0)), 0));
  k.end_while();
  const auto counted = k.try_run({}, {.limits = {.instructions = 10000}});
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().kind, DiagKind::RunLimit);
  EXPECT_EQ(counted.error().text, "the limit of 10000 instructions is reached here");
  ASSERT_EQ(counted.error().notes.size(), 2U);
  EXPECT_THAT(counted.error().notes[0].text, HasSubstr("were spent in this loop"));
  EXPECT_EQ(counted.error().notes[1].text, "`--limit instructions=N` raises it");
  const auto timed = k.try_run({}, {.limits = {.seconds = 0.01}});
  ASSERT_FALSE(timed);
  EXPECT_THAT(timed.error().text, HasSubstr("the limit of 0.01 seconds"));
  const auto asked = k.try_run({}, {.keep_going = [] { return false; }});
  ASSERT_FALSE(asked);
  EXPECT_THAT(asked.error().text, HasSubstr("was ended"));
}

TEST(EvalControl, TooMuchMemoryIsRefused) {
  TestKernel k;
  k.start(32);
  k.alloc("r", {1 << 20}, DType::Float32, Scope::Local);
  const auto refused = k.try_run({}, {.limits = {.memory = std::uint64_t{1} << 24U}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::RunLimit);
  EXPECT_EQ(refused.error().text,
            "the buffers take 268435456 bytes of the host; the limit is 16777216");
}

TEST(EvalControl, PrintfFormatsLikeC) {
  TestKernel k;
  k.start(2);
  const ExprId half = k.real(DType::Float32, 0.5);
  k.evaluate(k.call(Intrinsic::Printf, {k.text("t=%d %5.2f %u %%\\n"), k.tid(), half, k.u32(7)}));
  EXPECT_EQ(k.run({}).report.printed, "t=0  0.50 7 %\nt=1  0.50 7 %\n");
}

TEST(EvalControl, AssertionsAreChecked) {
  TestKernel k;
  k.start(4);
  k.stmt({.kind = ir::StmtKind::Assert, .expr = k.lt(k.tid(), 3), .message = "too many"});
  const Outcome o = k.run({});
  EXPECT_EQ(o.checks(), "assert");
  EXPECT_EQ(o.text(), "the assertion fails in thread 3 of CTA (0,0,0): too many");
}

// Threads of several warps count, twice in a row, where their number is small enough; or some lanes
// of a warp count while the others wait elsewhere.
Outcome counting(bool is_together) {
  TestKernel k;
  const BufferId out = k.matched("out", {96}, DType::Int32);
  k.start(96);
  const BufferId n = k.alloc("n", {2}, DType::Int32, Scope::Local);
  for (const int i : {0, 1}) {
    if (!is_together) k.when(k.lt(k.tid(), 16));
    k.ptx("barrier.cta.red.popc.aligned.u32",
          {value(k.at(n, {k.n(i)})), value(k.to(DType::Uint32, k.n(0))),
           value(k.lt(k.tid(), i == 0 ? 70 : 5))});
    if (is_together) continue;
    k.end();
    k.when(k.op(ExprOp::Le, k.n(16), k.tid()));
    k.store(n, {k.n(i)}, k.n(0));
    k.sync();
    k.end();
  }
  k.store(out, {k.tid()},
          k.op(ExprOp::Add, k.op(ExprOp::Mul, k.at(n, {k.n(0)}), k.n(100)), k.at(n, {k.n(1)})));
  return k.run({{}});
}

TEST(EvalControl, ABarrierCountsWhereAConditionHolds) {
  const Outcome good = counting(true);
  EXPECT_EQ(good.checks(), "") << good.text();
  EXPECT_EQ(good.arrays[0], Numbers(96, 7005));
  EXPECT_THAT(counting(false).checks(), HasSubstr("barrier"));
}

TEST(EvalControl, WhatIsNotEvaluatedIsRefusedAtOnce) {
  TestKernel k;
  k.start(1);
  k.when(k.eq(k.tid(), 5));  // never executed
  k.ptx("brkpt", {});
  k.end();
  const auto refused = k.try_run({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, DiagKind::NotEvaluated);
  EXPECT_EQ(refused.error().text, "`brkpt` is not evaluated");
}

}  // namespace
}  // namespace ww::eval::test::control_test
