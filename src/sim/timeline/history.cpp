// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/history.h"

#include <algorithm>
#include <cstring>

namespace ww::sim {
namespace {

// The last change that is not after the moment; nullptr: there is none.
template <typename Change>
const Change* last_before(const std::vector<Change>& changes, std::uint64_t moment) {
  const auto next = std::ranges::upper_bound(changes, moment, {}, &Change::moment);
  return next == changes.begin() ? nullptr : &*std::prev(next);
}

}  // namespace

const HistoryRegion* History::find(HistoryPart part, std::uint32_t index) const {
  const auto at = std::ranges::find_if(regions, [&](const HistoryRegion& region) {
    return region.part == part && region.index == index;
  });
  return at == regions.end() ? nullptr : &*at;
}

WarpStatus History::status_at(std::uint32_t warp, std::uint64_t moment) const {
  const StatusChange* const change = last_before(warps[warp], moment);
  return change == nullptr ? WarpStatus{} : change->status;
}

BarrierStatus History::status_at(const BarrierHistory& barrier, std::uint64_t moment) {
  const BarrierChange* const change = last_before(barrier.changes, moment);
  return change == nullptr ? BarrierStatus{} : change->status;
}

std::uint64_t History::bytes() const {
  std::uint64_t sum = changes.size() + moments.size() * (sizeof(Moment) + sizeof(std::uint64_t));
  for (const HistoryRegion& region : regions) sum += region.first.size();
  for (const auto& warp : warps) sum += warp.size() * sizeof(StatusChange);
  for (const BarrierHistory& barrier : barriers)
    sum += barrier.changes.size() * sizeof(BarrierChange);
  sum += copies.size() * (sizeof(EngineCopy) + sizeof(CopyTarget));
  return sum + products.size() * sizeof(EngineProduct);
}

std::vector<ChangedBytes> changes_of(const History& history, std::uint64_t moment) {
  std::vector<ChangedBytes> out;
  std::uint64_t at = history.change_begins[moment];
  while (at < history.change_begins[moment + 1]) {
    ChangeHead head;
    std::memcpy(&head, history.changes.data() + at, sizeof head);
    at += sizeof head;
    out.push_back({head.region, head.offset, {history.changes.data() + at, head.size}});
    at += head.size;
  }
  return out;
}

HistoryCursor::HistoryCursor(const History& history) : history_(history) {
  for (const HistoryRegion& region : history.regions) images_.push_back(region.first);
}

void HistoryCursor::apply(std::uint64_t moment) {
  std::uint64_t at = history_.change_begins[moment];
  while (at < history_.change_begins[moment + 1]) {
    ChangeHead head;
    std::memcpy(&head, history_.changes.data() + at, sizeof head);
    at += sizeof head;
    std::byte* const to = images_[head.region].data() + head.offset;
    const std::byte* const difference = history_.changes.data() + at;
    for (std::uint32_t i = 0; i < head.size; ++i) to[i] ^= difference[i];
    at += head.size;
  }
}

void HistoryCursor::seek(std::uint64_t moment) {
  moment = std::min<std::uint64_t>(moment, history_.moments.size());
  while (moment_ < moment) apply(moment_++);
  while (moment_ > moment) apply(--moment_);
}

std::span<const std::byte> HistoryCursor::bytes(HistoryPart part, std::uint32_t index) const {
  const HistoryRegion* const region = history_.find(part, index);
  if (region == nullptr) return {};
  return images_[static_cast<std::size_t>(region - history_.regions.data())];
}

}  // namespace ww::sim
