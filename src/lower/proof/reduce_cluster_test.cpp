// SPDX-License-Identifier: Apache-2.0
// The proof of a reduction of a cluster: every CTA's shared memory holds what is expected there, and
// barriers of the CTA and of the cluster stand where they must.
#include <gtest/gtest.h>

#include "ir/print/print.h"
#include "lower/proof/test_reductions.h"

namespace ww::lower::proof_reduce_cluster_test {
namespace {

using ir::ExprId;
using ir::StmtId;
using ir::StmtKind;
using ir::TileOp;
using ir::Unit;
using num::DType;
using test::all_of;

using Case = test::ReductionCase;
using Under = test::ReductionUnderTest;

// An element in each of 2 x 64 threads, its sum in all of them.
Case row_of_ctas(TileOp op = TileOp::Sum, DType type = DType::Float32, bool may_repeat = false) {
  return {.op = op,
          .type = type,
          .unit = Unit::Cluster,
          .d_shape = {1},
          .a_shape = {128},
          .d = "S[1]",
          .a = "S[(2,64):(1@cbx,1@tx)]",
          .threads = 64,
          .cluster = 2,
          .may_repeat = may_repeat};
}

// Columns of a tile, each result in another CTA.
Case columns() {
  return {.unit = Unit::Cluster,
          .d_shape = {4},
          .a_shape = {256, 4},
          .d = "S[4:1@cbx]",
          .a = "S[(4,64,4):(1@cbx,1@tx,1)]",
          .threads = 64,
          .axis = 0,
          .cluster = 4};
}

// The same, made once: parts are sent, and waited for.
Case once(Case c) {
  c.may_repeat = c.is_in_loop = false;
  return c;
}

// By barriers of the cluster: first, behind the parts of warps, and of CTAs.
Case with_barriers(Case c) {
  c.has_workspace = true;
  return c;
}

// Results in CTAs 0 and 1, of four.
Case one_way() {
  Case out = columns();
  out.d_shape = {2};
  out.a_shape = {256, 2};
  out.d = "S[2:1@cbx]";
  out.a = "S[(4,64,2):(1@cbx,1@tx,1)]";
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> out = {once(row_of_ctas()),
                           once(columns()),
                           once(row_of_ctas(TileOp::Max, DType::Float64)),
                           row_of_ctas(),
                           row_of_ctas(TileOp::Max, DType::Int32, true),
                           row_of_ctas(TileOp::Prod, DType::Float64),
                           columns(),
                           with_barriers(columns()),
                           with_barriers(row_of_ctas()),
                           one_way()};
  out.push_back(row_of_ctas());
  out.back().accum = true;
  // Both CTAs have all elements, which count once.
  out.push_back(row_of_ctas());
  out.back().a_shape = {64};
  out.back().a = "S[64:1@tx] + R[2:1@cbx]";
  return out;
}

TEST(ProofReduceCluster, HoldsForWhatIsWritten) { test::expect_proven(cases()); }

// Every number that a store or a condition has: places in scratch memory, threads.
TEST(ProofReduceCluster, EveryChangedNumberIsCaught) {
  int planted = 0, alike = 0;
  for (const Case& c :
       {row_of_ctas(), once(row_of_ctas()), once(columns()), with_barriers(row_of_ctas())}) {
    Under under(c);
    for (const auto& place : test::number_places(under, [](StmtId) { return true; }))
      test::for_each_change(under.f, place, [&](ExprId, ExprId) {
        ++planted;
        alike += under.prove().holds() ? 1 : 0;
      });
  }
  EXPECT_GT(planted, 50);
  EXPECT_LE(alike * 4, planted);  // lanes that have the same part by then are as good
}

// What the proof says when the n-th barrier is left out.
std::string without_barrier(const Case& c, std::size_t n, std::size_t count) {
  Under under(c);
  const std::vector<StmtId> barriers = all_of(under, StmtKind::Evaluate);
  EXPECT_EQ(barriers.size(), count);
  under.code.erase(std::ranges::find(under.code, barriers.at(n)));
  const Proof proof = under.prove();
  return proof.difference + proof.could_not;
}

TEST(ProofReduceCluster, MissingBarriers) {
  const Case each = with_barriers(row_of_ctas());
  EXPECT_EQ(without_barrier(each, 1, 3),
            "thread 1 of the unit reads what thread 0 writes, without a barrier between");
  EXPECT_EQ(without_barrier(each, 2, 3),
            "thread 1 of the unit reads what thread 0 writes, without a barrier between");
  // A call that may be made again begins with a barrier of its own.
  EXPECT_EQ(without_barrier(each, 0, 3),
            "thread 0 of the unit writes what others may still read: no barrier is between");
  Case again = one_way();
  EXPECT_EQ(without_barrier(again, 0, 3),
            "thread 1 of the unit writes what others may still read: no barrier is between");
  again.may_repeat = false;
  EXPECT_EQ(without_barrier(again, 0, 2),
            "thread 1 of the unit reads what thread 0 writes, without a barrier between");
}

// A barrier of the CTA does not order what CTAs do.
TEST(ProofReduceCluster, BarrierOfTheCtaIsNotEnough) {
  Under under(with_barriers(row_of_ctas()));
  const std::vector<StmtId> barriers = all_of(under, StmtKind::Evaluate);
  ir::Expr cta = under.f[under.f[barriers[2]].expr];
  cta.callee = ir::Intrinsic::CtaSync;
  under.f.at(barriers[2]).expr = under.f.add(std::move(cta));
  EXPECT_EQ(under.prove().difference,
            "thread 64 of the unit reads what thread 1 writes, without a barrier between");
}

TEST(ProofReduceCluster, WrongRank) {
  Under under(with_barriers(row_of_ctas()));
  const std::vector<StmtId> calls = all_of(under, StmtKind::Ptx);
  ASSERT_EQ(calls.size(), 2U);
  ir::PtxCall& map = under.f.ptx_calls[under.f[calls[0]].ptx.index];
  const ExprId before = map.operands[2].expr;
  const auto prove_with = [&](ExprId rank) {
    map.operands[2].expr = rank;
    const Proof proof = under.prove();
    map.operands[2].expr = before;
    return proof.difference + proof.could_not;
  };
  // All into one CTA, two at a place; into one that there is none of.
  EXPECT_EQ(prove_with(ir::int_imm(under.f, DType::Uint32, 0)),
            "threads 0 and 1 of the unit write at the same place, without a barrier between");
  EXPECT_EQ(prove_with(ir::int_imm(under.f, DType::Uint32, 2)),
            "thread 0 of the unit writes to CTA 2 of the cluster, of 2");
  EXPECT_EQ(prove_with(before), "");
  // Every CTA's part at one place, behind those of two warps.
  ExprId& address = under.f.at(map.operands[1].expr).args[0];
  ASSERT_EQ(under.f[address].op, ir::ExprOp::AddressOf);
  under.f.at(address).args[0] = ir::int_imm(under.f, DType::Int32, 2);
  EXPECT_EQ(under.prove().difference,
            "threads 0 and 64 of the unit write at the same place, without a barrier between");
}

// What is sent must be counted where it goes, expected, and waited for.
TEST(ProofReduceCluster, FaultsOfSending) {
  Under under(once(row_of_ctas()));
  const std::vector<StmtId> calls = all_of(under, StmtKind::Ptx);
  ASSERT_EQ(calls.size(), 4U);  // arrival, two addresses, st.async
  const std::vector<StmtId> barriers = all_of(under, StmtKind::Evaluate);
  ASSERT_EQ(barriers.size(), 2U);  // of the CTA, and the wait
  const ir::Block whole = under.code;
  const auto without = [&](StmtId id) {
    std::erase(under.code, id);
    const std::string out = under.prove().difference;
    under.code = whole;
    return out;
  };
  const auto operand = [&](std::size_t call) -> ExprId& {
    return under.f.ptx_calls[under.f[calls[call]].ptx.index].operands[2].expr;
  };
  const auto prove_with = [&](ExprId& place, ExprId now) {
    const ExprId before = std::exchange(place, now);
    const std::string out = under.prove().difference;
    place = before;
    return out;
  };
  EXPECT_EQ(without(barriers[1]),
            "thread 0 of the unit reads what thread 0 sends, and does not wait for it");
  EXPECT_EQ(without(barriers[0]),
            "thread 1 of the unit reads what thread 0 writes, without a barrier between");
  EXPECT_EQ(prove_with(operand(0), ir::int_imm(under.f, DType::Uint32, 4)),
            "thread 0 of the unit waits for 4 bytes, and 8 are sent");
  EXPECT_EQ(prove_with(operand(2), ir::int_imm(under.f, DType::Uint32, 0)),
            "thread 1 of the unit sends to CTA 1 and signals CTA 0");
  ExprId& phase = under.f.at(under.f[barriers[1]].expr).args[1];
  EXPECT_EQ(prove_with(phase, ir::int_imm(under.f, DType::Int32, 1)),
            "thread 0 of the unit waits for parity 1 of an mbarrier, the phase has 0");
  // The arrival stands under a condition.
  const auto arrival = std::ranges::find_if(under.code, [&](StmtId id) {
    return under.f[id].kind == StmtKind::If && under.f[id].body[0] == calls[0];
  });
  ASSERT_NE(arrival, under.code.end());
  EXPECT_EQ(without(*arrival),
            "thread 0 of the unit waits at an mbarrier at which 0 threads arrive, expected 1");
  EXPECT_TRUE(under.prove().holds());
}

// A CTA that gets something and does not wait for it may have ended by then: the results are in CTAs 0
// and 1, and CTA 2 gets parts of them, too.
TEST(ProofReduceCluster, NobodyWaits) {
  Under under(once(one_way()));
  ASSERT_TRUE(under.prove().holds());
  const auto sends = [&](StmtId id) {
    return under.f[id].kind == StmtKind::If &&
           std::ranges::any_of(under.f[id].body, [&](StmtId each) {
             return under.f[each].kind == StmtKind::Ptx &&
                    under.f[under.f[each].ptx].opcode.mnemonic() == "st.async";
           });
  };
  const auto push = std::ranges::find_if(under.code, sends);
  ASSERT_NE(push, under.code.end());
  ir::Stmt again = under.f[*push];
  for (StmtId& id : again.body) {
    if (under.f[id].kind != StmtKind::Ptx) continue;
    ir::PtxCall call = under.f[under.f[id].ptx];
    if (call.opcode.mnemonic() != "mapa") continue;
    call.operands[2].expr = ir::int_imm(under.f, DType::Uint32, 2);
    ir::Stmt stmt = under.f[id];
    stmt.ptx = under.f.add(std::move(call));
    id = under.f.add(std::move(stmt));
  }
  under.code.insert(push, under.f.add(std::move(again)));
  EXPECT_EQ(under.prove().difference,
            "CTA 2 of the cluster gets 32 bytes and does not wait for them");
}

/// A call in a loop, with the variables of its turn.
struct Turns {
  Under under{row_of_ctas()};
  StmtId turn, half;

  Turns() {
    for (const StmtId id : all_of(under, StmtKind::Bind)) {
      const std::string& name = under.f[under.f[id].var].name;
      (name == "turn" ? turn : half) = id;
    }
  }
  ExprId n(std::int64_t value) { return ir::int_imm(under.f, DType::Int32, value); }
  std::string prove_with(ExprId& place, ExprId now) {
    const ExprId before = std::exchange(place, now);
    const Proof proof = under.prove();
    place = before;
    return proof.difference + proof.could_not;
  }
  /// The expression without the half.
  ExprId in_first_half(ExprId expr) {
    ir::Expr e = under.f[expr];
    if (e.op == ir::ExprOp::Var && e.var == under.f[half].var) return n(0);
    if (e.args.empty()) return expr;
    for (ExprId& arg : e.args) arg = in_first_half(arg);
    return under.f.add(std::move(e));
  }
};

// Calls in a loop take turns: with wrong parities, halves and counts, later ones go wrong.
TEST(ProofReduceCluster, FaultsOfTurns) {
  Turns at;
  ir::Function& f = at.under.f;
  ASSERT_TRUE(at.under.prove().holds());
  const std::vector<StmtId> waits = all_of(at.under, StmtKind::Evaluate);
  ASSERT_EQ(waits.size(), 2U);
  ExprId& parity = f.at(f[waits[1]].expr).args[1];
  EXPECT_EQ(at.prove_with(parity, at.n(0)),
            "thread 0 of the unit waits for parity 0 of an mbarrier, the phase has 1");
  ExprId& mbarrier = f.at(f.at(f[waits[1]].expr).args[0]).args[0];
  EXPECT_EQ(at.prove_with(mbarrier, at.n(0)),
            "thread 0 of the unit reads what thread 0 sends, and does not wait for it");
  EXPECT_EQ(at.prove_with(f.at(at.half).expr, at.n(0)),
            "thread 0 of the unit writes what others may still read: no barrier is between");
  // A call that is not counted is the first one again.
  const StmtId count = at.under.code.back();
  ASSERT_EQ(f[count].kind, StmtKind::Store);
  at.under.code.pop_back();
  EXPECT_EQ(at.under.prove().difference,
            "thread 0 of the unit writes what others may still read: no barrier is between");
  at.under.code.push_back(count);
  EXPECT_TRUE(at.under.prove().holds());
}

// What a CTA receives is used again too early, though everything is waited for.
TEST(ProofReduceCluster, ReceivedPartsInOneHalf) {
  Turns at;
  ir::Function& f = at.under.f;
  const auto count = static_cast<std::uint32_t>(f.expr_count());
  for (std::uint32_t i = 0; i < count; ++i) {
    const ir::Expr& e = f[ExprId{i}];
    const bool is_place = e.op == ir::ExprOp::Load || e.op == ir::ExprOp::AddressOf;
    if (!is_place || !e.buffer.valid() || f[e.buffer].name != "received") continue;
    const ExprId index = at.in_first_half(e.args[0]);
    f.at(ExprId{i}).args[0] = index;
  }
  EXPECT_EQ(at.under.prove().difference,
            "thread 1 of the unit writes what others may still read: no barrier is between");
}

TEST(ProofReduceCluster, PartsTwiceOrNotAtAll) {
  Case four = once(row_of_ctas());
  four.a = "S[(4,32):(1@cbx,1@tx)]";
  four.threads = 32;
  four.cluster = 4;
  Under under(four);
  const ir::Block whole = under.code;
  // The last statements are the sum of the parts of all CTAs.
  const auto last = std::ranges::find_if(under.code.rbegin(), under.code.rend(), [&](StmtId id) {
    return under.f[id].kind == StmtKind::For;
  });
  ASSERT_NE(last, under.code.rend());
  under.code.insert(last.base(), *last);
  EXPECT_EQ(under.prove().difference,
            "element 0 of the destination in thread 0 of the unit has 224 elements folded into it, "
            "expected 128");
  under.code = whole;
  std::erase(under.code,
             *std::ranges::find_if(under.code.rbegin(), under.code.rend(),
                                   [&](StmtId id) { return under.f[id].kind == StmtKind::For; }));
  EXPECT_EQ(under.prove().difference,
            "element 0 of the destination in thread 0 of the unit has 32 elements folded into it, "
            "expected 128");
}

}  // namespace
}  // namespace ww::lower::proof_reduce_cluster_test
