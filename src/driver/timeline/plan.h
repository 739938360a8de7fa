// SPDX-License-Identifier: Apache-2.0
// The options of timelines, read before the run.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/args/file_plan.h"
#include "driver/sim/refusals.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {

/// What the options ask for.
struct TimelinePlan {
  std::uint64_t block = 0;
  std::optional<StepRange> range = {};
};

/// Reads the options and adds the file to the plan of files. None, with the reasons in
/// `refusals`, where an option cannot be met. The grid: none if it is not known yet; then the block
/// is a number.
std::optional<TimelinePlan> plan_timeline(const TimelineRequest& request,
                                          const std::optional<sim::Dim3>& grid, FilePlan& files,
                                          Refusals& refusals);

/// Makes the timeline of a run and writes it. BadArgument when the run has no recording.
Result<void> draw_timeline(const TimelineRequest& request, const TimelinePlan& plan,
                           const std::optional<sim::Recording>& recording,
                           const TimelineSource& source);

}  // namespace ww::driver
