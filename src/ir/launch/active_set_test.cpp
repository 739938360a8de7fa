// SPDX-License-Identifier: Apache-2.0
// What must come out word by word; that it is right for all programs is a property test.
#include "ir/launch/active_set.h"

#include <gtest/gtest.h>

#include <functional>

#include "ir/test_programs.h"

namespace ww::ir::launch_active_set_test {
namespace {

using num::DType;
using test::Builder;

// A kernel of 256 threads in 4 CTAs, with the usual ids.
class Sets : public testing::Test, public Builder {
 protected:
  Sets() {
    count = param("count", Type::of(DType::Int32));
    memory = matched("M", {4}, DType::Int32);
    cta = var(id(ScopeIdKind::CtaId, "cta", 4));
    tid = var(id(ScopeIdKind::ThreadId, "tid", 256));
    warp = var(id(ScopeIdKind::WarpId, "warp", 8));
    lane = var(id(ScopeIdKind::LaneId, "lane", 32));
  }

  StmtId mark() { return stmt({.kind = StmtKind::Evaluate, .expr = n(0)}); }
  void leave(StmtKind kind) { stmt({.kind = kind}); }
  ExprId is(ExprOp kind, ExprId a, std::int64_t b) { return op(kind, a, n(b)); }
  ExprId both(ExprId a, ExprId b) { return op(ExprOp::And, a, b); }
  ExprId either(ExprId a, ExprId b) { return op(ExprOp::Or, a, b); }
  ExprId no(ExprId a) { return unary(f, ExprOp::Not, {.expr = a}).value(); }
  ExprId elect() { return condition(f, call(Intrinsic::ElectSync, {})).value(); }
  ExprId uniform() { return is(ExprOp::Gt, var(count), 3); }
  ExprId from_memory() { return is(ExprOp::Gt, at(memory, {mod(tid, 4)}), 3); }
  void repeat(ExprId trips) {
    loop("i", 1);
    loop_trips.push_back(trips);
  }
  StmtId end_repeat() {
    const StmtId id = end();
    f.at(id).args = {n(0), loop_trips.back()};
    loop_trips.pop_back();
    return id;
  }
  // The statement with an else block of one statement, which is returned.
  StmtId otherwise(StmtId branch) {
    const StmtId other = f.add(Stmt{.kind = StmtKind::Evaluate, .expr = n(0)});
    f.at(branch).other = {other};
    return other;
  }

  std::string text(StmtId id) {
    const Function whole = done();
    const auto shape = launch_shape(whole).value();
    return to_text(ActiveSets::of(whole, shape)[id], shape);
  }
  // A marker under a condition, and one in its else.
  std::pair<std::string, std::string> under(ExprId condition_expr) {
    when(condition_expr);
    const StmtId inside = mark();
    const StmtId outside = otherwise(end());
    return {text(inside), text(outside)};
  }
  using Texts = std::pair<std::string, std::string>;

  VarId count;
  BufferId memory;
  ExprId cta, tid, warp, lane;
  std::vector<ExprId> loop_trips;
};

TEST_F(Sets, IdsNarrowBothArms) {
  EXPECT_EQ(under(is(ExprOp::Lt, warp, 4)), Texts("warps 0-3 of 8", "warps 4-7 of 8"));
  EXPECT_EQ(under(is(ExprOp::Eq, div(tid, 32), 1)), Texts("warp 1 of 8", "warps 0, 2-7 of 8"));
  EXPECT_EQ(under(is(ExprOp::Eq, tid, 5)), Texts("thread 5 of 256", "threads 0-4, 6-255 of 256"));
  EXPECT_EQ(under(is(ExprOp::Eq, op(ExprOp::BitAnd, lane, n(3)), 0)).first,
            "threads 0, 4, 8 … (64 of 256)");
  EXPECT_EQ(under(is(ExprOp::Lt, mod(tid, 64), 32)).first, "warps 0, 2, 4, 6 of 8");
  EXPECT_EQ(under(op(ExprOp::Gt, n(2), warp)).first, "warps 0-1 of 8");
  EXPECT_EQ(under(is(ExprOp::Ge, tid, 0)), Texts("all 256 threads", "no thread"));
  EXPECT_EQ(under(op(ExprOp::Lt, op(ExprOp::BitXor, lane, n(1)), lane)).first,
            "threads 1, 3, 5 … (128 of 256)");
}

TEST_F(Sets, UniformValuesKeepTheSet) {
  EXPECT_EQ(under(uniform()), Texts("all 256 threads", "all 256 threads"));
  EXPECT_EQ(under(is(ExprOp::Eq, cta, 1)), Texts("all 256 threads", "all 256 threads"));
  EXPECT_EQ(under(op(ExprOp::Lt, warp, var(count))).first, "some warps of all 256 threads");
  EXPECT_EQ(under(op(ExprOp::Lt, div(tid, 128), var(count))).first,
            "some warpgroups of all 256 threads");
  EXPECT_EQ(under(from_memory()).first, "some threads of all 256 threads");
}

TEST_F(Sets, ConjunctionsKeepBothFacts) {
  EXPECT_EQ(under(both(uniform(), is(ExprOp::Lt, warp, 2))),
            Texts("warps 0-1 of 8", "some warps of all 256 threads"));
  EXPECT_EQ(under(both(is(ExprOp::Eq, warp, 2), from_memory())).first,
            "some threads of warp 2 of 8");
  EXPECT_EQ(under(either(is(ExprOp::Lt, warp, 2), uniform())),
            Texts("some warps of all 256 threads", "warps 2-7 of 8"));
  EXPECT_EQ(under(no(either(is(ExprOp::Lt, warp, 2), from_memory()))).first,
            "some threads of warps 2-7 of 8");
}

TEST_F(Sets, NamesCountLikeIds) {
  const VarId wid = bind("wid", div(tid, 32));
  EXPECT_EQ(under(is(ExprOp::Eq, var(wid), 1)).first, "warp 1 of 8");
  const BufferId once = scalar("w", DType::Int32, div(tid, 32));
  EXPECT_EQ(under(is(ExprOp::Eq, at(once, {n(0)}), 1)).first, "warp 1 of 8");
  const BufferId twice = scalar("t", DType::Int32, div(tid, 32));
  store(twice, {n(0)}, n(3));
  EXPECT_EQ(under(is(ExprOp::Eq, at(twice, {n(0)}), 1)).first, "some warps of all 256 threads");
  const BufferId shown = scalar("s", DType::Int32, n(0));
  evaluate(call(Intrinsic::CopyBytes, {address(shown, {n(0)}), address(once, {n(0)}), n(4)}));
  EXPECT_EQ(under(is(ExprOp::Eq, at(shown, {n(0)}), 0)).first, "some threads of all 256 threads");
}

TEST_F(Sets, ElectingOneLane) {
  EXPECT_EQ(under(elect()),
            Texts("one lane of each warp of all 256 threads", "some threads of all 256 threads"));
  EXPECT_EQ(under(both(is(ExprOp::Eq, warp, 1), elect())).first,
            "one lane of each warp of warp 1 of 8");
  EXPECT_EQ(under(both(elect(), uniform())).first, "one lane of each warp of all 256 threads");
  EXPECT_EQ(under(both(elect(), op(ExprOp::Lt, warp, var(count)))).first,
            "one lane of some warps of all 256 threads");
  EXPECT_EQ(under(both(is(ExprOp::Lt, lane, 16), elect())).first.substr(0, 15), "some threads of");
  EXPECT_EQ(under(both(elect(), is(ExprOp::Eq, tid, 0))).first,
            "at most one lane of each warp of thread 0 of 256");
  const VarId leader = bind("leader", call(Intrinsic::ElectSync, {}));
  EXPECT_EQ(under(op(ExprOp::Ne, var(leader), u32(0))).first,
            "one lane of each warp of all 256 threads");
}

// Every comparison of a truth value, 0 or 1, with a number: it elects where only the 1 makes it hold.
TEST_F(Sets, ComparedElections) {
  const auto holds = [](ExprOp kind, std::int64_t a, std::int64_t b) {
    return kind == ExprOp::Eq   ? a == b
           : kind == ExprOp::Ne ? a != b
           : kind == ExprOp::Lt ? a < b
           : kind == ExprOp::Le ? a <= b
           : kind == ExprOp::Gt ? a > b
                                : a >= b;
  };
  const std::string one = "one lane of each warp of all 256 threads";
  const VarId leader = bind("leader", call(Intrinsic::ElectSync, {}));
  for (const ExprOp kind : {ExprOp::Eq, ExprOp::Ne, ExprOp::Lt, ExprOp::Le, ExprOp::Gt, ExprOp::Ge})
    for (const std::int64_t number : {0, 1})
      for (const ExprId truth : {call(Intrinsic::ElectSync, {}), var(leader)}) {
        const bool by_one = holds(kind, 1, number), by_zero = holds(kind, 0, number);
        const Texts sets = under(op(kind, truth, u32(number)));
        SCOPED_TRACE(testing::Message() << "operator " << static_cast<int>(kind) << ' ' << number);
        EXPECT_EQ(sets.first == one, by_one && !by_zero) << sets.first;
        EXPECT_EQ(sets.second == one, by_zero && !by_one) << sets.second;
      }
  EXPECT_EQ(under(op(ExprOp::Eq, var(leader), u32(2))).first, "some threads of all 256 threads");
}

TEST_F(Sets, LoopsOverIds) {
  repeat(tid);
  const StmtId inside = mark();
  end_repeat();
  const StmtId after = mark();
  EXPECT_EQ(text(inside), "some threads of threads 1-255 of 256");
  EXPECT_EQ(text(after), "all 256 threads");
  repeat(warp);
  const StmtId by_warp = mark();
  end_repeat();
  EXPECT_EQ(text(by_warp), "some warps of warps 1-7 of 8");
  repeat(var(count));
  const StmtId by_count = mark();
  end_repeat();
  EXPECT_EQ(text(by_count), "all 256 threads");
}

TEST_F(Sets, LeavingALoop) {
  repeat(n(4));
  const StmtId before = mark();
  when(is(ExprOp::Lt, warp, 2));
  leave(StmtKind::Break);
  end();
  const StmtId after = mark();
  end_repeat();
  const StmtId behind = mark();
  EXPECT_EQ(text(before), "some warps of all 256 threads");  // in later rounds
  EXPECT_EQ(text(after), "some warps of warps 2-7 of 8");
  EXPECT_EQ(text(behind), "all 256 threads");

  repeat(n(4));
  const StmtId again = mark();
  when(from_memory());
  leave(StmtKind::Continue);
  end();
  const StmtId rest = mark();
  end_repeat();
  EXPECT_EQ(text(again), "all 256 threads");
  EXPECT_EQ(text(rest), "some threads of all 256 threads");
}

TEST_F(Sets, Returning) {
  when(is(ExprOp::Ge, warp, 4));
  leave(StmtKind::Return);
  end();
  const StmtId rest = mark();
  when(uniform());
  leave(StmtKind::Return);
  end();
  const StmtId still = mark();
  when(both(uniform(), is(ExprOp::Eq, warp, 0)));
  leave(StmtKind::Return);
  end();
  const StmtId some = mark();
  repeat(var(count));
  const StmtId inside = mark();
  when(from_memory());
  leave(StmtKind::Return);
  end();
  end_repeat();
  const StmtId last = mark();
  EXPECT_EQ(text(rest), "warps 0-3 of 8");
  EXPECT_EQ(text(still), "warps 0-3 of 8");
  EXPECT_EQ(text(some), "some warps of warps 0-3 of 8");
  EXPECT_EQ(text(inside), "some threads of warps 0-3 of 8");
  EXPECT_EQ(text(last), "some threads of warps 0-3 of 8");
}

TEST_F(Sets, WhileLoops) {
  Stmt loop_stmt{.kind = StmtKind::While, .expr = from_memory()};
  const StmtId inside = f.add(Stmt{.kind = StmtKind::Evaluate, .expr = n(0)});
  loop_stmt.body = {inside};
  stmt(std::move(loop_stmt));
  const StmtId after = mark();
  EXPECT_EQ(text(inside), "some threads of all 256 threads");
  EXPECT_EQ(text(after), "all 256 threads");
}

TEST_F(Sets, HowFarValuesAreTheSame) {
  const auto unit = [&](ExprId expr) {
    const Function whole = done();
    return uniformity(whole, launch_shape(whole).value(), expr);
  };
  EXPECT_EQ(unit(n(3)), Unit::Kernel);
  EXPECT_EQ(unit(var(count)), Unit::Kernel);
  EXPECT_EQ(unit(cta), Unit::Cta);
  EXPECT_EQ(unit(div(tid, 32)), Unit::Warp);
  EXPECT_EQ(unit(div(tid, 128)), Unit::Warpgroup);
  EXPECT_EQ(unit(div(tid, 256)), Unit::Kernel);
  EXPECT_EQ(unit(tid), Unit::Thread);
  EXPECT_EQ(unit(add(warp, var(count))), Unit::Warp);
  EXPECT_EQ(unit(at(memory, {n(0)})), Unit::Kernel);
  EXPECT_EQ(unit(at(memory, {cta})), Unit::Cta);
  EXPECT_EQ(unit(at(memory, {div(tid, 64)})), Unit::Warp);
  EXPECT_EQ(unit(at(memory, {mod(tid, 4)})), Unit::Thread);
  EXPECT_EQ(
      unit(call(Intrinsic::Shfl, {u32(0xffffffff), at(memory, {mod(tid, 4)}), n(0), n(32), n(32)})),
      Unit::Warp);
}

TEST(ActiveSets, OfLoweredFunctions) {
  Builder b;
  b.f.level = Level::Lowered;
  const VarId block = b.launch("blockIdx_x", "blockIdx.x", 4);
  const VarId x = b.launch("threadIdx_x", "threadIdx.x", 64);
  const VarId y = b.launch("threadIdx_y", "threadIdx.y", 2);
  const VarId warp = b.bind("warp", b.call(Intrinsic::Shfl, {b.u32(0xffffffff), b.div(b.var(x), 32),
                                                             b.n(0), b.n(32), b.n(32)}));
  std::vector<StmtId> inside;
  for (const ExprId condition :
       {b.op(ExprOp::Eq, b.var(y), b.n(1)), b.op(ExprOp::Eq, b.var(warp), b.n(0)),
        b.op(ExprOp::Eq, b.var(block), b.n(0))}) {
    b.when(condition);
    inside.push_back(b.stmt({.kind = StmtKind::Evaluate, .expr = b.n(0)}));
    b.end();
  }
  const Function f = b.done();
  const auto shape = launch_shape(f).value();
  const auto sets = ActiveSets::of(f, shape);
  EXPECT_EQ(to_text(sets[inside[0]], shape), "warps 2-3 of 4");
  EXPECT_EQ(to_text(sets[inside[1]], shape), "warps 0, 2 of 4");
  EXPECT_EQ(sets[inside[2]].granule, Unit::Cta);
  EXPECT_TRUE(sets[inside[2]].together(Unit::Cta));
  EXPECT_FALSE(sets[inside[2]].together(Unit::Cluster));
}

TEST(ActiveSets, ListsOfThreads) {
  Threads threads;
  EXPECT_EQ(to_text(threads, 64), "");
  for (const std::size_t t : {0U, 1U, 2U, 3U, 8U, 12U, 13U}) threads.set(t);
  EXPECT_EQ(to_text(threads, 64), "0-3, 8, 12-13");
  for (std::size_t t = 16; t < 64; t += 2) threads.set(t);
  EXPECT_EQ(to_text(threads, 64), "0-3, 8, 12-13 …");
}

}  // namespace
}  // namespace ww::ir::launch_active_set_test
