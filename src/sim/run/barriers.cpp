// SPDX-License-Identifier: Apache-2.0
// The barriers of a unit: of its CTAs, of the cluster, and mbarriers with the work that signals
// them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

std::uint32_t threads_of(const Warp& warp) {
  // The last warp of a block counts as a whole one.
  return warp.live != 0 ? kLanes : 0;
}

}  // namespace

// --- barriers ------------------------------------------------------------------------------------

void Unit::arrive(Cta& cta, unsigned number) {
  Barrier& barrier = cta.barriers[number];
  std::uint32_t expected = barrier.expected;
  if (!barrier.is_partial) {
    expected = 0;
    for (const auto& warp : cta.warps) expected += threads_of(*warp);
  }
  if (barrier.arrived == 0) return;
  if (barrier.arrived < expected) {
    if (barrier.is_partial) report_hopeless(cta, number, barrier);
    return;
  }
  if (barrier.arrived > expected && barrier.is_partial &&
      context.options->checks.has(Check::Barrier)) {
    findings.add({.check = Check::Barrier,
                  .who = {barrier.first_op, cta.linear, 0, 0},
                  .text = fmt::format("barrier {}: {} threads arrived, {} were expected", number,
                                      barrier.arrived, expected)});
  }
  ++activity;
  if (order != nullptr) {
    std::vector<unsigned> met;
    for (const auto& warp : cta.warps) {
      if (has_lane(barrier.warps_arrived & ~barrier.warps_passing, warp->index))
        met.push_back(warp->unit_warp());
    }
    if (ctas.size() == 1 && met.size() == cta.warps.size()) {
      order->everyone_met();
    } else {
      order->met(met, barrier.passed);
    }
  }
  if (!barrier.is_partial) note_skips(cta, barrier);
  const std::uint32_t result = barrier.count;
  const bool is_full = barrier.count == barrier.voters;
  barrier = {};
  for (const auto& warp : cta.warps) {
    for (Split& split : warp->splits()) {
      if (split.state != SplitState::AtBarrier || (split.value & 15U) != number) continue;
      split.state = SplitState::Running;
      split.is_granted = true;
      split.value = result | (is_full ? 0x8000'0000U : 0);
    }
  }
}

// A barrier for a number of threads counts only those that come: once too many have ended, those
// who wait do so for ever. (One for all threads does not wait for ended ones.)
void Unit::report_hopeless(const Cta& cta, unsigned number, const Barrier& barrier) {
  if (!context.options->checks.has(Check::Barrier)) return;
  std::uint32_t most = barrier.arrived;
  const Warp* ended = nullptr;
  for (const auto& warp : cta.warps) {
    if (has_lane(barrier.warps_arrived, warp->index)) {
      // Whoever has arrived and gone on may come again.
      if (warp->live != 0 && has_lane(barrier.warps_passing, warp->index)) return;
      continue;
    }
    most += threads_of(*warp);
    if (warp->live == 0 && ended == nullptr) ended = warp.get();
  }
  if (most >= barrier.expected || ended == nullptr) return;
  const unsigned waiting = first_lane(barrier.warps_arrived);
  findings.add({.check = Check::Barrier,
                .who = {barrier.first_op, cta.linear, waiting, cta.warps[waiting]->live},
                .other = {ended->ended_at, cta.linear, ended->index, ended->born},
                .text = fmt::format("barrier {} waits for {} threads and no more than {} can come: "
                                    "warp {} has ended without it",
                                    number, barrier.expected, most, ended->index)});
}

// Warps that are at another barrier than most, or nowhere any more. That may be as it should, and
// is told of only when such a warp turns out to race.
void Unit::note_skips(const Cta& cta, const Barrier& barrier) {
  constexpr std::size_t kMost = 64;
  if (races == nullptr || !context.options->checks.has(Check::Barrier)) return;
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
    if (at != most->first && skips_.size() < kMost)
      skips_.push_back({most->first, at, cta.linear, warp->index});
  }
}

void Unit::report_skips() {
  for (const SkippedBarrier& skip : skips_) {
    const auto is_it = [&](const Party& party) {
      return party.block == skip.block && party.warp == skip.warp;
    };
    const auto& list = findings.list();
    if (std::none_of(list.begin(), list.end(), [&](const Finding& f) {
          return f.check == Check::Race && (is_it(f.who) || is_it(f.other));
        })) {
      continue;
    }
    const std::string where =
        skip.at == kNoOp ? "it ends without it"
                         : fmt::format("it is at the one at line {} when the others are here",
                                       context.program->infos[skip.at].line);
    findings.add({.check = Check::Barrier,
                  .who = {skip.op, skip.block, skip.warp, kAllLanes},
                  .other = {skip.at, skip.block, skip.warp, kAllLanes},
                  .text = fmt::format("warp {} does not come to this barrier, which is for all "
                                      "threads of the block: {}; the warp races with others",
                                      skip.warp, where)});
  }
}

void Unit::arrive_cluster(std::uint64_t arrived) {
  cluster_arrived_ += arrived;
  std::uint64_t expected = 0;
  for (const auto& cta : ctas) {
    for (const auto& warp : cta->warps) expected += count_lanes(warp->live);
  }
  if (cluster_arrived_ < expected || cluster_arrived_ == 0) return;
  cluster_arrived_ = 0;
  ++cluster_phase_;
  ++activity;
  cluster_clock.join(cluster_arriving);
  cluster_arriving = {};
  for (Warp* warp : order_) warp->wake(SplitState::AtClusterBarrier, false);
}

void Unit::lanes_ended(Warp& warp) {
  if (warp.live == 0) warp.ended_at = warp.this_op();
  if (neighbours != nullptr) neighbours->ended(warp);
  for (unsigned b = 0; b < warp.cta->barriers.size(); ++b) {
    if (warp.cta->barriers[b].arrived != 0) arrive(*warp.cta, b);
  }
  arrive_cluster();
}

// --- mbarriers -----------------------------------------------------------------------------------

Mbarrier* Unit::find_mbarrier(std::uint64_t address) {
  const std::uint64_t inside = address - kSharedWindow;
  const std::uint64_t rank = (inside >> kRankShift) - 1;
  if (rank >= ctas.size()) return nullptr;
  auto& all = ctas[rank]->mbarriers;
  const auto found = all.find(static_cast<std::uint32_t>(inside & ((1U << kRankShift) - 1)));
  return found == all.end() ? nullptr : &found->second;
}

void Unit::fence_mbarriers(const Warp& warp) {
  for (auto& [offset, barrier] : warp.cta->mbarriers) {
    if (barrier.is_fenced || barrier.maker / kLanes != warp.unit_warp() ||
        !has_lane(warp.exec, barrier.maker % kLanes)) {
      continue;
    }
    barrier.is_fenced = true;
    barrier.fenced_at = cluster_phase_;
  }
}

void Unit::settle(Mbarrier& barrier, std::uint64_t address) {
  ++activity;
  if (barrier.pending != 0 || barrier.tx != 0) return;
  if (!jobs.empty()) report_overrun(barrier, address);
  barrier.bytes = 0;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.clock.join(barrier.arriving);
  barrier.arriving.clear();
  for (Warp* warp : order_) {
    for (Split& split : warp->splits()) {
      if (split.state != SplitState::Asleep || split.address != address) continue;
      split.state = SplitState::Running;
      split.is_granted = false;
    }
  }
}

// Copies that are still on their way when the phase is over: nobody waits for them.
void Unit::report_overrun(Mbarrier& barrier, std::uint64_t address) {
  if (!context.options->checks.has(Check::Barrier)) return;
  const PendingJob* first = nullptr;
  std::int64_t more = 0;
  for (const PendingJob& job : jobs) {
    if (job.mbarrier != address || job.bytes == 0) continue;
    if (first == nullptr) first = &job;
    more += job.bytes;
  }
  if (first == nullptr) return;
  barrier.is_overrun = true;
  const Warp& warp = *first->warp;
  findings.add(
      {.check = Check::Barrier,
       .who = {first->op, warp.cta->linear, warp.index, lane_bit(first->lane)},
       .other = {barrier.expect_op, warp.cta->linear, warp.index, 0},
       .text = fmt::format("the mbarrier at 0x{:x} expects {} bytes and its phase ends when "
                           "they are there, with {} bytes more still on their way",
                           address & ((1U << kRankShift) - 1), barrier.bytes, more),
       .address = address,
       .has_address = true});
}

// Bytes that were counted and never expected. While there are threads left, who could yet expect
// them, only of mbarriers that somebody waits for in vain.
void Unit::report_left_over() {
  if (!context.options->checks.has(Check::Barrier)) return;
  const auto is_over = [&](std::uint64_t address) {
    return std::all_of(order_.begin(), order_.end(),
                       [](const Warp* warp) { return warp->done(); }) ||
           std::any_of(order_.begin(), order_.end(), [&](const Warp* warp) {
             return std::any_of(warp->splits().begin(), warp->splits().end(), [&](const Split& s) {
               return s.state == SplitState::Asleep && s.address == address;
             });
           });
  };
  for (const auto& cta : ctas) {
    for (const auto& [offset, barrier] : cta->mbarriers) {
      if (barrier.tx >= 0 || barrier.is_overrun || !is_over(cta->shared.base + offset)) continue;
      findings.add({.check = Check::Barrier,
                    .who = {barrier.complete_op, cta->linear, 0, 0},
                    .other = {barrier.expect_op, cta->linear, 0, 0},
                    .text = fmt::format("the mbarrier at 0x{:x} gets {} bytes more than it expects",
                                        offset, -barrier.tx),
                    .address = cta->shared.base + offset,
                    .has_address = true});
    }
  }
}

void Unit::deliver(std::uint64_t mbarrier) {
  for (std::size_t i = 0; i < jobs.size();) {
    if (jobs[i].mbarrier != mbarrier) {
      ++i;
      continue;
    }
    PendingJob job = std::move(jobs[i]);
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(i));
    job.deliver();
  }
}

}  // namespace ww::sim
