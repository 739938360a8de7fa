// SPDX-License-Identifier: Apache-2.0
// Copies from shared to tensor memory, which the tensor core makes when it likes.
#include "eval/test_kernel.h"

namespace ww::eval::test::tensor_copy_test {
namespace {

using ir::test::mem;
using ir::test::value;
using testing::HasSubstr;

constexpr std::string_view kCommit =
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64";

/// 128 threads; in (128, 4) goes to shared memory, from there to tensor memory by thread 0, and as
/// registers to out.
class Through : public TestKernel {
 public:
  BufferId in, out, shared, tensor, addr, bar;

  explicit Through(DType type = DType::Float32) {
    in = matched("in", {128, 4}, DType::Float32);
    out = matched("out", {128, 4}, DType::Float32);
    start(128);
    addr = alloc("addr", {1}, DType::Uint32, Scope::Shared);
    bar = alloc("bar", {2}, DType::Uint64, Scope::Shared);
    shared = alloc("shared", {128, 4}, DType::Float32, Scope::Shared);
    when(lt(tid(), 32));
    ptx("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        {mem(address(addr, {n(0)})), value(u32(32))});
    end();
    when(eq(tid(), 0));
    for (const int i : {0, 1}) ptx("mbarrier.init.shared.b64", {barrier(i), value(u32(1))});
    end();
    tile(TileOp::Copy, Unit::Cta, {full(shared), full(in)});
    sync();
    ir::Buffer t = buffer("tensor", {128, 4}, type, Scope::Tmem, "S[(128,4):(1@TLane,1@TCol)]");
    t.allocated_addr = at(addr, {n(0)});
    tensor = declare(std::move(t));
  }

  ir::PtxOperand barrier(std::int64_t i) { return mem(address(bar, {n(i)})); }
  void commit(std::int64_t i = 0) { ptx(std::string(kCommit), {barrier(i)}); }
  void wait(std::int64_t i = 0) {
    evaluate(call(Intrinsic::MbarrierWait, {address(bar, {n(i)}), n(0)}));
  }
  void copy() { tile(TileOp::CopyAsync, Unit::Thread, {full(tensor), full(shared)}); }
  void load() {
    const BufferId w = alloc("w", {4}, DType::Float32, Scope::Local);
    const auto word = [&](std::int64_t i) { return value(at(w, {n(i)})); };
    ptx("tcgen05.ld.sync.aligned.32x32b.x4.b32",
        {word(0), word(1), word(2), word(3), mem(at(addr, {n(0)}))});
    ptx("tcgen05.wait::ld.sync.aligned", {});
    const ir::VarId i = loop("i", 4);
    store(out, {tid(), var(i)}, at(w, {var(i)}));
    end();
  }
  Outcome finish() {
    sync();
    when(lt(tid(), 32));
    ptx("tcgen05.dealloc.cta_group::1.sync.aligned.b32", {value(at(addr, {n(0)})), value(u32(32))});
    end();
    return run({count_to(512), {}});
  }
};

enum class CopyFault {
  None,
  NoCommit,
  NoWait,
  EarlyCommit,
  EarlySourceWrite,
  WrongBarrier,
  NoBarrier
};

Outcome copied(CopyFault fault, DType type = DType::Float32) {
  Through k(type);
  k.when(k.eq(k.tid(), 0));
  if (fault == CopyFault::EarlyCommit) k.commit();
  k.copy();
  if (fault == CopyFault::NoBarrier) k.ptx("mbarrier.inval.shared.b64", {k.barrier(0)});
  if (fault != CopyFault::NoCommit && fault != CopyFault::EarlyCommit)
    k.commit(fault == CopyFault::WrongBarrier ? 1 : 0);
  k.end();
  const bool waits = fault == CopyFault::None || fault == CopyFault::EarlySourceWrite ||
                     fault == CopyFault::EarlyCommit || fault == CopyFault::WrongBarrier;
  if (fault == CopyFault::EarlySourceWrite)
    k.store(k.shared, {k.tid(), k.n(0)}, k.real(DType::Float32, 0));
  if (waits) k.wait();
  k.load();
  return k.finish();
}

TEST(EvalTensorCopy, ArrivesWhenTheBarrierOfACommitIsWaitedFor) {
  const Outcome good = copied(CopyFault::None);
  EXPECT_EQ(good.checks(), "") << good.text();
  EXPECT_EQ(good.arrays[1], count_to(512));
}

// Elements of another type and the same width are the same bits.
TEST(EvalTensorCopy, CopiesByWidth) {
  const Outcome good = copied(CopyFault::None, DType::Uint32);
  EXPECT_EQ(good.checks(), "") << good.text();
  EXPECT_EQ(good.arrays[1], count_to(512));
}

TEST(EvalTensorCopy, Faults) {
  EXPECT_THAT(copied(CopyFault::NoCommit).text(), HasSubstr("is read by"));
  EXPECT_THAT(copied(CopyFault::NoWait).text(), HasSubstr("while a copy into it is under way"));
  EXPECT_THAT(copied(CopyFault::EarlyCommit).text(),
              HasSubstr("while a copy into it is under way"));
  EXPECT_THAT(copied(CopyFault::EarlySourceWrite).text(),
              HasSubstr("while a copy from it is under way"));
  EXPECT_THAT(copied(CopyFault::WrongBarrier).checks(), HasSubstr("barrier"));
  EXPECT_THAT(copied(CopyFault::NoBarrier).text(), HasSubstr("mbarrier"));
}

TEST(EvalTensorCopy, NobodyWaits) {
  Through k;
  k.when(k.eq(k.tid(), 0));
  k.copy();
  k.commit();
  k.end();
  EXPECT_THAT(k.finish().text(), HasSubstr("the kernel ends before anybody of"));
}

// Every thread starts it.
TEST(EvalTensorCopy, ByMoreThanOneThread) {
  Through k;
  k.when(k.lt(k.tid(), 2));
  k.copy();
  k.end();
  EXPECT_THAT(k.finish().text(), HasSubstr("another copy there is under way"));
}

// The second one is made behind the first; a later commit is for both.
TEST(EvalTensorCopy, OfOneThreadAreInOrder) {
  Through k;
  const BufferId twice = k.alloc("twice", {128, 4}, DType::Float32, Scope::Shared);
  const ir::VarId i = k.loop("i", 4);
  k.store(twice, {k.tid(), k.var(i)},
          k.mul(k.at(k.in, {k.tid(), k.var(i)}), k.real(DType::Float32, 2)));
  k.end();
  k.sync();
  k.when(k.eq(k.tid(), 0));
  k.copy();
  k.commit(1);
  k.tile(TileOp::CopyAsync, Unit::Thread, {k.full(k.tensor), k.full(twice)});
  k.commit(0);
  k.end();
  k.wait(0);
  k.load();
  const Outcome good = k.finish();
  EXPECT_EQ(good.checks(), "") << good.text();
  EXPECT_EQ(good.arrays[1], count_to(512, 0, 2));
}

TEST(EvalTensorCopy, OfAWholeWarpIsNotEvaluated) {
  Through k;
  k.when(k.lt(k.tid(), 32));
  k.tile(TileOp::CopyAsync, Unit::Warp, {k.full(k.tensor), k.full(k.shared)});
  k.end();
  const auto out = k.try_run({count_to(512), {}});
  ASSERT_FALSE(out.has_value());
  EXPECT_THAT(out.error().text, HasSubstr("from shared to tmem by warp 0"));
}

// --- the instruction ---

// Rows of 16 bytes without a swizzle, 8 of them together.
Outcome by_descriptor(std::uint64_t fields, std::string_view shape) {
  Through k;
  k.when(k.eq(k.tid(), 0));
  const ExprId window = k.call(Intrinsic::CvtaToShared, {k.address(k.shared, {k.n(0), k.n(0)})});
  const ExprId start = k.to(DType::Uint64, k.op(ExprOp::Shr, window, k.u32(4)));
  const ExprId desc = k.op(ExprOp::BitOr, start,
                           ir::int_imm(k.f, DType::Uint64, static_cast<std::int64_t>(fields)));
  k.ptx(fmt::format("tcgen05.cp.cta_group::1.{}", shape),
        {mem(k.at(k.addr, {k.n(0)})), value(desc)});
  k.commit();
  k.end();
  k.wait();
  k.load();
  return k.finish();
}

constexpr std::uint64_t stride(std::uint64_t bytes) {
  return bytes / 16 << 32 | std::uint64_t{1} << 46;
}

TEST(EvalTensorCopy, Instruction) {
  const Outcome whole = by_descriptor(stride(128), "128x128b");
  EXPECT_EQ(whole.checks(), "") << whole.text();
  EXPECT_EQ(whole.arrays[1], count_to(512));
  const auto row_in = [](const Outcome& o, std::size_t lane) { return o.arrays[1][lane * 4] / 4; };
  const Outcome four = by_descriptor(stride(128), "32x128b.warpx4");
  const Outcome apart = by_descriptor(stride(128), "64x128b.warpx2::02_13");
  const Outcome beside = by_descriptor(stride(128), "64x128b.warpx2::01_23");
  for (std::size_t lane = 0; lane < 128; ++lane) {
    EXPECT_EQ(row_in(four, lane), lane % 32);
    EXPECT_EQ(row_in(apart, lane), lane % 64);
    EXPECT_EQ(row_in(beside, lane), lane / 64 * 32 + lane % 32);
  }
  // Groups of 8 rows in another order.
  const Outcome skips = by_descriptor(stride(256), "64x128b.warpx2::02_13");
  EXPECT_EQ(row_in(skips, 8), 16);
  EXPECT_EQ(row_in(skips, 63), 119);
}

TEST(EvalTensorCopy, InstructionReadsBeyondTheEnd) {
  EXPECT_EQ(by_descriptor(stride(1024), "128x128b").checks().substr(0, 6), "bounds");
}

}  // namespace
}  // namespace ww::eval::test::tensor_copy_test
