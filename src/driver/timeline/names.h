// SPDX-License-Identifier: Apache-2.0
// How a timeline calls what a recording numbers: warps and their roles, mbarriers, instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/args/file_plan.h"
#include "driver/build.h"
#include "driver/launch/launch.h"
#include "driver/timeline/timeline.h"
#include "runtime/sim_device.h"
#include "sim/program.h"

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

// --- roles of warps ------------------------------------------------------------------------------
//
// The roles of a kernel's warps, for timelines: which branch of the source each warp takes, and what
// that branch is for. A role is a branch for whole warps and not for all of them, outside of loops, in
// which there is something to do: a loop, a tile primitive or a wait at an mbarrier. `with WarpRole(…)`
// is such a branch, and so is `if warp == 4`.

/// What the source of a build calls the parts of its program; grid, file and outcome are left open.
TimelineSource timeline_source(const Build& build, const sim::Program& program);
/// The same for messages of a launch of it on that device. Both must outlive it.
sim::LaunchNames launch_names(const Build& build, const runtime::SimDevice& device);

// --- role use ------------------------------------------------------------------------------------
//
// How the warps of a role spent the steps of a run.

/// Exact also where the recording has merged spans, but for copies and products, whose gaps of less
/// than a grain are then counted as filled.
RoleUse role_use(const sim::Recording& recording, const TimelineNames& names, const WarpRole& role);

// --- shared names --------------------------------------------------------------------------------
//
// The names that a source file gives to parts of shared memory, where the PTX has one array for all:
// the pieces of a pool.

/// Of the buffers in shared memory that lie at a known place. Those of a smaller size come first, so
/// that the first one that holds an address is the closest.
std::vector<SharedName> shared_names(const Build& build, const sim::Program& program);

/// In the order of their first warps. No warp is in two of them; one that takes no such branch, or
/// every one, is in none. Empty where the launch is not known.
///
/// A role is named as the source names it (`with producer:`), or by what it does:
///
///     producer   copies from global into shared memory, and reads nothing there
///     mma        has the tensor core write to tensor memory, and does not read that
///     epilogue   reads tensor memory
///     consumer   reads shared memory
///
/// Others have no name, but their condition.
std::vector<WarpRole> warp_roles(const Build& build);

}  // namespace ww::driver
