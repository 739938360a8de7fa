// SPDX-License-Identifier: Apache-2.0
#include "eval/sync/barriers.h"

#include <algorithm>

#include "eval/cta/report.h"
#include "eval/cta/schedule.h"
#include "eval/expr/expressions.h"
#include "eval/memory/access.h"
#include "eval/memory/address.h"
#include "eval/ptx/run.h"
#include "eval/sync/async_copies.h"
#include "ir/signatures.h"

namespace ww::eval {
namespace {

// How many threads of a unit are alive, of those whose lanes are in the mask.
std::size_t alive_in_unit(const Cta& cta, std::size_t unit, std::size_t size,
                          std::uint32_t mask = ~std::uint32_t{0}) {
  const std::size_t end = std::min((unit + 1) * size, cta.thread_count());
  std::size_t alive = 0;
  for (std::size_t t = unit * size; t < end; ++t)
    if ((mask >> t % kWarp & 1) != 0 && cta.status[t] != Status::Exited) ++alive;
  return alive;
}

void arrive_warps(Cta& cta, Threads ts) {
  each_unit(ts, kWarp, [&](std::uint32_t warp, Threads lanes) {
    arrive(cta, {BarrierKey::Kind::Warp, 0, warp}, 0, lanes, true);
  });
}

void arrive_warpgroups(Cta& cta, const Expr& expr, Threads ts) {
  const Words ids = evaluate(cta, expr.args[0], ts);
  each_unit(ts, kWarpgroup, [&](std::uint32_t group, Threads threads) {
    const auto id = static_cast<std::uint32_t>(ids[static_cast<std::size_t>(&threads[0] - &ts[0])]);
    if (group != ts[0] / kWarpgroup && id == static_cast<std::uint32_t>(ids[0]))
      describe(finding(cta, Check::Barrier),
               "warpgroups {} and {} of {} meet at the same barrier {}, which counts 128 threads",
               ts[0] / kWarpgroup, group, cta_text(cta), id);
    arrive(cta, {BarrierKey::Kind::Warpgroup, id, group}, 0, threads, true);
  });
}

bool is_complete(const Cta& cta, const BarrierKey& key, const Barrier& barrier) {
  using Kind = BarrierKey::Kind;
  if (key.kind == Kind::Cluster || barrier.arrived.empty()) return false;
  if (barrier.count != 0) return barrier.arrived.size() >= barrier.count;
  if (key.kind == Kind::Named) return barrier.arrived.size() >= cta.alive;
  if (key.kind == Kind::Warpgroup)
    return barrier.arrived.size() >= alive_in_unit(cta, key.unit, kWarpgroup);
  const std::uint32_t mask = key.id == 0 ? ~std::uint32_t{0} : key.id;  // bar.warp.sync has one
  return barrier.arrived.size() >= alive_in_unit(cta, key.unit, kWarp, mask);
}

void pass(Cta& cta, const Barrier& barrier) {
  for (const Thread t : barrier.waiting) {
    cta.status[t] = Status::Ready;
    ++cta.pc[t];
  }
}

void release_barrier(Cta& cta, const Barrier& barrier) {
  std::vector<Thread> sorted = barrier.waiting;
  std::sort(sorted.begin(), sorted.end());
  each_unit(sorted, kWarp, [&](std::uint32_t warp, Threads lanes) {
    for (const Thread t : lanes) {
      if (cta.pc[t] == cta.pc[lanes[0]]) continue;
      if (Finding* found = finding(cta, Check::Barrier); found != nullptr) {
        found->text = fmt::format("{} and {} of warp {} of {} meet at barriers in different places",
                                  thread_text(lanes[0]), thread_text(t), warp, cta_text(cta));
        found->note = "the other one is here";
        found->note_span = span_of(cta, cta.pc[cta.pc[t] == cta.step ? lanes[0] : t]);
      }
      break;
    }
  });
  meet(cta, barrier.arrived);
  for (const auto& [t, result] : barrier.counted)
    ptx_put(cta, *result, Threads(&t, 1), kRegisterBits, constant(cta, barrier.holds, 1));
  pass(cta, barrier);
}

}  // namespace

bool call_barrier(Cta& cta, const Expr& expr, Threads ts) {
  switch (expr.callee) {
    case Intrinsic::StorageSync:
      if (ir::literal_text(cta.f, expr.args[0]) == "warp")
        arrive_warps(cta, ts);
      else
        arrive_named(cta, 0, 0, ts, true);
      return false;
    case Intrinsic::CtaSync:
      arrive_named(cta, 0, 0, ts, true);
      return false;
    case Intrinsic::WarpSync:
      arrive_warps(cta, ts);
      return false;
    case Intrinsic::WarpgroupSync:
      arrive_warpgroups(cta, expr, ts);
      return false;
    case Intrinsic::ClusterSync:
      arrive(cta, {BarrierKey::Kind::Cluster, 0, 0}, 0, ts, true);
      return false;
    case Intrinsic::MbarrierWait:
      wait_mbarrier(cta, expr, ts);
      return false;
    default:
      break;
  }
  go_on(cta, ts);
  return true;
}

void arrive_named(Cta& cta, std::uint32_t id, std::size_t count, Threads ts, bool waits) {
  // Warp by warp: with a count, more threads than it may come at once.
  each_warp(ts, [&](Threads lanes) {
    arrive(cta, {BarrierKey::Kind::Named, id, 0}, count, lanes, waits);
  });
}

void arrive(Cta& cta, const BarrierKey& key, std::size_t count, Threads ts, bool waits) {
  Barrier& barrier = cta.barriers[key];
  barrier.count = count;
  for (const Thread t : ts) {
    barrier.arrived.push_back(t);
    if (waits) barrier.waiting.push_back(t);
    if (waits)
      cta.status[t] = Status::AtBarrier;
    else
      cta.pc[t] = cta.step + 1;
  }
  check_barriers(cta);
}

void vote(Cta& cta, std::uint32_t id, Thread t, bool holds, const ir::PtxOperand& result) {
  Barrier& barrier = cta.barriers[{BarrierKey::Kind::Named, id, 0}];
  if (holds) ++barrier.holds;
  barrier.counted.emplace_back(t, &result);
}

void check_barriers(Cta& cta) {
  for (auto it = cta.barriers.begin(); it != cta.barriers.end();) {
    if (!is_complete(cta, it->first, it->second)) {
      ++it;
      continue;
    }
    release_barrier(cta, it->second);
    it = cta.barriers.erase(it);
  }
}

void meet(Cta& cta, Threads ts) {
  if (ts.size() >= cta.alive) return cta.order.meet(Agent{AgentKind::Cta, 0});
  for (const auto& [size, kind] :
       {std::pair{kWarp, AgentKind::Warp}, std::pair{kWarpgroup, AgentKind::Warpgroup}}) {
    const std::size_t unit = ts[0] / size;
    const bool is_inside =
        std::all_of(ts.begin(), ts.end(), [&, s = size](Thread t) { return t / s == unit; });
    if (is_inside && ts.size() >= alive_in_unit(cta, unit, size))
      return cta.order.meet(Agent{kind, static_cast<std::uint16_t>(unit)});
  }
  cta.order.meet(ts);
}

bool waits_for_cluster(const Cta& cta) {
  const auto found = cta.barriers.find({BarrierKey::Kind::Cluster, 0, 0});
  if (found == cta.barriers.end()) return false;
  const auto has_ended = [&](Thread t) { return cta.status[t] == Status::Exited; };
  const std::vector<Thread>& arrived = found->second.arrived;
  const auto ended = static_cast<std::size_t>(std::ranges::count_if(arrived, has_ended));
  return arrived.size() - ended >= cta.alive;
}

bool release_cluster(Cta& cta) {
  const auto found = cta.barriers.find({BarrierKey::Kind::Cluster, 0, 0});
  if (found == cta.barriers.end()) return true;
  const bool orders = !found->second.is_relaxed;
  if (orders) cta.order.met_cluster();
  for (const Thread t : found->second.arrived) cta.met_cluster[t] = 1;
  for (const Thread t : found->second.waiting) cta.met_cluster[t] = 0;
  pass(cta, found->second);
  cta.barriers.erase(found);
  return orders;
}

void arrive_cluster(Cta& cta, Threads ts, bool is_relaxed) {
  const BarrierKey key{BarrierKey::Kind::Cluster, 0, 0};
  arrive(cta, key, 0, ts, false);
  cta.barriers[key].is_relaxed = cta.barriers[key].is_relaxed || is_relaxed;
}

void wait_cluster(Cta& cta, Threads ts) {
  const BarrierKey key{BarrierKey::Kind::Cluster, 0, 0};
  for (const Thread t : ts) {
    if (cta.met_cluster[t] != 0) {
      cta.met_cluster[t] = 0;
      cta.pc[t] = cta.step + 1;
      continue;
    }
    Barrier& barrier = cta.barriers[key];
    const bool has_arrived = std::ranges::find(barrier.arrived, t) != barrier.arrived.end();
    if (!has_arrived)
      describe(finding(cta, Check::Barrier),
               "{} of {} waits at the barrier of the cluster, where it has not arrived",
               thread_text(t), cta_text(cta));
    barrier.waiting.push_back(t);
    cta.status[t] = Status::AtBarrier;
  }
}

void await_cluster(Cta& cta, Threads ts) {
  arrive(cta, {BarrierKey::Kind::Cluster, 0, 0}, 0, ts, true);
}

void pass_cluster(Cta& cta) {
  const auto found = cta.barriers.find({BarrierKey::Kind::Cluster, 0, 0});
  pass(cta, found->second);
  cta.barriers.erase(found);
}

std::uint32_t cluster_step(const Cta& cta) {
  const auto found = cta.barriers.find({BarrierKey::Kind::Cluster, 0, 0});
  const bool is_waiting = found != cta.barriers.end() && !found->second.waiting.empty();
  return is_waiting ? cta.pc[found->second.waiting.front()] : kNoStep;
}

// --- mbarriers -----------------------------------------------------------------------------------

Mbarrier* find_mbarrier(Cta& cta, Address at, Thread t) {
  Cta* home = home_of(cta, at);
  if (home == nullptr) return nullptr;
  const auto found = home->mbarriers.find(at.at_home());
  if (found != home->mbarriers.end()) return &found->second;
  describe(finding(cta, Check::Barrier),
           "{} of {} uses an mbarrier at {}{} that is not initialised", thread_text(t),
           cta_text(cta), element_text(cta, element_at(at, t)),
           home == &cta ? "" : " of " + cta_text(*home));
  return nullptr;
}

void init_mbarrier(Cta& cta, Address at, std::uint32_t count, Thread t) {
  write(cta, element_at(at, t), 64, {}, access_of(cta, t, true));
  cta.mbarriers[at] = {.expected = count, .missing = count, .gathering = {}, .complete = {}};
}

void arrive_mbarrier(Cta& cta, Address at, std::uint32_t count, Thread t, bool is_release) {
  Mbarrier* barrier = find_mbarrier(cta, at, t);
  if (barrier == nullptr) return;
  if (is_release) cta.order.release(t, barrier->gathering);
  arrive_mbarrier(*home_of(cta, at), *barrier, count);
}

namespace {

// The phase is complete when nothing is missing.
void settle(Cta& cta, Mbarrier& barrier) {
  if (barrier.missing != 0 || barrier.bytes != 0) return wake_mbarrier_waiters(cta);
  barrier.missing = barrier.expected;
  ++barrier.phase;
  barrier.complete = std::move(barrier.gathering);
  barrier.gathering.clear();
  wake_mbarrier_waiters(cta);
}

}  // namespace

void arrive_mbarrier(Cta& cta, Mbarrier& barrier, std::uint32_t count) {
  barrier.missing -= std::min(barrier.missing, count);
  settle(cta, barrier);
}

void expect_bytes(Cta& cta, Address at, std::int64_t bytes, Thread t) {
  if (Mbarrier* barrier = find_mbarrier(cta, at, t)) barrier->bytes += bytes;
}

void count_bytes(Cta& cta, Mbarrier& barrier, std::int64_t bytes) {
  barrier.bytes += bytes;
  settle(cta, barrier);
}

std::string missing_text(const Mbarrier& barrier) {
  const auto counted = [](std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string out;
  const std::uint32_t missing = barrier.missing - std::min(barrier.missing, barrier.copying);
  if (missing != 0) out = counted(missing, "arrival");
  if (barrier.bytes != 0)
    out += fmt::format("{}{}", out.empty() ? "" : " and ", counted(barrier.bytes, "byte"));
  const bool is_one = missing + (barrier.bytes != 0 ? 2 : 0) == 1;
  return out.empty() ? out : fmt::format("{} {} missing", out, is_one ? "is" : "are");
}

bool test_mbarrier(Cta& cta, Address at, std::uint32_t parity, Thread t) {
  Mbarrier* barrier = find_mbarrier(cta, at, t);
  if (barrier == nullptr) return true;
  while ((barrier->phase & 1) == (parity & 1)) {
    if (finish_commit(cta, at, *barrier)) continue;
    if (finish_arrival(cta, at, *barrier)) continue;
    // Bytes come as late as the program can tell.
    if (barrier->missing == 0 && finish_counted(cta, at, *barrier)) continue;
    cta.mbarrier_waits[t] = at;
    return false;
  }
  cta.order.acquire(t, barrier->complete);
  return true;
}

void wait_mbarrier(Cta& cta, const ir::Expr& expr, Threads ts) {
  const Words pointers = evaluate(cta, expr.args[0], ts);
  const Words parities = evaluate(cta, expr.args[1], ts);
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Address at = address_from(cta, cta.f[expr.args[0]].type, pointers[i]);
    if (test_mbarrier(cta, at, static_cast<std::uint32_t>(parities[i]), ts[i]))
      cta.pc[ts[i]] = cta.step + 1;
    else
      cta.status[ts[i]] = Status::AtMbarrier;
  }
}

}  // namespace ww::eval
