// SPDX-License-Identifier: Apache-2.0
// Whether there is an mbarrier where an instruction uses one, and whether who uses it may know it: a fence
// makes a new one known to other CTAs of the cluster, and to the async proxy.
#include <fmt/format.h>

#include "sim/ops/async_ops.h"
#include "sim/order/order.h"
#include "sim/run/mbarriers.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Other CTAs need not see a new mbarrier behind a barrier alone.
void check_announced(Warp& warp, const Mbarrier& barrier, std::uint64_t address, Mask who) {
  if (barrier.is_fenced || shared_rank(address) == warp.cta->rank) return;
  if (!warp.is_new(Check::Fence, barrier.op, count_lanes(who))) return;
  warp.report_at(
      Check::Fence, who, address,
      fmt::format("uses the mbarrier at {}, which was made with no "
                  "`fence.mbarrier_init.release.cluster` behind it",
                  shared_text(*warp.unit, address)),
      warp.unit->party(barrier.op, barrier.maker / kLanes, lane_bit(barrier.maker % kLanes)));
}

// The thread that starts a copy must know that the mbarrier is there; to find it there is luck.
void check_ordered(Warp& warp, const Mbarrier& barrier, std::uint64_t address, Mask who) {
  const Order* order = warp.unit->order.get();
  if (order == nullptr || is_announced(*warp.unit, &barrier)) return;
  if (order->ordered(warp.unit_warp(), first_lane(who), barrier.maker / kLanes,
                     barrier.maker % kLanes, barrier.made_at))
    return;
  if (!warp.is_new(Check::Race, barrier.op, count_lanes(who))) return;
  const bool is_own = shared_rank(address) == warp.cta->rank;
  warp.report_at(
      Check::Race, who, address,
      fmt::format("has the mbarrier at {} signalled, and nothing orders that behind its "
                  "`mbarrier.init`: {}",
                  shared_text(*warp.unit, address),
                  is_own ? "a barrier is missing" : "a barrier of the cluster is missing"),
      warp.unit->party(barrier.op, barrier.maker / kLanes, lane_bit(barrier.maker % kLanes)));
}

// By the strict reading, that of guides of CUDA 12, the async proxy of the CTA itself needs the fence as well.
// But the engine reaches mbarriers through the generic proxy, and libcu++ and Triton do without.
void check_published(Warp& warp, const Mbarrier& barrier, std::uint64_t address, Mask who) {
  const bool is_own = shared_rank(address) == warp.cta->rank;
  if (barrier.is_fenced || !is_own || !warp.checks(Check::Proxy)) return;
  if (!warp.is_new(Check::Fence, barrier.op, count_lanes(who))) return;
  warp.report_at(
      Check::Fence, who, address,
      fmt::format("lets the async proxy signal the mbarrier at {}, which was made with no "
                  "`fence.mbarrier_init.release.cluster` behind it",
                  shared_text(*warp.unit, address)),
      warp.unit->party(barrier.op, barrier.maker / kLanes, lane_bit(barrier.maker % kLanes)));
}

}  // namespace

bool is_announced(const Unit& unit, const Mbarrier* barrier) {
  return barrier != nullptr && barrier->is_fenced && unit.cluster.phase > barrier->fenced_at;
}

Mbarrier* mbarrier_at(Warp& warp, std::uint64_t address, Mask who) {
  Mbarrier* barrier = find_mbarrier(*warp.unit, address);
  if (barrier != nullptr) check_announced(warp, *barrier, address, who);
  if (barrier != nullptr || !warp.checks(Check::Barrier)) return barrier;
  if (!warp.is_new(Check::Barrier, kNoOp, count_lanes(who))) return nullptr;
  warp.report_at(Check::Barrier, who, address,
                 fmt::format("there is no mbarrier at {}", shared_text(*warp.unit, address)));
  return nullptr;
}

void check_signalled(Warp& warp, std::uint64_t address, Mask who, bool is_async_proxy) {
  const Mbarrier* barrier = mbarrier_at(warp, address, who);
  if (barrier == nullptr) return;
  check_ordered(warp, *barrier, address, who);
  if (is_async_proxy) check_published(warp, *barrier, address, who);
}

}  // namespace ww::sim
