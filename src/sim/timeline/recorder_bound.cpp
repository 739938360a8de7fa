// SPDX-License-Identifier: Apache-2.0
// The part of the recorder that keeps it small: when there are too many records, the grain doubles
// until half of them would do. What is still under way is left as it is.
#include "sim/run/unit.h"
#include "sim/timeline/detail.h"
#include "sim/timeline/recorder.h"

namespace ww::sim {
namespace {

// Spans of a warp that may still change: a wait that was left for a look, the look, the next wait.
constexpr std::size_t kLiveSpans = 4;
// A phase that is not over, and the one before, for which waits are still to be let go.
constexpr std::size_t kLivePhases = 2;

}  // namespace

void Recorder::bound() {
  if (records_ <= kMaxRecords) return;
  while (records_ > kMaxRecords / 2 && out_.grain <= now_) coarsen();
  if (records_ <= kMaxRecords) return;
  out_.is_cut = true;
  clip(now_);
}

void Recorder::coarsen() {
  constexpr std::uint64_t kFirstGrain = 16;
  out_.grain = out_.grain == 0 ? kFirstGrain : out_.grain * 2;
  for (RecordedWarp& warp : out_.warps)
    merge_spans(warp.spans, out_.grain, kLiveSpans, &warp.merged);
  for (RecordedMbarrier& barrier : out_.mbarriers)
    merge_phases(barrier.phases, out_.grain, kLivePhases);
  merge_closed_work();
  records_ = count_records();
}

void Recorder::merge_closed_work() {
  std::vector<bool> is_live(out_.work.size());
  for (const auto* list : {&jobs_, &copies_, &tensor_, &products_})
    for (const LiveWork& each : *list) is_live[each.record] = true;
  for (const auto& [key, record] : open_) is_live[record] = true;
  const std::vector<std::uint32_t> place = merge_all_work(out_.work, out_.grain, is_live);
  for (auto* list : {&jobs_, &copies_, &tensor_, &products_})
    for (LiveWork& each : *list) each.record = place[each.record];
  for (auto& [key, record] : open_) record = place[record];
}

std::size_t Recorder::count_records() const {
  std::size_t count = out_.work.size();
  for (const RecordedWarp& warp : out_.warps) count += warp.spans.size();
  for (const RecordedMbarrier& barrier : out_.mbarriers)
    for (const RecordedPhase& phase : barrier.phases) count += 1 + phase.points.size();
  return count;
}

}  // namespace ww::sim
