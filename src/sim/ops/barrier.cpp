// SPDX-License-Identifier: Apache-2.0
// Barriers of a CTA, a warp and a cluster. `bar` is `barrier` with `.aligned`. Threads are counted
// in whole warps, as the hardware does: a warp that lacks lanes at its end counts 32.
#include <fmt/format.h>

#include "sim/ops/families.h"
#include "sim/order/barriers.h"
#include "sim/order/strong.h"
#include "sim/run/barriers.h"
#include "sim/run/meet.h"
#include "sim/run/unit.h"

namespace ww::sim::barrier_ops {
namespace {

enum class BarrierKind : std::uint8_t { Sync, Arrive, Popc, And, Or };
constexpr std::uint32_t kBarriers = 16;      // of a CTA
constexpr std::uint8_t kAlignedForm = 0x10;  // of Op::mode, with the kind

BarrierKind barrier_kind(const Op& op) { return static_cast<BarrierKind>(op.mode & 0xFU); }

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
  switch (barrier_kind(op)) {
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
  if ((op.mode & kAlignedForm) != 0 && !meet_all(warp)) return;
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
  if (barrier_kind(op) == BarrierKind::Arrive) {
    barrier.warps_passing |= lane_bit(warp.index);
    if (warp.unit->order != nullptr)
      release(*warp.unit->order, actor_of(warp, warp.exec), barrier.passed);
  }
  if (op.p[3].present()) {
    const Mask holds = warp.pred(op.p[3]) ^ (op.mode2 != 0 ? kAllLanes : 0);
    barrier.count += count_lanes(holds & warp.exec);
    barrier.voters += count_lanes(warp.exec);
  }
  if (barrier_kind(op) != BarrierKind::Arrive) wait_in(warp, SplitState::AtBarrier, id);
  ++warp.unit->activity;
  arrive(*warp.unit, *warp.cta, id);
}

BarrierKind kind_in(const Decode& in) {
  if (in.has("sync")) return BarrierKind::Sync;
  if (in.has("arrive")) return BarrierKind::Arrive;
  const Word op = in.word("op");
  return op == "popc" ? BarrierKind::Popc : op == "and" ? BarrierKind::And : BarrierKind::Or;
}

bool decode_barrier(Decode& in) {
  const BarrierKind kind = kind_in(in);
  const bool aligned = in.mnemonic() == "bar" || in.has("aligned");
  in.op.run = run_barrier;
  in.op.mode =
      static_cast<std::uint8_t>(static_cast<unsigned>(kind) | (aligned ? kAlignedForm : 0U));
  std::size_t next = 0;
  if (in.has("red")) in.op.p[0] = in.result(next++);
  in.op.p[1] = in.source(next++);
  if (in.given(next)) in.op.p[2] = in.source(next);
  ++next;
  if (in.has("red")) {
    in.op.p[3] = in.source(next);
    in.op.mode2 = in.is_negated(next) ? 1 : 0;
  }
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

constexpr std::uint8_t kAligned = 1, kRelaxed = 2;  // of Op::mode

void run_cluster_arrive(Warp& warp, const Op& op) {
  if ((op.mode & kAligned) != 0 && !meet_all(warp)) return;
  if (Order* order = warp.unit->order.get(); order != nullptr) {
    const Actor who = actor_of(warp, warp.exec);
    if ((op.mode & kRelaxed) == 0) {
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
  ++warp.unit->activity;
  arrive_cluster(*warp.unit);
}

void run_cluster_wait(Warp& warp, const Op& op) {
  if ((op.mode & kAligned) != 0 && !meet_all(warp)) return;
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
  in.op.mode = static_cast<std::uint8_t>((in.has("aligned") ? kAligned : 0U) |
                                         (in.word("sem") == "relaxed" ? kRelaxed : 0U));
  return true;
}
bool decode_cluster_wait(Decode& in) {
  in.op.run = run_cluster_wait;
  in.op.mode = in.has("aligned") ? kAligned : 0;
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
