// SPDX-License-Identifier: Apache-2.0
// Steps, each for a group of threads that stand at it.
#include "eval/cta/statements.h"

#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/expr/expressions.h"
#include "eval/expr/overflow.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/run.h"
#include "eval/sync/barriers.h"
#include "eval/tile/primitives.h"

namespace ww::eval {
namespace {

using ir::Stmt;
using ir::StmtKind;

// Trips of a `while` loop before the others get their turn: a loop that waits for another thread
// must not keep it from running.
constexpr std::uint32_t kSpins = 64;

bool run_branch(Cta& cta, const Step& step, Threads ts) {
  const Words holds = evaluate(cta, cta.f[step.stmt].expr, ts);
  std::size_t taken = 0;
  bool is_spinning = false;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Thread t = ts[i];
    cta.pc[t] = holds[i] != 0 ? cta.step + 1 : step.target;
    if (holds[i] != 0) ++taken;
    if (step.kind != StepKind::While) continue;
    cta.spins[t] = holds[i] != 0 ? cta.spins[t] + 1 : 0;
    if (cta.spins[t] >= kSpins) {
      cta.spins[t] = 0;
      cta.parked[t] = 1;
      is_spinning = true;
    }
  }
  return (taken == 0 || taken == ts.size()) && !is_spinning;
}

void loop_begin(Cta& cta, const Step& step, const Stmt& stmt, Threads ts) {
  const Words first = evaluate(cta, stmt.args[0], ts);
  const Words trips = evaluate(cta, stmt.args[1], ts);
  const num::DType type = cta.type_of(stmt.args[1]);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    cta.vars.row(stmt.var)[ts[i]] = first[i];
    cta.vars.trips_left(step.loop, ts[i]) = as_int(type, trips[i]);
    check_last(cta, stmt, ts[i], first[i], as_int(type, trips[i]));
  }
}

bool loop_test(Cta& cta, const Step& step, Threads ts) {
  std::size_t taken = 0;
  for (const Thread t : ts) {
    const bool goes_on = cta.vars.trips_left(step.loop, t) > 0;
    cta.pc[t] = goes_on ? cta.step + 1 : step.target;
    if (goes_on) ++taken;
  }
  return taken == 0 || taken == ts.size();
}

void loop_next(Cta& cta, const Step& step, const Stmt& stmt, Threads ts) {
  const num::DType type = cta.f[stmt.var].type.dtype;
  Words steps = constant(cta, 1, ts.size());
  if (stmt.args.size() > 2 && stmt.args[2].valid()) steps = evaluate(cta, stmt.args[2], ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    Word& value = cta.vars.row(stmt.var)[ts[i]];
    value = (value + steps[i]) & low_mask(num::bits_of(type));
    --cta.vars.trips_left(step.loop, ts[i]);
    cta.pc[ts[i]] = step.target;
  }
}

std::int64_t hardware_value(const Cta& cta, ir::HardwareId id, Thread t) {
  const std::array<std::int64_t, 3>& block = cta.launch.shape.block;
  const std::int64_t at = cta.at[id.dim];
  const std::int64_t cluster = cta.launch.shape.cluster[id.dim];
  switch (id.kind) {
    case ir::HardwareId::Kind::ThreadIdx: {
      const std::int64_t place[] = {t % block[0], t / block[0] % block[1],
                                    t / (block[0] * block[1])};
      return place[id.dim];
    }
    case ir::HardwareId::Kind::BlockIdx:
      return at;
    case ir::HardwareId::Kind::ClusterCtaIdx:
      return at % cluster;
  }
  return 0;
}

void bind_ids(Cta& cta, const Stmt& stmt, Threads ts) {
  const auto set = [&](ir::VarId var, Thread t, std::int64_t value) {
    cta.vars.row(var)[t] = from_int(cta.f[var].type.dtype, value);
  };
  for (const Thread t : ts) {
    if (stmt.kind != StmtKind::ScopeIds) {
      set(stmt.var, t, hardware_value(cta, stmt.hardware, t));
      continue;
    }
    for (std::size_t d = 0; d < stmt.vars.size(); ++d)
      set(stmt.vars[d], t,
          ir::scope_id_value(cta.launch.shape, stmt.scope_id, d, stmt.vars.size(), cta.launch.grid,
                             {t, cta.at}));
  }
}

void run_bind(Cta& cta, const Stmt& stmt, Threads ts) {
  const ir::Type type = cta.f[stmt.expr].type;
  if (!type.is_value() && !type.is_pointer()) return;
  const Words value = evaluate(cta, stmt.expr, ts);
  for (std::size_t l = 0; l < value.size() / ts.size(); ++l)
    for (std::size_t i = 0; i < ts.size(); ++i)
      cta.vars.row(stmt.var, l)[ts[i]] = value[l * ts.size() + i];
}

void forget_local(Cta& cta, const Stmt& stmt, Threads ts) {
  const std::int32_t root = cta.launch.info(stmt.buffer).root;
  const std::size_t bytes = cta.launch.root(root).bytes;
  for (const Thread t : ts) storage_of(cta, root).forget(t * bytes, bytes);
}

void run_store(Cta& cta, const Stmt& stmt, Threads ts) {
  const BufferInfo& info = cta.launch.info(stmt.buffer);
  const Contents values = evaluate_copied(cta, stmt.expr, ts);
  const int lanes = cta.f[stmt.expr].type.lanes;
  const Located elements(cta, info, stmt.args, lanes, ts);
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (const Element element = elements[i]; element.at.exists())
      write(cta, element, info.bits, values[i], access_of(cta, element.owner));
}

void check_assert(Cta& cta, const Stmt& stmt, Threads ts) {
  const Words holds = evaluate(cta, stmt.expr, ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    if (holds[i] != 0) continue;
    Finding* found = finding(cta, Check::Assert);
    if (found == nullptr) continue;
    found->text = fmt::format("the assertion fails in {} of {}{}", thread_text(ts[i]),
                              cta_text(cta), stmt.message.empty() ? "" : ": " + stmt.message);
  }
}

bool run_effect(Cta& cta, const Stmt& stmt, Threads ts) {
  const ir::Expr& expr = cta.f[stmt.expr];
  const bool is_barrier = expr.op == ir::ExprOp::Call &&
                          ir::facts_of(expr.callee).effect == ir::Effect::Barrier &&
                          expr.callee != ir::Intrinsic::CtaReduce;
  if (is_barrier) return call_barrier(cta, expr, ts);
  if (expr.type.kind != ir::Type::Kind::Text) evaluate(cta, stmt.expr, ts);
  go_on(cta, ts);
  return true;
}

}  // namespace

bool execute(Cta& cta, const Step& step, Threads ts) {
  if (step.kind == StepKind::Exit) {
    end_threads(cta, ts);
    return false;
  }
  const Stmt& stmt = cta.f[step.stmt];
  switch (step.kind) {
    case StepKind::Branch:
    case StepKind::While:
      return run_branch(cta, step, ts);
    case StepKind::LoopTest:
      return loop_test(cta, step, ts);
    case StepKind::LoopNext:
      loop_next(cta, step, stmt, ts);
      return true;
    case StepKind::Jump:
      for (const Thread t : ts) cta.pc[t] = step.target;
      return true;
    case StepKind::Evaluate:
      return run_effect(cta, stmt, ts);
    case StepKind::Ptx:
      return run_ptx(cta, cta.launch.ptx[stmt.ptx.index], ts);
    case StepKind::LoopBegin:
      loop_begin(cta, step, stmt, ts);
      break;
    case StepKind::Bind:
      run_bind(cta, stmt, ts);
      break;
    case StepKind::Forget:
      forget_local(cta, stmt, ts);
      break;
    case StepKind::Store:
      run_store(cta, stmt, ts);
      break;
    case StepKind::Assert:
      check_assert(cta, stmt, ts);
      break;
    case StepKind::Ids:
      bind_ids(cta, stmt, ts);
      break;
    case StepKind::Tile:
      if (cta.f[stmt.tile].scope == ir::Unit::Cluster) {
        await_cluster(cta, ts);  // tile/cluster.h carries it out
        return false;
      }
      call_tile(cta, cta.f[stmt.tile], ts);
      break;
    case StepKind::Exit:
      break;
  }
  go_on(cta, ts);
  return true;
}

}  // namespace ww::eval
