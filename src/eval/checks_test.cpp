// SPDX-License-Identifier: Apache-2.0
// Each check: a program with the fault, and its twin without.
#include "eval/test_kernel.h"

namespace ww::eval::test::checks_test {
namespace {

using testing::HasSubstr;

// --- uninit ---

TEST(EvalUninit, UsingWhatNothingHasWritten) {
  for (const bool writes : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {4}, DType::Float32);
    k.start(1);
    const BufferId r = k.alloc("r", {4}, DType::Float32, Scope::Local);
    if (writes) k.store(r, {k.n(2)}, k.real(DType::Float32, 1));
    k.store(out, {k.n(0)}, k.add(k.at(r, {k.n(2)}), k.real(DType::Float32, 1)));
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), writes ? "" : "uninit");
    if (!writes) {
      EXPECT_EQ(o.text(), "`r[2]` is used by thread 0 of CTA (0,0,0), and nothing has written it");
    }
  }
}

TEST(EvalUninit, CopyingPassesItOn) {
  TestKernel k;
  const BufferId out = k.matched("out", {2}, DType::Float32);
  k.start(1);
  const BufferId r = k.alloc("r", {2}, DType::Float32, Scope::Local);
  const BufferId s = k.alloc("s", {2}, DType::Float32, Scope::Local);
  k.store(r, {k.n(0)}, k.real(DType::Float32, 4));
  k.store(s, {k.n(0)}, k.at(r, {k.n(0)}));
  k.store(s, {k.n(1)}, k.at(r, {k.n(1)}));
  k.tile(TileOp::Copy, Unit::Thread, {k.full(out), k.full(s)});
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.report.written[0], (std::vector<bool>{true, false}));
}

TEST(EvalUninit, AnAllocationInALoopIsNewEachTime) {
  TestKernel k;
  const BufferId out = k.matched("out", {1}, DType::Int32);
  k.start(1);
  const ir::VarId i = k.loop("i", 2);
  const BufferId r = k.alloc("r", {1}, DType::Int32, Scope::Local);
  k.when(k.eq(k.var(i), 0));
  k.store(r, {k.n(0)}, k.n(1));
  k.end();
  k.store(out, {k.n(0)}, k.add(k.at(r, {k.n(0)}), k.n(1)));
  k.end();
  EXPECT_EQ(k.run({{}}).checks(), "uninit");
}

TEST(EvalUninit, ConditionsAndPrimitivesUseValues) {
  TestKernel k;
  k.start(32);
  const BufferId r = k.alloc("r", {1}, DType::Int32, Scope::Local);
  const BufferId a = k.alloc("a", {4}, DType::Float32, Scope::Local);
  k.when(k.eq(k.at(r, {k.n(0)}), 1));
  k.end();
  k.tile(TileOp::Sqrt, Unit::Thread, {k.full(a)});
  const Outcome o = k.run({});
  EXPECT_EQ(o.checks(), "uninit, uninit");
  EXPECT_EQ(o.report.findings[0].times, 32U);
}

TEST(EvalUninit, ParametersMayBeUndefined) {
  TestKernel k;
  const BufferId in = k.matched("in", {1}, DType::Int32);
  const BufferId out = k.matched("out", {1}, DType::Int32);
  k.start(1);
  k.store(out, {k.n(0)}, k.add(k.at(in, {k.n(0)}), k.n(1)));
  EXPECT_EQ(k.run({{}, {}}).checks(), "uninit");
  EXPECT_EQ(k.run({{1}, {}}).checks(), "");
}

// --- bounds ---

TEST(EvalBounds, IndicesMustStayInside) {
  for (const std::int64_t threads : {4, 5}) {
    TestKernel k;
    const BufferId out = k.matched("out", {4, 2}, DType::Int32);
    k.start(threads);
    k.store(out, {k.tid(), k.n(1)}, k.n(1));
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), threads == 4 ? "" : "bounds");
    if (threads == 5) {
      EXPECT_EQ(o.text(),
                "index 4 of dimension 0 of `out` in thread 4 of CTA (0,0,0) leaves its extent 4");
    }
  }
}

TEST(EvalBounds, PointersMustStayInside) {
  TestKernel k;
  const BufferId in = k.matched("in", {4}, DType::Float32);
  k.start(1);
  const ExprId past = k.call(Intrinsic::PointerOffset, {k.address(in, {k.n(0)}), k.n(4)});
  k.evaluate(k.call(Intrinsic::Ldg, {past}));
  const Outcome o = k.run({{1, 2, 3, 4}});
  EXPECT_EQ(o.checks(), "bounds");
  EXPECT_EQ(o.text(),
            "the place of `in` at byte 16 in thread 0 of CTA (0,0,0) is not in any memory");
}

TEST(EvalBounds, ViewsMustStayInTheirStorage) {
  TestKernel k;
  k.start(1);
  const BufferId r = k.alloc("r", {4}, DType::Int32, Scope::Local);
  const BufferId v = k.view("v", r, {8});
  k.store(v, {k.n(5)}, k.n(1));
  EXPECT_EQ(k.run({}).checks(), "bounds");
}

// --- race ---

enum class Sync { None, Cta, Warp, StorageOfWarp };

// Thread t writes s[t]; then thread t reads s[(t + shift) % n].
Outcome shifted_read(std::int64_t threads, std::int64_t shift, Sync sync) {
  TestKernel k;
  const BufferId out = k.matched("out", {threads}, DType::Int32);
  k.start(threads);
  const BufferId s = k.alloc("s", {threads}, DType::Int32, Scope::Shared);
  k.store(s, {k.tid()}, k.tid());
  if (sync == Sync::Cta) k.sync();
  if (sync == Sync::Warp) k.evaluate(k.call(Intrinsic::WarpSync, {}));
  if (sync == Sync::StorageOfWarp) k.evaluate(k.call(Intrinsic::StorageSync, {k.text("warp")}));
  k.store(out, {k.tid()}, k.at(s, {k.mod(k.add(k.tid(), k.n(shift)), threads)}));
  return k.run({{}});
}

TEST(EvalRace, ReadsMustBeOrderedBehindWrites) {
  EXPECT_EQ(shifted_read(64, 0, Sync::None).checks(), "");  // its own
  EXPECT_EQ(shifted_read(64, 1, Sync::None).checks(), "race");
  EXPECT_EQ(shifted_read(64, 1, Sync::Cta).checks(), "");
  EXPECT_EQ(shifted_read(32, 1, Sync::Warp).checks(), "");
  EXPECT_EQ(shifted_read(64, 32, Sync::Warp).checks(), "race");  // across warps
  // Emitted code has a barrier of the warp for it.
  EXPECT_EQ(shifted_read(32, 1, Sync::StorageOfWarp).checks(), "");
  EXPECT_EQ(shifted_read(64, 32, Sync::StorageOfWarp).checks(), "race");
  EXPECT_THAT(shifted_read(64, 1, Sync::None).text(),
              HasSubstr("`s[1]` is read by thread 0 of CTA (0,0,0) and written by thread 1, and "
                        "nothing orders them"));
}

TEST(EvalRace, WritesMustBeOrderedBehindReads) {
  for (const bool syncs : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {64}, DType::Int32);
    k.start(64);
    const BufferId s = k.alloc("s", {64}, DType::Int32, Scope::Shared);
    k.store(s, {k.tid()}, k.tid());
    k.sync();
    k.store(out, {k.tid()}, k.at(s, {k.mod(k.add(k.tid(), k.n(1)), 64)}));
    if (syncs) k.sync();
    k.store(s, {k.tid()}, k.n(-1));
    EXPECT_EQ(k.run({{}}).checks(), syncs ? "" : "race");
  }
}

// A write is a write, whatever it writes. Of lanes that write by one statement one wins.
Outcome write_one_place(int threads, bool same, bool by_one_statement = true) {
  TestKernel k;
  k.start(threads);
  const BufferId s = k.alloc("s", {1}, DType::Int32, Scope::Shared);
  const auto store = [&] { k.store(s, {k.n(0)}, same ? k.n(5) : k.tid()); };
  if (by_one_statement) {
    store();
  } else {
    k.when(k.lt(k.tid(), threads / 2));
    store();
    k.otherwise();
    store();
    k.end_otherwise();
  }
  return k.run({});
}

TEST(EvalRace, WritesOfOneValueRaceLikeAnyOthers) {
  for (const bool same : {true, false}) {
    EXPECT_EQ(write_one_place(64, same).checks(), "race");
    EXPECT_EQ(write_one_place(32, same).checks(), "");
    EXPECT_EQ(write_one_place(32, same, false).checks(), "race");
  }
}

TEST(EvalRace, OneOfTheLanesThatWriteTogetherIsWaitedFor) {
  for (const bool syncs : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {32}, DType::Int32);
    k.start(32);
    const BufferId s = k.alloc("s", {1}, DType::Int32, Scope::Shared);
    k.store(s, {k.n(0)}, k.tid());
    if (syncs) k.evaluate(k.call(Intrinsic::WarpSync, {}));
    k.store(out, {k.tid()}, k.at(s, {k.n(0)}));
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), syncs ? "" : "race");
    EXPECT_EQ(o.arrays[0][7], 31);
  }
}

TEST(EvalRace, CtasAreNotOrdered) {
  for (const bool apart : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {2}, DType::Int32);
    k.start(1, 2);
    k.store(out, {apart ? k.cta() : k.n(0)}, k.cta());
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), apart ? "" : "race");
    if (!apart) {
      EXPECT_THAT(o.text(), HasSubstr("written by another CTA"));
    }
  }
}

TEST(EvalRace, AnAtomicElsewhereOrdersNoCtas) {
  for (const bool fences : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {2}, DType::Int32);
    k.start(1, 2);
    k.store(out, {k.n(0)}, k.cta());
    if (fences) k.evaluate(k.call(Intrinsic::ThreadFence, {}));
    k.evaluate(k.call(Intrinsic::AtomicAdd, {k.address(out, {k.n(1)}), k.n(1)}));
    // With a fence it may be ordered, which is not looked into.
    EXPECT_EQ(k.run({{0, 0}}).checks(), fences ? "" : "race");
  }
}

TEST(EvalRace, ATileCopyIsMadeByItsWholeUnit) {
  for (const bool syncs : {true, false}) {
    TestKernel k;
    const BufferId in = k.matched("in", {32}, DType::Int32);
    const BufferId out = k.matched("out", {32}, DType::Int32);
    k.start(32);
    const BufferId s = k.alloc("s", {32}, DType::Int32, Scope::Shared);
    k.tile(TileOp::Copy, Unit::Warp, {k.full(s), k.full(in)});
    if (syncs) k.evaluate(k.call(Intrinsic::WarpSync, {}));
    k.store(out, {k.tid()}, k.at(s, {k.tid()}));
    const Outcome o = k.run({count_to(32), {}});
    EXPECT_EQ(o.checks(), syncs ? "" : "race");
  }
}

TEST(EvalRace, TwoElementsAtOnePlaceOfADestination) {
  TestKernel k;
  const BufferId in = k.matched("in", {4}, DType::Int32);
  k.start(32);
  const BufferId s = k.alloc("s", {2}, DType::Int32, Scope::Shared);
  const BufferId v = k.view("v", s, {4}, "S[(2,2):(0,1)]");
  k.tile(TileOp::Copy, Unit::Warp, {k.full(v), k.full(in)});
  EXPECT_EQ(k.run({{1, 2, 3, 4}}).checks(), "race");
  EXPECT_EQ(k.run({{1, 2, 1, 2}}).checks(), "race");
}

TEST(EvalRace, NamedBarriersOrderTheirThreadsOnly) {
  // Warps 0 and 1 meet; warp 2 does not.
  for (const std::int64_t reader : {1, 2}) {
    TestKernel k;
    const BufferId out = k.matched("out", {96}, DType::Int32);
    k.start(96);
    const BufferId s = k.alloc("s", {32}, DType::Int32, Scope::Shared);
    k.when(k.lt(k.tid(), 32));
    k.store(s, {k.tid()}, k.tid());
    k.end();
    k.when(k.lt(k.tid(), 64));
    k.ptx("bar.sync", {ir::test::value(k.n(1)), ir::test::value(k.n(64))});
    k.end();
    k.when(k.eq(k.div(k.tid(), 32), reader));
    k.store(out, {k.tid()}, k.at(s, {k.mod(k.tid(), 32)}));
    k.end();
    EXPECT_EQ(k.run({{}}).checks(), reader == 1 ? "" : "race");
  }
}

TEST(EvalRace, AtomicsDoNotRaceWithAtomics) {
  TestKernel k;
  const BufferId out = k.matched("out", {1}, DType::Int32);
  k.start(64, 4);
  k.evaluate(k.call(Intrinsic::AtomicAdd, {k.address(out, {k.n(0)}), k.n(1)}));
  const Outcome o = k.run({{0}});
  EXPECT_EQ(o.checks(), "");
  EXPECT_EQ(o.arrays[0][0], 256);
}

// --- barrier ---

TEST(EvalBarrier, APartOfTheThreadsWaitsForEver) {
  TestKernel k;
  k.start(64);
  k.when(k.lt(k.tid(), 32));
  k.sync();
  k.otherwise();
  k.evaluate(k.call(Intrinsic::WarpSync, {}));
  k.ptx("bar.sync", {ir::test::value(k.n(2)), ir::test::value(k.n(64))});
  k.end_otherwise();
  const Outcome o = k.run({});
  EXPECT_EQ(o.checks(), "barrier, barrier");
  EXPECT_EQ(o.text(),
            "threads 0-31 of CTA (0,0,0) wait here for ever: threads 32-63 wait elsewhere");
}

TEST(EvalBarrier, ThreadsThatHaveEndedAreNotWaitedFor) {
  TestKernel k;
  k.start(64);
  k.when(k.lt(k.tid(), 32));
  k.sync();
  k.end();
  EXPECT_EQ(k.run({}).checks(), "");
}

TEST(EvalBarrier, LanesOfAWarpMeetInOnePlace) {
  TestKernel k;
  k.start(32);
  k.when(k.lt(k.tid(), 16));
  k.sync();
  k.otherwise();
  k.sync();
  k.end_otherwise();
  EXPECT_EQ(k.run({}).checks(), "barrier");
}

TEST(EvalBarrier, APrimitiveNeedsItsWholeUnit) {
  TestKernel k;
  k.start(64);
  const BufferId r = k.alloc("r", {32}, DType::Int32, Scope::Local, "S[32:1@laneid]");
  k.when(k.lt(k.tid(), 40));
  k.tile(TileOp::Zero, Unit::Warp, {k.full(r)});
  k.otherwise();
  k.sync();
  k.end_otherwise();
  k.sync();
  const Outcome o = k.run({});
  EXPECT_THAT(o.checks(), HasSubstr("barrier"));
  EXPECT_THAT(o.text(), HasSubstr("threads 32-39"));
}

TEST(EvalBarrier, WarpgroupsNeedBarriersOfTheirOwn) {
  for (const bool own : {true, false}) {
    TestKernel k;
    k.start(256);
    const ExprId id = own ? k.add(k.div(k.tid(), 128), k.n(1)) : k.n(1);
    k.evaluate(k.call(Intrinsic::WarpgroupSync, {id}));
    EXPECT_EQ(k.run({}).checks(), own ? "" : "barrier");
  }
}

TEST(EvalBarrier, MbarriersOrderWhatCameBefore) {
  for (const bool waits : {true, false}) {
    TestKernel k;
    const BufferId out = k.matched("out", {32}, DType::Int32);
    k.start(64);
    const BufferId bar = k.alloc("bar", {1}, DType::Uint64, Scope::Shared);
    const BufferId s = k.alloc("s", {32}, DType::Int32, Scope::Shared);
    const auto at = [&] { return k.address(bar, {k.n(0)}); };
    k.when(k.eq(k.tid(), 0));
    k.ptx("mbarrier.init.shared.b64", {ir::test::mem(at()), ir::test::value(k.u32(32))});
    k.end();
    k.sync();
    k.when(k.lt(k.tid(), 32));
    if (waits) k.evaluate(k.call(Intrinsic::MbarrierWait, {at(), k.n(0)}));
    k.store(out, {k.tid()}, k.at(s, {k.tid()}));
    k.otherwise();
    k.store(s, {k.mod(k.tid(), 32)}, k.tid());
    k.ptx("mbarrier.arrive.shared.b64", {{.kind = ir::PtxOperandKind::Sink}, ir::test::mem(at())});
    k.end_otherwise();
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), waits ? "" : "race") << o.text();
    if (waits) {
      EXPECT_EQ(o.arrays[0], count_to(32, 32));
    }
  }
}

TEST(EvalBarrier, ClustersMeet) {
  TestKernel k;
  const BufferId out = k.matched("out", {2}, DType::Int32);
  const BufferId to = k.matched("to", {2}, DType::Int32);
  k.f.has_device_entry = true;
  const ir::VarId cta = k.id(ir::ScopeIdKind::CtaId, "bx", 2);
  k.id(ir::ScopeIdKind::CtaIdInCluster, "rank", 2);
  k.id(ir::ScopeIdKind::ThreadId, "tid", 1);
  k.store(out, {k.var(cta)}, k.add(k.var(cta), k.n(5)));
  k.evaluate(k.call(Intrinsic::ClusterSync, {}));
  k.store(to, {k.var(cta)}, k.at(out, {k.op(ExprOp::Sub, k.n(1), k.var(cta))}));
  const Outcome o = k.run({{}, {}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[1], (Numbers{6, 5}));
}

// --- the collection ---

TEST(EvalFindings, EqualOnesAreCountedAndTheRestIsDropped) {
  TestKernel k;
  k.start(1);
  const BufferId r = k.alloc("r", {1}, DType::Int32, Scope::Local);
  for (int i = 0; i < 5; ++i) {
    k.when(k.eq(k.at(r, {k.n(0)}), 1));
    k.end();
  }
  const Outcome o = k.run({}, {.max_findings = 3});
  EXPECT_EQ(o.report.findings.size(), 3U);
  EXPECT_EQ(o.report.dropped, 2U);
}

}  // namespace
}  // namespace ww::eval::test::checks_test
