// SPDX-License-Identifier: Apache-2.0
#include "sim/run/barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/order/barriers.h"
#include "sim/run/registers.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

std::uint32_t threads_of(const Warp& warp) {
  // The last warp of a block counts as a whole one.
  return warp.live != 0 ? kLanes : 0;
}

// A barrier for a number of threads counts only arrivals: once too many threads have ended, the
// others wait for ever. (One for all threads does not wait for ended ones.)
void report_hopeless(Unit& unit, const Cta& cta, unsigned number, const Barrier& barrier) {
  if (!unit.checks(Check::Barrier)) return;
  std::uint32_t most = barrier.arrived;
  const Warp* ended = nullptr;
  for (const auto& warp : cta.warps) {
    if (has_lane(barrier.warps_arrived, warp->index)) {
      // A warp that has arrived and gone on may come again.
      if (warp->live != 0 && has_lane(barrier.warps_passing, warp->index)) return;
      continue;
    }
    most += threads_of(*warp);
    if (warp->live == 0 && ended == nullptr) ended = warp.get();
  }
  if (most >= barrier.expected || ended == nullptr) return;
  const unsigned waiting = first_lane(barrier.warps_arrived);
  unit.findings.add(
      {.check = Check::Barrier,
       .who = {barrier.first_op, cta.linear, waiting, cta.warps[waiting]->live},
       .other = {ended->ended_at, cta.linear, ended->index, ended->born},
       .text = fmt::format("barrier {} waits for {} threads and no more than {} can come: "
                           "warp {} has ended without it",
                           number, barrier.expected, most, ended->index)});
}

// Warps that are at another barrier than most, or nowhere any more. That may be as it should, and
// is told of only when such a warp turns out to race.
void note_skips(Unit& unit, const Cta& cta, const Barrier& barrier) {
  constexpr std::size_t kMax = 64;
  if (unit.races == nullptr || !unit.checks(Check::Barrier)) return;
  std::map<std::uint32_t, unsigned> visits;
  for (const auto& warp : cta.warps) {
    if (has_lane(barrier.warps_arrived, warp->index)) ++visits[barrier.ops[warp->index]];
  }
  const auto most =
      std::max_element(visits.begin(), visits.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& warp : cta.warps) {
    const bool is_here = has_lane(barrier.warps_arrived, warp->index);
    const std::uint32_t at = is_here ? barrier.ops[warp->index] : kNoOp;
    if (at != most->first && unit.skips.size() < kMax)
      unit.skips.push_back({most->first, at, cta.linear, warp->index});
  }
}

}  // namespace

void Arrivals::note(const Warp& warp, Mask lanes) {
  constexpr std::size_t kMaxOvertaken = 3;
  Unit& unit = *warp.unit;
  if (unit.order == nullptr || unit.overtaken.size() == kMaxOvertaken) return;
  const Arrival self{warp.unit_warp(), first_lane(lanes), unit.order->now(warp.unit_warp())};
  for (const Arrival& other : before_) {
    if (other.warp == self.warp ||
        unit.order->ordered(self.warp, self.lane, other.warp, other.lane, other.clock) ||
        std::ranges::find(unit.overtaken, other.warp) != unit.overtaken.end())
      continue;
    unit.overtaken.push_back(other.warp);
    return;
  }
  if (now_.empty() || now_.back().warp != self.warp) now_.push_back(self);
}

void arrive(Unit& unit, Cta& cta, unsigned number) {
  Barrier& barrier = cta.barriers[number];
  std::uint32_t expected = barrier.expected;
  if (!barrier.is_partial) {
    expected = 0;
    for (const auto& warp : cta.warps) expected += threads_of(*warp);
  }
  if (barrier.arrived == 0) return;
  if (barrier.arrived < expected) {
    if (barrier.is_partial) report_hopeless(unit, cta, number, barrier);
    return;
  }
  if (barrier.arrived > expected && barrier.is_partial && unit.checks(Check::Barrier)) {
    unit.findings.add({.check = Check::Barrier,
                       .who = {barrier.first_op, cta.linear, 0, 0},
                       .text = fmt::format("barrier {}: {} threads arrived, {} were expected",
                                           number, barrier.arrived, expected)});
  }
  ++unit.activity;
  if (unit.order != nullptr) {
    std::vector<unsigned> met;
    for (const auto& warp : cta.warps) {
      if (has_lane(barrier.warps_arrived & ~barrier.warps_passing, warp->index))
        met.push_back(warp->unit_warp());
    }
    if (unit.ctas.size() == 1 && met.size() == cta.warps.size()) {
      everyone_met(*unit.order);
    } else {
      warps_met(*unit.order, met, barrier.passed);
    }
  }
  if (!barrier.is_partial) note_skips(unit, cta, barrier);
  const std::uint32_t result = barrier.count;
  const bool is_full = barrier.count == barrier.voters;
  Arrivals arrivals = std::move(barrier.arrivals);
  arrivals.next_generation();
  barrier = {};
  barrier.arrivals = std::move(arrivals);
  for (const auto& warp : cta.warps) {
    for (Split& split : warp->splits.list) {
      if (split.state != SplitState::AtBarrier || (split.value & 15U) != number) continue;
      split.resume(true, result | (is_full ? 0x8000'0000U : 0));
    }
  }
}

void report_skips(Unit& unit) {
  for (const SkippedBarrier& skip : unit.skips) {
    const auto is_it = [&](const Party& party) {
      return party.block == skip.block && party.warp == skip.warp;
    };
    const auto& list = unit.findings.list();
    if (std::none_of(list.begin(), list.end(), [&](const Finding& f) {
          return f.check == Check::Race && (is_it(f.who) || is_it(f.other));
        })) {
      continue;
    }
    const std::string where =
        skip.at == kNoOp ? "it ends without it"
                         : fmt::format("it is at the one at line {} when the others are here",
                                       unit.context.program->infos[skip.at].line);
    unit.findings.add(
        {.check = Check::Barrier,
         .who = {skip.op, skip.block, skip.warp, kAllLanes},
         .other = {skip.at, skip.block, skip.warp, kAllLanes},
         .text = fmt::format("warp {} does not come to this barrier, which is for all "
                             "threads of the block: {}; the warp races with others",
                             skip.warp, where)});
  }
}

void arrive_cluster(Unit& unit) {
  Mask arrived = 0;
  for (const Warp* warp : unit.warps) {
    if ((warp->live & ~warp->pending.cluster_arrived) != 0) return;
    arrived |= warp->live;
  }
  if (arrived == 0) return;
  for (Warp* warp : unit.warps) warp->pending.cluster_arrived = 0;
  ++unit.cluster.phase;
  ++unit.activity;
  unit.cluster.clock.join(unit.cluster.arriving);
  unit.cluster.arriving = {};
  for (Warp* warp : unit.warps) wake(*warp, SplitState::AtClusterBarrier, false);
}

void lanes_ended(Warp& warp, Mask ended) {
  Unit& unit = *warp.unit;
  if (warp.live == 0) {
    warp.ended_at = warp.current;
    check_requests(warp);
  }
  if (unit.neighbours != nullptr) unit.neighbours->ended(warp);
  for (unsigned b = 0; b < warp.cta->barriers.size(); ++b) {
    Barrier& barrier = warp.cta->barriers[b];
    if (barrier.arrived == 0) continue;
    // A warp that others of its lanes brought here counts as a whole one.
    if (has_lane(barrier.warps_arrived, warp.index))
      barrier.arrived += count_lanes(ended & ~barrier.lanes_arrived[warp.index]);
    arrive(unit, *warp.cta, b);
  }
  arrive_cluster(unit);
}

}  // namespace ww::sim
