// SPDX-License-Identifier: Apache-2.0
// Barriers of a CTA, a warp and a cluster. `bar` is `barrier` with `.aligned`. Threads are counted
// in whole warps, as the hardware does: a warp that lacks lanes at its end counts 32.
#include <fmt/format.h>

#include "sim/decode/function_decoder.h"
#include "sim/ops/families.h"
#include "sim/ops/pred_source.h"
#include "sim/order/barriers.h"
#include "sim/order/strong.h"
#include "sim/run/barriers.h"
#include "sim/run/meet.h"
#include "sim/run/unit.h"

namespace ww::sim::barrier_ops {
namespace {

enum class BarrierKind : std::uint8_t { Sync, Arrive, Popc, And, Or };
struct BarrierOp {
  BarrierKind kind;
  bool is_aligned;
};
constexpr std::uint32_t kBarriers = 16;  // of a CTA

// The value that all executing lanes must agree on.
std::uint32_t uniform(Warp& warp, Place place, const char* what) {
  const auto* values = warp.source<std::uint32_t>(place);
  const std::uint32_t value = values[first_lane(warp.exec)];
  Mask others = 0;
  for_each_lane(warp.exec, [&](unsigned l) {
    if (values[l] != value) others |= lane_bit(l);
  });
  if (others != 0 && warp.checks(Check::Barrier)) {
    warp.report(
        Check::Barrier, others,
        fmt::format("lanes disagree on {}: {} and {}", what, value, values[first_lane(others)]));
  }
  return value;
}

// Lanes that come to the barrier now; a short last warp brings those it lacks with its first ones.
std::uint32_t arriving(const Warp& warp, const Barrier& barrier) {
  const bool first = !has_lane(barrier.warps_arrived, warp.index);
  return count_lanes(warp.exec) + (first ? kLanes - count_lanes(warp.live) : 0);
}

void expect(Warp& warp, Barrier& barrier, std::uint32_t id, std::uint32_t threads) {
  const bool is_partial = threads != 0;
  if (is_partial && threads % kLanes != 0 && warp.checks(Check::Barrier)) {
    warp.report(
        Check::Barrier, warp.exec,
        fmt::format("barrier {} for {} threads, which is not a multiple of 32", id, threads));
  }
  const std::uint32_t most = static_cast<std::uint32_t>(warp.cta->warps.size()) * kLanes;
  if (threads > most && warp.checks(Check::Barrier)) {
    warp.report(Check::Barrier, warp.exec,
                fmt::format("barrier {} for {} threads can never open: the block has {}", id,
                            threads, warp.unit->context.launch->block.count()));
  }
  if (barrier.arrived == 0) {
    barrier.expected = threads;
    barrier.is_partial = is_partial;
    barrier.first_op = warp.current;
    return;
  }
  if ((barrier.is_partial != is_partial || barrier.expected != threads) &&
      warp.checks(Check::Barrier)) {
    const auto count = [](bool partial, std::uint32_t n) {
      return partial ? fmt::format("{} threads", n) : std::string("all threads");
    };
    warp.report_at(
        Check::Barrier, warp.exec, 0,
        fmt::format("barrier {} for {}, and others wait there for {}", id,
                    count(is_partial, threads), count(barrier.is_partial, barrier.expected)),
        Party{barrier.first_op, warp.cta->linear, warp.index, 0});
  }
}

void give_result(Warp& warp, const Op& op, std::uint32_t value) {
  const std::uint32_t count = value & 0x7FFF'FFFFU;
  const bool all = (value & 0x8000'0000U) != 0;
  switch (op.as<BarrierOp>().kind) {
    case BarrierKind::Sync:
    case BarrierKind::Arrive:
      return;
    case BarrierKind::Popc:
      for_each_lane(warp.exec, [&](unsigned l) { warp.lanes<std::uint32_t>(op.p[0])[l] = count; });
      return;
    case BarrierKind::And:
      warp.set_pred(op.p[0], all ? kAllLanes : 0);
      return;
    case BarrierKind::Or:
      warp.set_pred(op.p[0], count != 0 ? kAllLanes : 0);
      return;
  }
}

void run_barrier(Warp& warp, const Op& op) {
  std::uint32_t value = 0;
  if (warp.grant.is_open && !is_meeting_grant(warp)) {
    take_grant(warp, &value);
    give_result(warp, op, value);
    return;
  }
  const auto [kind, is_aligned] = op.as<BarrierOp>();
  if (is_aligned && !meet_all(warp)) return;
  std::uint32_t id = uniform(warp, op.p[1], "the barrier");
  if (id >= kBarriers && warp.checks(Check::Barrier)) {
    warp.report(Check::Barrier, warp.exec,
                fmt::format("there is no barrier {}: a block has barriers 0 to 15", id));
  }
  id %= kBarriers;
  const std::uint32_t threads =
      op.p[2].present() ? uniform(warp, op.p[2], "the number of threads") : 0;
  Barrier& barrier = warp.cta->barriers[id];
  expect(warp, barrier, id, threads);
  barrier.arrived += arriving(warp, barrier);
  barrier.warps_arrived |= lane_bit(warp.index);
  barrier.lanes_arrived[warp.index] |= warp.exec;
  barrier.ops[warp.index] = warp.current;
  if (barrier.is_partial) barrier.arrivals.note(warp, warp.exec);
  if (kind == BarrierKind::Arrive) {
    barrier.warps_passing |= lane_bit(warp.index);
    if (warp.unit->order != nullptr)
      release(*warp.unit->order, actor_of(warp, warp.exec), barrier.passed);
  }
  if (op.p[3].present()) {
    const Mask holds = source_pred(warp, op, 3);
    barrier.count += count_lanes(holds & warp.exec);
    barrier.voters += count_lanes(warp.exec);
  }
  if (kind != BarrierKind::Arrive) wait_in(warp, SplitState::AtBarrier, id);
  act(warp);
  arrive(*warp.unit, *warp.cta, id);
}

BarrierKind kind_in(const Decode& in) {
  if (in.has("sync")) return BarrierKind::Sync;
  if (in.has("arrive")) return BarrierKind::Arrive;
  return in.word("op")
      .as<BarrierKind>({{"popc", BarrierKind::Popc}, {"and", BarrierKind::And}})
      .value_or(BarrierKind::Or);
}

bool decode_barrier(Decode& in) {
  in.op.run = run_barrier;
  in.op.set(BarrierOp{kind_in(in), in.mnemonic() == "bar" || in.has("aligned")});
  std::size_t next = 0;
  if (in.has("red")) in.op.p[0] = in.result(next++);
  in.op.p[1] = in.source(next++);
  const bool is_partial = in.given(next);
  if (is_partial) in.op.p[2] = in.source(next);
  if (is_partial || in.has("arrive") || !in.op.p[1].is_constant())
    in.function().code().meets_in_parts = true;
  ++next;
  if (in.has("red")) take_pred(in, next, 3);
  return true;
}

// --- warp ----------------------------------------------------------------------------------------

void run_warp_sync(Warp& warp, const Op& op) {
  Mask mask = 0;
  if (!meet_mask(warp, op.p[0], mask)) return;
  if (warp.unit->order != nullptr) lanes_met(*warp.unit->order, actor_of(warp, mask | ~warp.born));
}

bool decode_warp_sync(Decode& in) { return in.runs(run_warp_sync, {in.source(0)}); }

// --- cluster -------------------------------------------------------------------------------------

struct ClusterOp {
  bool is_aligned, is_relaxed;
};

void run_cluster_arrive(Warp& warp, const Op& op) {
  if (op.as<ClusterOp>().is_aligned && !meet_all(warp)) return;
  if (Order* order = warp.unit->order.get(); order != nullptr) {
    const Actor who = actor_of(warp, warp.exec);
    if (!op.as<ClusterOp>().is_relaxed) {
      release(*order, who, warp.unit->cluster.arriving);
    } else {
      release_relaxed(*order, who, warp.unit->cluster.arriving, Scope::Cluster);
    }
  }
  PendingWork& pending = warp.pending;
  const Mask again = pending.cluster_arrived & warp.exec;
  if (again != 0 && warp.checks(Check::Barrier)) {
    warp.report(Check::Barrier, again,
                "arrives at the cluster's barrier again before the phase of its last arrival has "
                "ended; `barrier.cluster.wait` comes between them");
  }
  pending.cluster_arrived |= warp.exec;
  pending.cluster_came |= warp.exec;
  act(warp);
  arrive_cluster(*warp.unit);
}

void run_cluster_wait(Warp& warp, const Op& op) {
  if (op.as<ClusterOp>().is_aligned && !meet_all(warp)) return;
  const Mask stray = warp.exec & ~warp.pending.cluster_came;
  const Mask waits = warp.exec & warp.pending.cluster_arrived;
  if (stray != 0 && warp.checks(Check::Barrier)) {
    warp.report(Check::Barrier, stray, "waits for the cluster's barrier without having arrived");
  }
  if (waits != 0) {
    wait_in(warp, SplitState::AtClusterBarrier);
  } else if (warp.unit->order != nullptr) {
    acquire(*warp.unit->order, actor_of(warp, warp.exec), warp.unit->cluster.clock);
  }
}

bool decode_cluster_arrive(Decode& in) {
  in.op.run = run_cluster_arrive;
  in.op.set(ClusterOp{in.has("aligned"), in.word("sem") == "relaxed"});
  return true;
}
bool decode_cluster_wait(Decode& in) {
  in.op.run = run_cluster_wait;
  in.op.set(ClusterOp{in.has("aligned"), false});
  return true;
}

constexpr OpRow kRows[] = {
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
    {"bar.warp.sync", decode_warp_sync},
    {"barrier.cluster.arrive", decode_cluster_arrive},
    {"barrier.cluster.wait", decode_cluster_wait},
};

}  // namespace

constinit const OpFamily family{"barrier", kRows};

}  // namespace ww::sim::barrier_ops
