// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/watched_mbarriers.h"

#include <algorithm>
#include <vector>

#include "sim/run/unit.h"

namespace ww::sim {
namespace {

void begin_phase(RecorderContext& context, RecordedMbarrier& record, std::uint64_t number,
                 const PhasePoint& first) {
  record.phases.push_back(
      {.number = number, .begin = first.step, .end = first.step, .points = {first}});
  ++context.records;
}

// What the current phase lacks after this step.
void note_lack(RecorderContext& context, RecordedPhase& phase, const Mbarrier& barrier) {
  phase.bytes = std::max(phase.bytes, barrier.tx);
  PhasePoint& last = phase.points.back();
  if (last.arrivals == barrier.pending && last.bytes == barrier.tx) return;
  if (last.step >= context.now + 1) {
    last.arrivals = barrier.pending;
    last.bytes = barrier.tx;
    return;
  }
  phase.points.push_back({context.now + 1, barrier.pending, barrier.tx});
  ++context.records;
}

}  // namespace

void WatchedMbarriers::update() {
  std::size_t alive = 0;
  for (const auto& cta : context_.unit.ctas) {
    std::vector<std::uint32_t> offsets;  // in order, so that new ones are numbered alike each time
    for (const auto& [offset, barrier] : cta->mbarriers) offsets.push_back(offset);
    std::ranges::sort(offsets);
    alive += offsets.size();
    for (const std::uint32_t offset : offsets)
      note(*cta, offset, cta->mbarriers.find(offset)->second);
  }
  if (alive == by_address_.size()) return;
  std::erase_if(by_address_, [&](const auto& entry) {
    if (find_mbarrier(context_.unit, entry.first) != nullptr) return false;
    RecordedMbarrier& record = context_.out.mbarriers[entry.second];
    record.end = record.phases.back().end = context_.now + 1;
    return true;
  });
}

void WatchedMbarriers::note(const Cta& cta, std::uint32_t offset, const Mbarrier& barrier) {
  std::vector<RecordedMbarrier>& all = context_.out.mbarriers;
  const std::uint64_t now = context_.now;
  const std::uint64_t address = cta.shared.base + offset;
  const auto [found, is_new] =
      by_address_.try_emplace(address, static_cast<std::uint32_t>(all.size()));
  if (is_new) {
    all.push_back({.cta = cta.rank, .offset = offset, .op = barrier.op});
    begin_phase(context_, all.back(), 0, {now, barrier.expected, 0});
  }
  RecordedMbarrier& record = all[found->second];
  if (record.phases.back().number != barrier.phase) {
    RecordedPhase& over = record.phases.back();
    over.end = now + 1;
    over.is_over = true;
    const auto work = arrived_.find(address);
    over.is_by_work = work != arrived_.end();
    over.completed_by = over.is_by_work ? work->second : context_.doer;
    begin_phase(context_, record, barrier.phase, {now + 1, barrier.pending, barrier.tx});
  }
  note_lack(context_, record.phases.back(), barrier);
}

std::optional<std::uint32_t> WatchedMbarriers::find(std::uint64_t address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> WatchedMbarriers::look_up(std::uint64_t address) {
  if (!by_address_.contains(address)) update();
  return find(address);
}

void WatchedMbarriers::note_arrival(std::uint32_t index, const Doer& issued_by) {
  const RecordedMbarrier& record = context_.out.mbarriers[index];
  arrived_[context_.unit.ctas[record.cta]->shared.base + record.offset] = issued_by;
}

void WatchedMbarriers::end(std::uint64_t steps) {
  for (const auto& [address, index] : by_address_) {
    RecordedMbarrier& record = context_.out.mbarriers[index];
    record.end = record.phases.back().end = steps;
  }
}

}  // namespace ww::sim
