// SPDX-License-Identifier: Apache-2.0
// The CTAs of a cluster together: reductions of what they all hold, barriers in two halves, and shared
// memory of the others.
#include "eval/test_kernel.h"

namespace ww::eval::test::cluster_test {
namespace {

using testing::HasSubstr;

struct Ids {
  ir::VarId cta, rank;
};

// One cluster.
Ids start(TestKernel& k, std::int64_t ctas, std::int64_t threads) {
  k.f.has_device_entry = true;
  Ids out{};
  out.cta = k.id(ir::ScopeIdKind::CtaId, "bx", ctas);
  out.rank = k.id(ir::ScopeIdKind::CtaIdInCluster, "rank", ctas);
  k.tid_var = k.id(ir::ScopeIdKind::ThreadId, "tid", threads);
  return out;
}

// The sum of an element in each of 2 CTAs of 64 threads, in every thread: element i is in[i].
Outcome sum_of(const Numbers& in, const std::string& source = "S[(2,64):(1@cbx,1@tx)]") {
  TestKernel k;
  const BufferId from = k.matched("in", {128}, DType::Float32);
  const BufferId out = k.matched("out", {128}, DType::Float32);
  const Ids ids = start(k, 2, 64);
  const auto at = [&] { return k.add(k.op(ExprOp::Mul, k.var(ids.rank), k.n(64)), k.tid()); };
  const std::int64_t elements = source.starts_with("S[(2,64)") ? 128 : 64;
  const BufferId r = k.alloc("r", {elements}, DType::Float32, Scope::Local, source);
  const BufferId s = k.alloc("s", {1}, DType::Float32, Scope::Local, "S[1]");
  const BufferId mine = k.view("mine", r, {1});
  const BufferId all = k.view("all", s, {1});
  k.store(mine, {k.n(0)}, k.at(from, {at()}));
  k.tile(TileOp::Sum, Unit::Cluster,
         {k.full(s), k.full(r), ir::Setting(std::int64_t{0}), ir::Setting(false)});
  k.store(out, {at()}, k.at(all, {k.n(0)}));
  return k.run({in, {}});
}

TEST(EvalCluster, SumsInEveryThread) {
  const Outcome o = sum_of(count_to(128));
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[1], Numbers(128, 8128));
}

// 2^24 + 1 is 2^24 in float32. Warp by warp over both CTAs the sum would be 2^24 + 2, as CTA 1 adds
// up 1 + 1 first.
TEST(EvalCluster, WarpsOfACtaAreAddedFirst) {
  Numbers in(128, 0);
  in[0] = 16777216;
  in[32] = 0;
  in[64] = 1;
  in[96] = 1;
  EXPECT_EQ(sum_of(in).arrays[1][0], 16777218);
  in[32] = 1;
  in[96] = 0;
  EXPECT_EQ(sum_of(in).arrays[1][0], 16777216);
}

// Elements that both CTAs hold count once, and must be equal.
TEST(EvalCluster, Replicas) {
  Numbers in = count_to(128);
  for (std::size_t i = 0; i < 64; ++i) in[i + 64] = in[i];
  const Outcome right = sum_of(in, "S[64:1@tx] + R[2:1@cbx]");
  EXPECT_EQ(right.checks(), "") << right.text();
  EXPECT_EQ(right.arrays[1], Numbers(128, 2016));
  in[70] = 0;
  const Outcome wrong = sum_of(in, "S[64:1@tx] + R[2:1@cbx]");
  EXPECT_EQ(wrong.checks(), "replica");
  EXPECT_THAT(wrong.text(), HasSubstr("the copies of `r[6]` differ between CTAs"));
}

// A primitive of a CTA has only its own registers.
TEST(EvalCluster, RegistersOfAnotherCta) {
  TestKernel k;
  start(k, 2, 32);
  const BufferId r = k.alloc("r", {64}, DType::Float32, Scope::Local, "S[(2,32):(1@cbx,1@tx)]");
  k.tile(TileOp::Fill, Unit::Cta, {k.full(r), k.real(DType::Float32, 1)});
  const Outcome o = k.run({});
  EXPECT_EQ(o.checks(), "bounds") << o.text();
  EXPECT_THAT(o.text(), HasSubstr("of another CTA of the cluster, which is not in CTA (0,0,0)"));
}

// One CTA comes to the call, the other to a barrier, or to its end.
TEST(EvalCluster, AllMustCome) {
  for (const bool ends : {true, false}) {
    TestKernel k;
    const Ids ids = start(k, 2, 32);
    const BufferId r = k.alloc("r", {32}, DType::Float32, Scope::Local, "S[32:1@tx]");
    const BufferId s = k.alloc("s", {1}, DType::Float32, Scope::Local, "S[1]");
    k.store(k.view("mine", r, {1}), {k.n(0)}, k.real(DType::Float32, 1));
    k.when(k.eq(k.var(ids.rank), 0));
    k.tile(TileOp::Sum, Unit::Cluster, {k.full(s), k.full(r)});
    k.otherwise();
    if (!ends) k.evaluate(k.call(Intrinsic::ClusterSync, {}));
    k.end_otherwise();
    const Outcome o = k.run({});
    EXPECT_EQ(o.checks(), "barrier") << o.text();
    EXPECT_THAT(o.text(), HasSubstr(ends ? "CTA (1,0,0) has ended" : "CTA (1,0,0) elsewhere"));
  }
}

// Each CTA writes its number into the other's memory. With `barrier` both halves of one stand between.
Outcome exchange(const std::string& arrive) {
  TestKernel k;
  const BufferId out = k.matched("out", {2}, DType::Uint32);
  const Ids ids = start(k, 2, 1);
  const BufferId s = k.alloc("s", {2}, DType::Uint32, Scope::Shared);
  const BufferId there = k.alloc("there", {1}, DType::Uint32, Scope::Local);
  k.ptx("barrier.cluster.arrive.aligned", {});
  k.ptx("barrier.cluster.wait.aligned", {});
  const ExprId here = k.call(Intrinsic::CvtaToShared, {k.address(s, {k.n(1)})});
  const ExprId other = k.op(ExprOp::Sub, k.n(1), k.var(ids.rank));
  k.ptx("mapa.shared::cluster.u32", {ir::test::value(k.at(there, {k.n(0)})), ir::test::value(here),
                                     ir::test::value(k.to(DType::Uint32, other))});
  k.ptx("st.shared::cluster.u32", {ir::test::mem(k.at(there, {k.n(0)})),
                                   ir::test::value(k.to(DType::Uint32, k.var(ids.cta)))});
  if (!arrive.empty()) {
    k.ptx(arrive, {});
    k.ptx("barrier.cluster.wait.aligned", {});
  }
  k.store(out, {k.var(ids.cta)}, k.at(s, {k.n(1)}));
  return k.run({{}});
}

TEST(EvalCluster, MemoryOfTheOthers) {
  const Outcome o = exchange("barrier.cluster.arrive.aligned");
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[0], (Numbers{1, 0}));
  EXPECT_THAT(exchange("barrier.cluster.arrive.relaxed.aligned").checks(), HasSubstr("race"));
  EXPECT_NE(exchange("").checks(), "");
}

// In CTA 0, warp 0 arrives and ends, and warp 1 never comes: CTA 1 does not go on.
TEST(EvalCluster, EndedThreadsDoNotStandInForOthers) {
  TestKernel k;
  const BufferId out = k.matched("out", {2}, DType::Uint32);
  const Ids ids = start(k, 2, 64);
  const BufferId bar = k.alloc("bar", {1}, DType::Uint64, Scope::Shared);
  const auto at = [&] { return k.address(bar, {k.n(0)}); };
  k.when(k.eq(k.tid(), 0));
  k.ptx("mbarrier.init.shared.b64", {ir::test::mem(at()), ir::test::value(k.u32(1))});
  k.end();
  k.sync();
  k.when(k.eq(k.var(ids.rank), 0));
  k.when(k.op(ExprOp::Gt, k.tid(), k.n(31)));
  k.evaluate(k.call(Intrinsic::MbarrierWait, {at(), k.n(0)}));
  k.end();
  k.end();
  k.ptx("barrier.cluster.arrive.aligned", {});
  k.when(k.eq(k.var(ids.rank), 1));
  k.ptx("barrier.cluster.wait.aligned", {});
  k.store(out, {k.var(ids.cta)}, k.to(DType::Uint32, k.n(7)));
  k.end();
  const Outcome o = k.run({{5, 5}});
  EXPECT_EQ(o.checks(), "barrier, barrier") << o.text();
  EXPECT_EQ(o.arrays[0], (Numbers{5, 5}));
}

// bar.warp.sync waits for the lanes of its mask that are alive.
TEST(EvalCluster, EndedLanesDoNotHoldUpTheirWarp) {
  TestKernel k;
  const BufferId out = k.matched("out", {1}, DType::Uint32);
  start(k, 1, 32);
  k.when(k.op(ExprOp::Lt, k.tid(), k.n(8)));
  k.ptx("bar.warp.sync", {ir::test::value(k.u32(0xFFFFFFFF))});
  k.store(out, {k.n(0)}, k.to(DType::Uint32, k.n(7)));
  k.end();
  const Outcome o = k.run({{5}});
  EXPECT_EQ(o.arrays[0], (Numbers{7})) << o.text();
}

// A CTA's own addresses have its rank in them, and are valid for the whole cluster.
TEST(EvalCluster, OwnAddressesHaveTheRank) {
  TestKernel k;
  const BufferId out = k.matched("out", {6}, DType::Uint32);
  const Ids ids = start(k, 2, 1);
  const BufferId s = k.alloc("s", {2}, DType::Uint32, Scope::Shared);
  const BufferId there = k.alloc("there", {1}, DType::Uint32, Scope::Local);
  const ExprId here = k.call(Intrinsic::CvtaToShared, {k.address(s, {k.n(1)})});
  k.ptx("mapa.shared::cluster.u32", {ir::test::value(k.at(there, {k.n(0)})), ir::test::value(here),
                                     ir::test::value(k.to(DType::Uint32, k.n(0)))});
  k.ptx("st.shared::cluster.u32",
        {ir::test::mem(here), ir::test::value(k.to(DType::Uint32, k.n(7)))});
  const auto put = [&](std::int64_t n, ExprId value) {
    k.store(out, {k.op(ExprOp::Add, k.op(ExprOp::Mul, k.var(ids.cta), k.n(3)), k.n(n))}, value);
  };
  put(0, k.op(ExprOp::Shr, here, k.to(DType::Uint32, k.n(24))));
  put(1, k.op(ExprOp::Shr, k.op(ExprOp::Sub, here, k.at(there, {k.n(0)})),
              k.to(DType::Uint32, k.n(24))));
  put(2, k.at(s, {k.n(1)}));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[0], (Numbers{0, 0, 7, 1, 1, 7}));
}

// CTA 0 looks again and again whether CTA 1 has arrived at its mbarrier; both take turns meanwhile.
TEST(EvalCluster, ALoopThatWaitsForAnotherCta) {
  TestKernel k;
  const BufferId out = k.matched("out", {2}, DType::Uint32);
  const Ids ids = start(k, 2, 1);
  const BufferId bar = k.alloc("bar", {1}, DType::Uint64, Scope::Shared);
  const BufferId r = k.alloc("r", {1}, DType::Uint32, Scope::Local);
  const BufferId done = k.alloc("done", {1}, DType::Bool, Scope::Local);
  const auto value = [&](std::int64_t n) { return ir::test::value(k.to(DType::Uint32, k.n(n))); };
  const auto barrier = [&] { return ir::test::mem(k.address(bar, {k.n(0)})); };
  k.ptx("mbarrier.init.shared.b64", {barrier(), value(1)});
  k.ptx("barrier.cluster.arrive.aligned", {});
  k.ptx("barrier.cluster.wait.aligned", {});
  k.when(k.eq(k.var(ids.rank), 0));
  k.store(done, {k.n(0)}, k.to(DType::Bool, k.n(0)));
  k.when(k.eq(k.to(DType::Int32, k.at(done, {k.n(0)})), 0));
  k.ptx("mbarrier.test_wait.parity.shared.b64",
        {ir::test::value(k.at(done, {k.n(0)})), barrier(), value(0)});
  k.end_while();
  k.otherwise();
  const ExprId here = k.call(Intrinsic::CvtaToShared, {k.address(bar, {k.n(0)})});
  k.ptx("mapa.shared::cluster.u32",
        {ir::test::value(k.at(r, {k.n(0)})), ir::test::value(here), value(0)});
  k.ptx("mbarrier.arrive.shared::cluster.b64",
        {{.kind = ir::PtxOperandKind::Sink}, ir::test::mem(k.at(r, {k.n(0)}))});
  k.end_otherwise();
  k.store(out, {k.var(ids.cta)}, k.to(DType::Uint32, k.n(7)));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[0], (Numbers{7, 7}));
}

}  // namespace
}  // namespace ww::eval::test::cluster_test
