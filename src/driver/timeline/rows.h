// SPDX-License-Identifier: Apache-2.0
// The rows of a timeline before they have words: warps that did the same share one, work that overlaps
// gets rows of its own, each mbarrier has one. They are those of the whole recording, so that they stay
// where they are when another part of it is shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/timeline/names.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {

struct TimelineRow {
  LaneKind kind = LaneKind::Warps;
  std::uint32_t cta = 0;
  std::string name = {};              // empty: more work beside that of the row before
  std::uint32_t first = 0, last = 0;  // warps of the cluster; of Warps and Work
  std::optional<std::size_t> role = {};
  std::uint32_t mbarrier = 0;  // index into Recording::mbarriers
  // One of these, by kind; in the order of steps
  std::vector<sim::WarpSpan> spans = {};
  std::vector<sim::AsyncRecord> work = {};
  std::vector<sim::RecordedPhase> phases = {};

  [[nodiscard]] std::size_t size() const { return spans.size() + work.size() + phases.size(); }
};

std::vector<TimelineRow> timeline_rows(const sim::Recording& recording, const TimelineNames& names);

/// Keeps what is between the two steps.
void cut_rows(std::vector<TimelineRow>& rows, std::uint64_t from, std::uint64_t to);
/// Merges what is short until no more than so many are left. The grain; 0: nothing was merged.
std::uint64_t merge_rows(std::vector<TimelineRow>& rows, std::size_t most);

/// The phase of that number, unless it was merged with others; nullptr: there is none.
const sim::RecordedPhase* find_phase(const sim::RecordedMbarrier& barrier, std::uint64_t number);

}  // namespace ww::driver
