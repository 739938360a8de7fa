// SPDX-License-Identifier: Apache-2.0
// Which loads are trusted to give one value, and which are not; each of the latter is a program
// that would hang or compute something else if it were.
#include "ir/launch/memory_units.h"

#include <gtest/gtest.h>

#include "ir/launch/active_set.h"
#include "ir/test_programs.h"

namespace ww::ir::memory_units_test {
namespace {

using num::DType;
using test::Builder;

// A kernel of 128 threads in 4 CTAs, with lengths in global memory and a slot in shared memory.
class Loads : public testing::Test, public Builder {
 protected:
  Loads() {
    lens = matched("lens", {4}, DType::Int32);
    cta = var(id(ScopeIdKind::CtaId, "cta", 4));
    tid = var(id(ScopeIdKind::ThreadId, "tid", 128));
    slot = alloc("slot", {4}, DType::Int32, Scope::Shared);
  }

  ExprId less(ExprId a, ExprId b) { return op(ExprOp::Lt, a, b); }
  ExprId read_slot() { return at(slot, {n(0)}); }
  void write_slot() {
    when(op(ExprOp::Eq, tid, n(0)));
    store(slot, {n(0)}, at(lens, {cta}));
    end();
  }
  void sync_warp() { evaluate(call(Intrinsic::WarpSync, {})); }
  // How the threads come to a statement under a condition that stands here.
  StmtId under(ExprId condition_expr) {
    when(condition_expr);
    const StmtId inside = stmt({.kind = StmtKind::Evaluate, .expr = n(0)});
    end();
    return inside;
  }
  Unit granule(StmtId stmt) {
    const Function whole = done();
    return ActiveSets::of(whole, launch_shape(whole).value())[stmt].granule;
  }

  BufferId lens, slot;
  ExprId cta, tid;
};

TEST_F(Loads, GlobalMemoryThatIsOnlyRead) {
  EXPECT_EQ(granule(under(less(at(lens, {cta}), n(3)))), Unit::Cta);
}

TEST_F(Loads, GlobalMemoryThatIsWrittenAnywhere) {
  const StmtId inside = under(less(at(lens, {cta}), n(3)));
  sync();
  store(lens, {n(0)}, n(1));
  EXPECT_EQ(granule(inside), Unit::Thread);
}

TEST_F(Loads, GlobalMemoryThatAPointerLeadsTo) {
  const StmtId inside = under(less(at(lens, {cta}), n(3)));
  bind("old", call(Intrinsic::AtomicAdd, {address(lens, {n(0)}), n(1)}));
  EXPECT_EQ(granule(inside), Unit::Thread);
}

TEST_F(Loads, SharedMemoryBetweenBarriers) {
  write_slot();
  sync();
  const StmtId inside = under(less(read_slot(), n(3)));
  EXPECT_EQ(granule(inside), Unit::Cta);
}

TEST_F(Loads, SharedMemoryWithoutABarrierAfterTheWrite) {
  write_slot();
  EXPECT_EQ(granule(under(less(read_slot(), n(3)))), Unit::Thread);
}

TEST_F(Loads, SharedMemoryWithoutABarrierBeforeTheNextWrite) {
  write_slot();
  sync();
  const StmtId inside = under(less(read_slot(), n(3)));
  write_slot();
  EXPECT_EQ(granule(inside), Unit::Thread);
}

TEST_F(Loads, ABarrierOfAWarpOrdersWarps) {
  write_slot();
  sync_warp();
  EXPECT_EQ(granule(under(less(read_slot(), n(3)))), Unit::Warp);
}

TEST_F(Loads, ABarrierThatPartOfTheUnitReachesDoesNotCount) {
  write_slot();
  when(less(tid, n(64)));
  sync();
  end();
  EXPECT_EQ(granule(under(less(read_slot(), n(3)))), Unit::Thread);
}

TEST_F(Loads, ABarrierOnOneOfTwoWaysDoesNotCount) {
  write_slot();
  when(less(cta, n(2)));
  sync();
  end();
  EXPECT_EQ(granule(under(less(read_slot(), n(3)))), Unit::Thread);
}

TEST_F(Loads, TheWriteOfTheNextRound) {
  for (const bool has_second : {true, false}) {
    loop("i", 4);
    write_slot();
    sync();
    const StmtId inside = under(less(read_slot(), n(3)));
    if (has_second) sync();
    end();
    sync();
    EXPECT_EQ(granule(inside), has_second ? Unit::Cta : Unit::Thread);
  }
}

TEST_F(Loads, AContinueGoesRoundTheBarrier) {
  loop("i", 4);
  write_slot();
  sync();
  const StmtId inside = under(less(read_slot(), n(3)));
  when(less(cta, n(2)));
  stmt({.kind = StmtKind::Continue});
  end();
  sync();
  end();
  EXPECT_EQ(granule(inside), Unit::Thread);
}

TEST_F(Loads, AtomicsWriteWhereTheyStand) {
  evaluate(call(Intrinsic::AtomicAdd, {address(slot, {n(0)}), n(1)}));
  sync();
  EXPECT_EQ(granule(under(less(read_slot(), n(3)))), Unit::Cta);
}

TEST_F(Loads, APointerThatIsKeptWritesAnytime) {
  bind("pointer", address(slot, {n(0)}));
  sync();
  EXPECT_EQ(granule(under(less(read_slot(), n(3)))), Unit::Thread);
}

TEST_F(Loads, PiecesOfAPoolDoNotMeet) {
  const BufferId pool = alloc("pool", {64}, DType::Int32, Scope::SharedDyn);
  const auto piece = [&](const char* name, std::int64_t offset) {
    Buffer b = buffer(name, {16}, DType::Int32, Scope::SharedDyn);
    b.origin = BufferOrigin::View;
    b.base = pool;
    b.byte_offset = n(offset);
    return declare(std::move(b));
  };
  const BufferId first = piece("first", 0);
  const BufferId beside = piece("beside", 64);
  const BufferId across = piece("across", 32);
  const StmtId alone = under(less(at(first, {n(0)}), n(3)));
  store(beside, {n(0)}, n(1));
  EXPECT_EQ(granule(alone), Unit::Cta);
  store(across, {n(0)}, n(1));
  EXPECT_EQ(granule(alone), Unit::Thread);
}

TEST_F(Loads, APromiseStandsForAProof) {
  const StmtId inside = under(less(call(Intrinsic::Uniform, {at(lens, {cta})}), n(3)));
  store(lens, {n(0)}, n(1));
  EXPECT_EQ(granule(inside), Unit::Cta);
  // Not more than it says: CTAs may differ.
  EXPECT_EQ(granule(under(less(call(Intrinsic::Uniform, {tid}), n(3)))), Unit::Cta);
  EXPECT_EQ(granule(under(less(call(Intrinsic::WarpUniform, {tid}), n(3)))), Unit::Warp);
  EXPECT_EQ(granule(under(less(call(Intrinsic::WarpUniform, {cta}), n(3)))), Unit::Cta);
}

TEST_F(Loads, AScalarKeptInStep) {
  const BufferId x = scalar("x", DType::Int32, n(0));
  Stmt loop_stmt{.kind = StmtKind::While, .expr = less(at(x, {n(0)}), at(lens, {cta}))};
  const StmtId inside = f.add(Stmt{.kind = StmtKind::Evaluate, .expr = n(0)});
  Stmt more{.kind = StmtKind::Store, .expr = add(at(x, {n(0)}), n(1)), .buffer = x};
  more.args = {n(0)};
  const StmtId step = f.add(std::move(more));
  loop_stmt.body = {inside, step};
  stmt(std::move(loop_stmt));
  EXPECT_EQ(granule(inside), Unit::Cta);
  // A fault: one thread goes on by more.
  when(op(ExprOp::Eq, tid, n(0)));
  store(x, {n(0)}, n(1));
  end();
  EXPECT_EQ(granule(inside), Unit::Thread);
}

TEST_F(Loads, AScalarThatWarpsSetIsOfWarps) {
  const BufferId x = scalar("x", DType::Int32, n(0));
  when(less(tid, n(64)));
  store(x, {n(0)}, at(lens, {cta}));
  end();
  EXPECT_EQ(granule(under(less(at(x, {n(0)}), n(3)))), Unit::Warp);
}

TEST_F(Loads, AScalarWhoseAddressIsTaken) {
  const BufferId x = scalar("x", DType::Int32, n(0));
  store(x, {n(0)}, n(1));
  bind("pointer", address(x, {n(0)}));
  EXPECT_EQ(granule(under(less(at(x, {n(0)}), n(3)))), Unit::Thread);
}

}  // namespace
}  // namespace ww::ir::memory_units_test
