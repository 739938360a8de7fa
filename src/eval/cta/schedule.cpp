// SPDX-License-Identifier: Apache-2.0
#include "eval/cta/schedule.h"

#include <algorithm>

#include "eval/cta/cta.h"
#include "eval/cta/limits.h"
#include "eval/cta/report.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/run.h"
#include "eval/sync/barriers.h"
#include "eval/tile/primitives.h"

namespace ww::eval {
namespace {

// --- statements ----------------------------------------------------------------------------------
//
// Steps, each for a group of threads that stand at it.

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

// Executes cta.step for a group of threads that stand at it. True when they are still together and
// can go on.
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
        await_cluster(cta, ts);  // tile/primitives.h carries it out
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

constexpr std::uint32_t kFar = ~std::uint32_t{0};

std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Of a thread that can run; there is one.
std::uint32_t random_pc(Cta& cta) {
  std::vector<std::uint32_t> pcs;
  for (std::size_t t = 0; t < cta.thread_count(); ++t)
    if (cta.status[t] == Status::Ready && cta.parked[t] == 0 &&
        std::find(pcs.begin(), pcs.end(), cta.pc[t]) == pcs.end())
      pcs.push_back(cta.pc[t]);
  return pcs[next_random(cta.run.random) % pcs.size()];
}

// The threads of the next turn, and the first step beyond at which others stand. False: none can
// run.
bool pick_group(Cta& cta, std::vector<Thread>& group, std::uint32_t& limit) {
  std::uint32_t pc = kFar;
  const auto lowest = [&] {
    for (std::size_t t = 0; t < cta.thread_count(); ++t)
      if (cta.status[t] == Status::Ready && cta.parked[t] == 0) pc = std::min(pc, cta.pc[t]);
  };
  lowest();
  if (pc == kFar) {  // all have let the others pass
    std::fill(cta.parked.begin(), cta.parked.end(), char{0});
    if (cta.cluster->size() > 1) return false;  // other CTAs, too: a loop may wait for one of them
    lowest();
  }
  if (pc == kFar) return false;
  if (cta.run.options.seed != 0) pc = random_pc(cta);
  group.clear();
  limit = kFar;
  for (std::size_t t = 0; t < cta.thread_count(); ++t) {
    if (cta.status[t] != Status::Ready && cta.status[t] != Status::Gathering) continue;
    if (cta.pc[t] == pc)
      group.push_back(static_cast<Thread>(t));
    else if (cta.parked[t] == 0)
      limit = std::min(limit, cta.pc[t] > pc ? cta.pc[t] : limit);
  }
  for (const Thread t : group) {
    cta.status[t] = Status::Ready;
    cta.parked[t] = 0;
  }
  if (cta.run.options.seed != 0) limit = 0;
  return true;
}

// Are the threads [first, last) that the step needs all here?
bool is_gathered(const Cta& cta, const Step& step, std::size_t first, std::size_t last,
                 std::span<const Word> masks, Threads ts, const std::vector<char>& here) {
  Word mask = low_mask(32);
  if (step.gather == Gather::Lanes && !step.masks.empty()) {
    mask = 0;
    for (std::size_t i = 0; i < ts.size(); ++i)
      if (ts[i] >= first && ts[i] < last) mask |= masks[i];
  }
  for (std::size_t t = first; t < last; ++t) {
    const bool is_wanted = step.wanted
                               ? (*step.wanted)[t]
                               : step.gather != Gather::Lanes || (mask >> (t - first) & 1) != 0;
    if (is_wanted && cta.status[t] != Status::Exited && here[t] == 0) return false;
  }
  return true;
}

// The threads whose unit is complete; the others wait here.
std::vector<Thread> gather_group(Cta& cta, const Step& step, Threads ts) {
  const std::size_t size = step.gather == Gather::Cta         ? cta.thread_count()
                           : step.gather == Gather::Warpgroup ? kWarpgroup
                                                              : kWarp;
  std::vector<char> here(cta.thread_count(), 0);
  for (const Thread t : ts) here[t] = 1;
  std::vector<Word> masks(ts.size(), 0);
  for (const ir::ExprId mask : step.masks) {
    const Words values = evaluate(cta, mask, ts);
    for (std::size_t i = 0; i < ts.size(); ++i) masks[i] |= values[i];
  }
  std::vector<Thread> ready;
  for (std::size_t i = 0; i < ts.size();) {
    const std::size_t first = ts[i] / size * size;
    const std::size_t last = std::min(first + size, cta.thread_count());
    const bool is_here = is_gathered(cta, step, first, last, masks, ts, here);
    for (; i < ts.size() && ts[i] < last; ++i) {
      cta.status[ts[i]] = is_here ? Status::Ready : Status::Gathering;
      if (is_here) ready.push_back(ts[i]);
    }
  }
  return ready;
}

void run_group(Cta& cta, std::vector<Thread>& group, std::uint32_t limit) {
  const bool is_all = group.size() == cta.alive && cta.run.options.seed == 0;
  while (!cta.run.stop) {
    cta.step = cta.pc[group.front()];
    const Step& step = cta.launch.steps[cta.step];
    if (!spend_step(cta, group.size())) return;
    if (step.gather != Gather::None) {
      const std::vector<Thread> ready = gather_group(cta, step, group);
      if (ready.size() != group.size()) {
        if (!ready.empty()) execute(cta, step, ready);
        return;
      }
    }
    if (!execute(cta, step, group)) return;
    const std::uint32_t pc = cta.pc[group.front()];
    // Others may stand where the group has come to, or go on only behind it.
    if (!is_all && (pc >= limit || pc <= cta.step)) return;
  }
}

}  // namespace

void advance(Cta& cta) {
  std::vector<Thread> group;
  std::uint32_t limit = 0;
  while (!cta.run.stop && pick_group(cta, group, limit)) run_group(cta, group, limit);
}

bool can_run(const Cta& cta) {
  return std::ranges::find(cta.status, Status::Ready) != cta.status.end();
}

void end_threads(Cta& cta, Threads ts) {
  for (const Thread t : ts) cta.status[t] = Status::Exited;
  cta.alive -= ts.size();
  // Fewer threads are waited for now.
  for (Status& status : cta.status)
    if (status == Status::Gathering) status = Status::Ready;
  check_barriers(cta);
}

void go_on(Cta& cta, Threads ts) {
  for (const Thread t : ts) cta.pc[t] = cta.step + 1;
}

void wake_mbarrier_waiters(Cta& cta) {
  for (Status& status : cta.status)
    if (status == Status::AtMbarrier) status = Status::Ready;
}

}  // namespace ww::eval
