// SPDX-License-Identifier: Apache-2.0
#include "sim/run/mbarriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

// Copies that are still on their way when the phase is over: no wait covers them.
void report_overrun(Unit& unit, Mbarrier& barrier, std::uint64_t address) {
  if (!unit.checks(Check::Barrier)) return;
  const PendingJob* first = nullptr;
  std::int64_t more = 0;
  for (const PendingJob& job : unit.jobs) {
    if (job.mbarrier != address || job.bytes == 0) continue;
    if (first == nullptr) first = &job;
    more += job.bytes;
  }
  if (first == nullptr) return;
  barrier.is_overrun = true;
  const Warp& warp = *first->warp;
  unit.findings.add(
      {.check = Check::Barrier,
       .who = {first->op, warp.cta->linear, warp.index, lane_bit(first->lane)},
       .other = {barrier.expect_op, warp.cta->linear, warp.index, 0},
       .text = fmt::format("the mbarrier at {} expects {} bytes and its phase ends when "
                           "they are there, with {} bytes more still on their way",
                           shared_text(unit, address), barrier.bytes, more),
       .address = address,
       .has_address = true});
}

}  // namespace

void note_supply(Mbarrier& barrier, const MbarrierSupply& supply) {
  constexpr std::size_t kMaxSupplies = 16;
  for (MbarrierSupply& known : barrier.supplies) {
    if (!known.is_like(supply)) continue;
    known.arrivals = std::max(known.arrivals, supply.arrivals);
    return;
  }
  if (barrier.supplies.size() < kMaxSupplies) barrier.supplies.push_back(supply);
}

Mbarrier* find_mbarrier(Unit& unit, std::uint64_t address) {
  const std::uint64_t rank = shared_rank(address);
  if (rank >= unit.ctas.size()) return nullptr;
  auto& all = unit.ctas[rank]->mbarriers;
  const auto found = all.find(static_cast<std::uint32_t>(shared_offset(address)));
  return found == all.end() ? nullptr : &found->second;
}

void fence_mbarriers(const Warp& warp) {
  for (auto& [offset, barrier] : warp.cta->mbarriers) {
    if (barrier.is_fenced || barrier.maker / kLanes != warp.unit_warp() ||
        !has_lane(warp.exec, barrier.maker % kLanes)) {
      continue;
    }
    barrier.is_fenced = true;
    barrier.fenced_at = warp.unit->cluster.phase;
  }
}

void settle_phase(Unit& unit, Mbarrier& barrier, std::uint64_t address) {
  ++unit.activity;
  if (barrier.pending != 0 || barrier.tx != 0) return;
  if (!unit.jobs.empty()) report_overrun(unit, barrier, address);
  barrier.bytes = 0;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.clock.join(barrier.arriving);
  barrier.arriving.clear();
  barrier.arrivals.next_generation();
  for (Warp* warp : unit.warps) {
    for (Split& split : warp->splits.list) {
      if (split.state == SplitState::Asleep && split.address == address) split.resume(false);
    }
  }
}

// Bytes that were counted and never expected. While there are threads left, who could yet expect
// them, only of mbarriers that a thread waits for in vain.
void report_left_over(Unit& unit) {
  if (!unit.checks(Check::Barrier)) return;
  const auto is_over = [&](std::uint64_t address) {
    return std::all_of(unit.warps.begin(), unit.warps.end(),
                       [](const Warp* warp) { return warp->done(); }) ||
           std::any_of(unit.warps.begin(), unit.warps.end(), [&](const Warp* warp) {
             return std::any_of(warp->splits.list.begin(), warp->splits.list.end(),
                                [&](const Split& s) {
                                  return s.state == SplitState::Asleep && s.address == address;
                                });
           });
  };
  for (const auto& cta : unit.ctas) {
    for (const auto& [offset, barrier] : cta->mbarriers) {
      if (barrier.tx >= 0 || barrier.is_overrun || !is_over(cta->shared.base + offset)) continue;
      unit.findings.add(
          {.check = Check::Barrier,
           .who = {barrier.complete_op, cta->linear, 0, 0},
           .other = {barrier.expect_op, cta->linear, 0, 0},
           .text = fmt::format("the mbarrier at {} gets {} bytes more than it expects",
                               shared_text(unit, cta->shared.base + offset), -barrier.tx),
           .address = cta->shared.base + offset,
           .has_address = true});
    }
  }
}

bool has_jobs(const Unit& unit, std::uint64_t mbarrier) {
  return std::ranges::any_of(unit.jobs,
                             [&](const PendingJob& job) { return job.mbarrier == mbarrier; });
}

const char* use_of(const Unit& unit, const Mbarrier& barrier, std::uint64_t address) {
  const bool has_sleepers = std::ranges::any_of(unit.warps, [&](const Warp* warp) {
    return std::ranges::any_of(warp->splits.list, [&](const Split& split) {
      return split.state == SplitState::Asleep && split.address == address;
    });
  });
  return has_jobs(unit, address) ? "asynchronous work is on its way to it"
         : has_sleepers          ? "threads wait for it"
         : barrier.tx != 0       ? "bytes that it expects have not come"
                                 : nullptr;
}

void deliver_jobs(Unit& unit, std::uint64_t mbarrier) {
  for (std::size_t i = 0; i < unit.jobs.size();) {
    if (unit.jobs[i].mbarrier != mbarrier) {
      ++i;
      continue;
    }
    PendingJob job = std::move(unit.jobs[i]);
    unit.jobs.erase(unit.jobs.begin() + static_cast<std::ptrdiff_t>(i));
    job.deliver();
  }
}

}  // namespace ww::sim
