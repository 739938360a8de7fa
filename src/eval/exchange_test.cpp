// SPDX-License-Identifier: Apache-2.0
// Lanes that exchange values, atomics, asynchronous copies, instructions.
#include "eval/test_kernel.h"

namespace ww::eval::test::exchange_test {
namespace {

using ir::test::mem;
using ir::test::reg_at;
using ir::test::value;
using testing::HasSubstr;

// out[t] = f(t)
Numbers per_lane(std::int64_t threads, DType type, const std::function<ExprId(TestKernel&)>& f) {
  TestKernel k;
  const BufferId out = k.matched("out", {threads}, type);
  k.start(threads);
  k.store(out, {k.tid()}, k.to(type, f(k)));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  return o.arrays[0];
}

ExprId shuffle(TestKernel& k, Intrinsic callee, ExprId by, std::int64_t width) {
  return k.call(callee, {k.u32(0xffffffff), k.mul(k.tid(), k.n(10)), by, k.n(width), k.n(32)});
}

TEST(EvalExchange, Shuffles) {
  const Numbers fixed = per_lane(
      64, DType::Int32, [](TestKernel& k) { return shuffle(k, Intrinsic::Shfl, k.n(3), 32); });
  EXPECT_EQ(fixed[0], 30);
  EXPECT_EQ(fixed[63], 350);
  const Numbers up = per_lane(
      32, DType::Int32, [](TestKernel& k) { return shuffle(k, Intrinsic::ShflUp, k.n(1), 8); });
  EXPECT_EQ(up[8], 80);
  EXPECT_EQ(up[9], 80);
  const Numbers down = per_lane(
      32, DType::Int32, [](TestKernel& k) { return shuffle(k, Intrinsic::ShflDown, k.n(2), 32); });
  EXPECT_EQ(down[5], 70);
  EXPECT_EQ(down[31], 310);
  const Numbers flip = per_lane(
      32, DType::Int32, [](TestKernel& k) { return shuffle(k, Intrinsic::ShflXor, k.n(1), 32); });
  EXPECT_EQ(flip[4], 50);
}

TEST(EvalExchange, VotesAndElection) {
  const auto even = [](TestKernel& k) { return k.eq(k.mod(k.tid(), 2), 0); };
  EXPECT_EQ(per_lane(32, DType::Uint32,
                     [&](TestKernel& k) {
                       return k.call(Intrinsic::Ballot, {k.u32(0xffffffff), even(k)});
                     })[0],
            0x55555555);
  EXPECT_EQ(per_lane(32, DType::Int32,
                     [&](TestKernel& k) {
                       return k.call(Intrinsic::AnySync, {k.u32(0xffffffff), even(k)});
                     })[1],
            1);
  EXPECT_EQ(per_lane(32, DType::Int32,
                     [&](TestKernel& k) {
                       return k.call(Intrinsic::AllSync, {k.u32(0xffffffff), even(k)});
                     })[1],
            0);
  const Numbers elected =
      per_lane(64, DType::Int32, [](TestKernel& k) { return k.call(Intrinsic::ElectSync, {}); });
  EXPECT_EQ(std::count(elected.begin(), elected.end(), 1), 2);
}

TEST(EvalExchange, Reductions) {
  const Numbers sum = per_lane(64, DType::Int32, [](TestKernel& k) {
    return k.call(Intrinsic::WarpReduce, {k.tid(), k.text("sum"), k.n(8)});
  });
  EXPECT_EQ(sum[0], 28);
  EXPECT_EQ(sum[63], 56 * 8 + 28);
  const Numbers most = per_lane(64, DType::Int32, [](TestKernel& k) {
    const BufferId scratch = k.alloc("scratch", {2}, DType::Int32, Scope::Shared);
    return k.call(Intrinsic::CtaReduce,
                  {k.tid(), k.text("max"), k.n(2), k.address(scratch, {k.n(0)})});
  });
  EXPECT_EQ(most, Numbers(64, 63));
}

// Three rounds: out[t] is the sum of what `value` is in them, as a promise.
Outcome promised(const std::function<ExprId(TestKernel&, ExprId round)>& value,
                 Intrinsic callee = Intrinsic::Uniform) {
  TestKernel k;
  const BufferId out = k.matched("out", {64}, DType::Int32);
  k.start(64);
  k.store(out, {k.tid()}, k.n(0));
  const ir::VarId round = k.loop("i", 3);
  k.store(out, {k.tid()}, k.add(k.at(out, {k.tid()}), k.call(callee, {value(k, k.var(round))})));
  k.end();
  return k.run({{}});
}

TEST(EvalExchange, PromisesAreChecked) {
  const Outcome kept = promised([](TestKernel& k, ExprId i) { return k.mul(i, k.n(10)); });
  EXPECT_EQ(kept.checks(), "") << kept.text();
  EXPECT_EQ(kept.arrays[0][63], 30);
  const Outcome broken = promised([](TestKernel& k, ExprId) { return k.div(k.tid(), 32); });
  EXPECT_EQ(broken.checks(), "operand");
  EXPECT_EQ(broken.text(),
            "`T.uniform` is promised one value in CTA (0,0,0), and gets 0 in thread 0, 1 in thread "
            "32");
}

TEST(EvalExchange, PromisesOfAWarpAreChecked) {
  const auto of_warps = [](std::int64_t lanes) {
    return promised([=](TestKernel& k, ExprId i) { return k.add(i, k.div(k.tid(), lanes)); },
                    Intrinsic::WarpUniform);
  };
  const Outcome kept = of_warps(32);
  EXPECT_EQ(kept.checks(), "") << kept.text();
  EXPECT_EQ(kept.arrays[0][63], 6);
  const Outcome broken = of_warps(48);
  EXPECT_EQ(broken.checks(), "operand");
  EXPECT_EQ(broken.text(),
            "`T.warp_uniform` is promised one value in warp 1 of CTA (0,0,0), and gets 0 in thread "
            "32, 1 in thread 48");
}

TEST(EvalExchange, LanesWaitForThoseOfTheMask) {
  for (const bool meets : {true, false}) {
    TestKernel k;
    k.start(32);
    k.when(k.lt(k.tid(), 16));
    k.bind("x", k.call(Intrinsic::Shfl,
                       {k.u32(meets ? 0xffff : 0xffffffff), k.tid(), k.n(0), k.n(32), k.n(32)}));
    k.end();
    k.sync();
    EXPECT_EQ(k.run({}).checks(), meets ? "" : "barrier, barrier");
  }
}

TEST(EvalExchange, EveryAtomic) {
  struct Row {
    Intrinsic callee;
    double expected;
  };
  for (const Row& row :
       {Row{Intrinsic::AtomicAdd, 12 + 6}, Row{Intrinsic::AtomicMin, 0},
        Row{Intrinsic::AtomicMax, 12}, Row{Intrinsic::AtomicAnd, 0}, Row{Intrinsic::AtomicOr, 15},
        Row{Intrinsic::AtomicXor, 12}, Row{Intrinsic::AtomicExch, 3}}) {
    TestKernel k;
    const BufferId out = k.matched("out", {1}, DType::Int32);
    k.start(4);
    k.evaluate(k.call(row.callee, {k.address(out, {k.n(0)}), k.tid()}));
    EXPECT_EQ(k.run({{12}}).arrays[0][0], row.expected);
  }
  TestKernel k;
  const BufferId out = k.matched("out", {1}, DType::Int32);
  const BufferId old = k.matched("old", {2}, DType::Int32);
  k.start(2);
  k.store(old, {k.tid()}, k.call(Intrinsic::AtomicCas, {k.address(out, {k.n(0)}), k.n(7), k.n(9)}));
  const Outcome o = k.run({{7}, {}});
  EXPECT_EQ(o.arrays[0][0], 9);
  EXPECT_EQ(o.arrays[1], (Numbers{7, 9}));
}

// --- asynchronous copies ---

enum class Fault { None, NoWait, NoCommit, EarlySourceWrite };

Outcome async_copy(Fault fault) {
  TestKernel k;
  const BufferId in = k.matched("in", {64}, DType::Float32);
  const BufferId out = k.matched("out", {64}, DType::Float32);
  k.start(64);
  const BufferId s = k.alloc("s", {64}, DType::Float32, Scope::Shared);
  k.tile(TileOp::CopyAsync, Unit::Cta, {k.full(s), k.full(in)});
  if (fault != Fault::NoCommit) k.ptx("cp.async.commit_group", {});
  if (fault == Fault::EarlySourceWrite) k.store(in, {k.tid()}, k.real(DType::Float32, 0));
  if (fault != Fault::NoWait) k.ptx("cp.async.wait_group", {value(k.n(0))});
  k.sync();
  k.store(out, {k.tid()}, k.at(s, {k.tid()}));
  return k.run({count_to(64), {}});
}

TEST(EvalAsync, ACopyArrivesWhenAllHaveWaited) {
  const Outcome good = async_copy(Fault::None);
  EXPECT_EQ(good.checks(), "") << good.text();
  EXPECT_EQ(good.arrays[1], count_to(64));
  EXPECT_THAT(async_copy(Fault::NoWait).checks(), HasSubstr("async"));
  EXPECT_THAT(async_copy(Fault::NoCommit).checks(), HasSubstr("async"));
  EXPECT_THAT(async_copy(Fault::EarlySourceWrite).text(),
              HasSubstr("`in[0]` is written by thread 0 of CTA (0,0,0) while a copy from it"));
}

// Threads read what others will copy to; a barrier follows the start of the copies, and one may
// precede it.
Outcome refill(bool is_tile, bool has_barrier, double value_of_in) {
  TestKernel k;
  const BufferId in = k.matched("in", {64}, DType::Float32);
  const BufferId out = k.matched("out", {64}, DType::Float32);
  k.start(64);
  const BufferId s = k.alloc("s", {64}, DType::Float32, Scope::Shared);
  k.store(s, {k.tid()}, k.real(DType::Float32, 1));
  k.sync();
  k.store(out, {k.tid()}, k.at(s, {k.op(ExprOp::Sub, k.n(63), k.tid())}));
  if (has_barrier) k.sync();
  if (is_tile)
    k.tile(TileOp::CopyAsync, Unit::Cta, {k.full(s), k.full(in)});
  else
    k.ptx("cp.async.ca.shared.global",
          {mem(k.address(s, {k.tid()})), mem(k.address(in, {k.tid()})), value(k.n(4))});
  k.ptx("cp.async.commit_group", {});
  k.sync();
  k.ptx("cp.async.wait_group", {value(k.n(0))});
  k.sync();
  k.store(out, {k.tid()}, k.at(s, {k.tid()}));
  return k.run({Numbers(64, value_of_in), {}});
}

// cp.async with a predicate writes zeros where it holds, and copies all elsewhere.
TEST(EvalAsync, APredicateIgnoresTheSource) {
  TestKernel k;
  const BufferId in = k.matched("in", {32}, DType::Float32);
  const BufferId out = k.matched("out", {32}, DType::Float32);
  k.start(32);
  const BufferId s = k.alloc("s", {32}, DType::Float32, Scope::Shared);
  k.ptx("cp.async.ca.shared.global",
        {mem(k.address(s, {k.tid()})),
         mem(k.address(in, {k.tid()})),
         value(k.n(4)),
         {.kind = ir::PtxOperandKind::Predicate, .expr = k.lt(k.tid(), 8)}});
  k.ptx("cp.async.wait_all", {});
  k.store(out, {k.tid()}, k.at(s, {k.tid()}));
  Numbers wanted(32, 3);
  std::fill_n(wanted.begin(), 8, 0);
  const Outcome outcome = k.run({Numbers(32, 3), {}});
  EXPECT_EQ(outcome.checks(), "") << outcome.text();
  EXPECT_EQ(outcome.arrays[1], wanted);
}

TEST(EvalAsync, APlaceIsFreeWhenTheCopyStarts) {
  for (const bool is_tile : {false, true}) {
    EXPECT_EQ(refill(is_tile, true, 2).checks(), "") << refill(is_tile, true, 2).text();
    EXPECT_EQ(refill(is_tile, true, 2).arrays[1], Numbers(64, 2));
    EXPECT_EQ(refill(is_tile, false, 2).checks(), "race");
    EXPECT_THAT(refill(is_tile, false, 2).text(), HasSubstr("read by thread"));
    // A copy of what is there already writes it all the same.
    EXPECT_EQ(refill(is_tile, false, 1).checks(), "race");
    EXPECT_EQ(refill(is_tile, true, 1).checks(), "");
  }
}

TEST(EvalAsync, GroupsArriveInOrder) {
  TestKernel k;
  const BufferId in = k.matched("in", {2, 4}, DType::Float32);
  const BufferId out = k.matched("out", {4}, DType::Float32);
  k.start(1);
  const BufferId s = k.alloc("s", {2, 4}, DType::Float32, Scope::Shared);
  for (int g = 0; g < 2; ++g) {
    k.ptx("cp.async.cg.shared.global", {mem(k.address(s, {k.n(g), k.n(0)})),
                                        mem(k.address(in, {k.n(g), k.n(0)})), value(k.n(16))});
    k.ptx("cp.async.commit_group", {});
  }
  k.ptx("cp.async.wait_group", {value(k.n(1))});
  k.store(out, {k.n(1)}, k.at(s, {k.n(0), k.n(1)}));
  k.ptx("cp.async.wait_all", {});
  k.store(out, {k.n(2)}, k.at(s, {k.n(1), k.n(2)}));
  const Outcome o = k.run({count_to(8), {}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[1][1], 1);
  EXPECT_EQ(o.arrays[1][2], 6);
}

// --- tensor memory ---

enum class TensorFault { None, NoAlloc, NoFree, NoStoreWait, NoLoadWait };

Outcome tensor_round_trip(TensorFault fault) {
  TestKernel k;
  const BufferId in = k.matched("in", {128, 4}, DType::Float32);
  const BufferId out = k.matched("out", {128, 4}, DType::Float32);
  k.start(128);
  const BufferId addr = k.alloc("addr", {1}, DType::Uint32, Scope::Shared);
  k.when(k.lt(k.tid(), 32));
  if (fault == TensorFault::NoAlloc) {
    k.store(addr, {k.n(0)}, k.u32(0));
  } else {
    k.ptx("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
          {mem(k.address(addr, {k.n(0)})), value(k.u32(32))});
  }
  k.end();
  k.sync();
  ir::Buffer t =
      k.buffer("t", {128, 4}, DType::Float32, Scope::Tmem, "S[(128,4):(1@TLane,1@TCol)]");
  t.allocated_addr = k.at(addr, {k.n(0)});
  const BufferId tmem = k.declare(std::move(t));
  const BufferId r =
      k.alloc("r", {128, 4}, DType::Float32, Scope::Local, "S[(128,4):(1@tid_in_wg,1)]");
  k.tile(TileOp::Copy, Unit::Warpgroup, {k.full(r), k.full(in)});
  k.tile(TileOp::CopyAsync, Unit::Warpgroup, {k.full(tmem), k.full(r)});
  if (fault != TensorFault::NoStoreWait) k.ptx("tcgen05.wait::st.sync.aligned", {});
  // Back with the instruction: four registers of each lane.
  const BufferId w = k.alloc("w", {4}, DType::Float32, Scope::Local);
  const auto word = [&](std::int64_t i) { return value(k.at(w, {k.n(i)})); };
  k.ptx("tcgen05.ld.sync.aligned.32x32b.x4.b32",
        {word(0), word(1), word(2), word(3), mem(k.at(addr, {k.n(0)}))});
  if (fault != TensorFault::NoLoadWait) k.ptx("tcgen05.wait::ld.sync.aligned", {});
  const ir::VarId i = k.loop("i", 4);
  k.store(out, {k.tid(), k.var(i)}, k.at(w, {k.var(i)}));
  k.end();
  k.sync();
  if (fault != TensorFault::NoFree && fault != TensorFault::NoAlloc) {
    k.when(k.lt(k.tid(), 32));
    k.ptx("tcgen05.dealloc.cta_group::1.sync.aligned.b32",
          {value(k.at(addr, {k.n(0)})), value(k.u32(32))});
    k.end();
  }
  return k.run({count_to(512), {}});
}

TEST(EvalTensor, RoundTripAndItsFaults) {
  const Outcome good = tensor_round_trip(TensorFault::None);
  EXPECT_EQ(good.checks(), "") << good.text();
  EXPECT_EQ(good.arrays[1], count_to(512));
  EXPECT_THAT(tensor_round_trip(TensorFault::NoAlloc).checks(), HasSubstr("tensor"));
  EXPECT_EQ(tensor_round_trip(TensorFault::NoFree).checks(), "tensor");
  EXPECT_THAT(tensor_round_trip(TensorFault::NoStoreWait).checks(), HasSubstr("async"));
  EXPECT_THAT(tensor_round_trip(TensorFault::NoLoadWait).checks(), HasSubstr("async"));
}

// --- instructions ---

TEST(EvalPtx, MatrixLoadsFillFragments) {
  for (const bool transposed : {false, true}) {
    TestKernel k;
    const BufferId out = k.matched("out", {32, 4}, DType::Float16);
    k.start(32);
    const BufferId s = k.alloc("s", {16, 8}, DType::Float16, Scope::Shared);
    const BufferId r = k.alloc("r", {4}, DType::Float16, Scope::Local);
    const ir::VarId i = k.loop("i", 4);
    const ExprId at = k.add(k.mul(k.tid(), k.n(4)), k.var(i));
    k.store(s, {k.div(at, 8), k.mod(at, 8)}, k.to(DType::Float16, at));
    k.end();
    k.sync();
    k.ptx(transposed ? "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"
                     : "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
          {reg_at(k.address(r, {k.n(0)})), reg_at(k.address(r, {k.n(2)})),
           mem(k.address(s, {k.mod(k.tid(), 16), k.n(0)}))});
    k.tile(TileOp::Copy, Unit::Thread, {k.part(out, {{k.tid(), 1}, {k.n(0), 4}}), k.full(r)});
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), "") << o.text();
    // Lane 5, register 1, upper half: row 1, column 3 of matrix 1.
    EXPECT_EQ(o.arrays[0][5 * 4 + 3], transposed ? 64 + 3 * 8 + 1 : 64 + 8 + 3);
  }
}

TEST(EvalPtx, MatrixStoresMirrorLoads) {
  TestKernel k;
  const BufferId out = k.matched("out", {8, 8}, DType::Float16);
  k.start(32);
  const BufferId s = k.alloc("s", {8, 8}, DType::Float16, Scope::Shared);
  const BufferId r = k.alloc("r", {2}, DType::Float16, Scope::Local);
  const ir::VarId i = k.loop("i", 2);
  k.store(r, {k.var(i)}, k.to(DType::Float16, k.add(k.mul(k.tid(), k.n(2)), k.var(i))));
  k.end();
  k.ptx("stmatrix.sync.aligned.m8n8.x1.shared.b16",
        {mem(k.address(s, {k.mod(k.tid(), 8), k.n(0)})), reg_at(k.address(r, {k.n(0)}))});
  k.sync();
  k.tile(TileOp::Copy, Unit::Warp, {k.full(out), k.full(s)});
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[0], count_to(64));
}

TEST(EvalPtx, MatrixMultiply) {
  // The same as the primitive: A, B and D in fragments.
  TestKernel k;
  const BufferId a = k.matched("A", {16, 16}, DType::Float16);
  const BufferId b = k.matched("B", {16, 8}, DType::Float16);
  const BufferId d = k.matched("D", {16, 8}, DType::Float32);
  k.start(32);
  const BufferId af = k.alloc("Af", {16, 16}, DType::Float16, Scope::Local,
                              "S[(2,8,2,4,2):(2,4@laneid,4,1@laneid,1)]");
  const BufferId bf =
      k.alloc("Bf", {16, 8}, DType::Float16, Scope::Local, "S[(2,4,2,8):(2,1@laneid,1,4@laneid)]");
  const BufferId df =
      k.alloc("Df", {16, 8}, DType::Float32, Scope::Local, "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]");
  k.tile(TileOp::Copy, Unit::Warp, {k.full(af), k.full(a)});
  k.tile(TileOp::Copy, Unit::Warp, {k.full(bf), k.full(b)});
  k.tile(TileOp::Fill, Unit::Warp, {k.full(df), k.real(DType::Float32, 1)});
  const BufferId ar = k.view("ar", af, {8});
  const BufferId br = k.view("br", bf, {4});
  const BufferId dr = k.view("dr", df, {4});
  std::vector<ir::PtxOperand> operands;
  for (int i = 0; i < 4; ++i) operands.push_back(value(k.at(dr, {k.n(i)})));
  for (int i = 0; i < 4; ++i) operands.push_back(reg_at(k.address(ar, {k.n(2 * i)})));
  for (int i = 0; i < 2; ++i) operands.push_back(reg_at(k.address(br, {k.n(2 * i)})));
  for (int i = 0; i < 4; ++i) operands.push_back(value(k.at(dr, {k.n(i)})));
  k.ptx("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", operands);
  k.tile(TileOp::Copy, Unit::Warp, {k.full(d), k.full(df)});
  Numbers x;
  Numbers y;
  for (std::size_t i = 0; i < 256; ++i) x.push_back(static_cast<double>(i % 7));
  for (std::size_t i = 0; i < 128; ++i) y.push_back(static_cast<double>(i % 5) - 2);
  const Outcome o = k.run({x, y, {}});
  EXPECT_EQ(o.checks(), "") << o.text();
  for (std::size_t m = 0; m < 16; ++m)
    for (std::size_t n = 0; n < 8; ++n) {
      double sum = 1;
      for (std::size_t l = 0; l < 16; ++l) sum += x[m * 16 + l] * y[l * 8 + n];
      EXPECT_EQ(o.arrays[2][m * 8 + n], sum);
    }
}

TEST(EvalPtx, VectorLoadsAndStoresWithPredicates) {
  TestKernel k;
  const BufferId in = k.matched("in", {4, 4}, DType::Float32);
  const BufferId out = k.matched("out", {4, 4}, DType::Float32);
  k.start(4);
  const BufferId r = k.alloc("r", {4}, DType::Float32, Scope::Local);
  const auto word = [&](std::int64_t i) { return value(k.at(r, {k.n(i)})); };
  k.ptx("ld.global.v4.f32",
        {word(0), word(1), word(2), word(3), mem(k.address(in, {k.tid(), k.n(0)}))});
  const ir::PtxCallId store = k.ptx("st.global.v4.f32", {mem(k.address(out, {k.tid(), k.n(0)})),
                                                         word(3), word(2), word(1), word(0)});
  k.f.ptx_calls[store.index].predicate = k.lt(k.tid(), 2);
  const Outcome o = k.run({count_to(16), Numbers(16, -1)});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(Numbers(o.arrays[1].begin(), o.arrays[1].begin() + 10),
            (Numbers{3, 2, 1, 0, 7, 6, 5, 4, -1, -1}));
}

TEST(EvalPtx, SharedAddressesAreNumbersToo) {
  TestKernel k;
  const BufferId out = k.matched("out", {32}, DType::Uint32);
  k.start(32);
  const BufferId s = k.alloc("s", {32}, DType::Uint32, Scope::Shared);
  const BufferId r = k.alloc("r", {1}, DType::Uint32, Scope::Local);
  const ExprId at = k.add(k.call(Intrinsic::CvtaToShared, {k.address(s, {k.n(0)})}),
                          k.to(DType::Uint32, k.mul(k.tid(), k.n(4))));
  k.ptx("st.shared.u32", {mem(k.to(DType::Uint32, at)), value(k.to(DType::Uint32, k.tid()))});
  k.ptx("ld.shared.u32", {value(k.at(r, {k.n(0)})), mem(k.to(DType::Uint32, at))});
  k.store(out, {k.tid()}, k.at(r, {k.n(0)}));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[0], count_to(32));
}

TEST(EvalPtx, BytesAreCopied) {
  TestKernel k;
  const BufferId in = k.matched("in", {8}, DType::Float16);
  const BufferId out = k.matched("out", {8}, DType::Float16);
  k.start(1);
  k.evaluate(
      k.call(Intrinsic::CopyBytes, {k.address(out, {k.n(0)}), k.address(in, {k.n(0)}), k.n(16)}));
  EXPECT_EQ(k.run({count_to(8), {}}).arrays[1], count_to(8));
}

}  // namespace
}  // namespace ww::eval::test::exchange_test
