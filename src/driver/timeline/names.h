// SPDX-License-Identifier: Apache-2.0
// How a timeline calls what a recording numbers: warps, mbarriers, instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "driver/args/file_plan.h"
#include "driver/launch/refusals.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {

class TimelineNames {
 public:
  /// Both must outlive it.
  TimelineNames(const sim::Recording& recording, const TimelineSource& source)
      : recording_(recording), source_(source) {}

  /// "full[0]", "0x40".
  [[nodiscard]] std::string mbarrier(std::uint32_t index) const;
  /// "warp 2", "warp 8 (producer)"; with its block where the cluster has several.
  [[nodiscard]] std::string warp(std::uint32_t warp) const;
  [[nodiscard]] std::string block(std::uint32_t cta) const;
  /// The first parts of an opcode, enough to know it by: "cp.async.bulk".
  [[nodiscard]] std::string opcode(std::uint32_t op) const;
  /// What a wait is for: "full[0]", "barrier 1"; "" of a span that runs.
  [[nodiscard]] std::string subject(sim::WarpState state, std::uint32_t subject) const;
  [[nodiscard]] std::optional<TimelineParty> party(const sim::Doer& doer) const;
  /// The role of a warp of the cluster: index into TimelineSource::roles.
  [[nodiscard]] std::optional<std::size_t> role(std::uint32_t warp) const;

 private:
  const sim::Recording& recording_;
  const TimelineSource& source_;
};

// --- plan ----------------------------------------------------------------------------------------
//
// The options of timelines, read before the run.

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
