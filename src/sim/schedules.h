// SPDX-License-Identifier: Apache-2.0
// A launch in several schedules, from the same memory. The checks see what one shows: a barrier that
// two roles share, a phase that a slow warp misses, a hang or a race may show in another one alone. So
// each warp and each role is delayed once until no other can go on, and ranks are drawn as in
// probabilistic concurrency testing (Burckhardt and others, 2010).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/launch.h"
#include "sim/schedule.h"

namespace ww::sim {

/// The schedules of a launch after its first run, of which `seen` is.
std::vector<Schedule> schedules_after(const ScheduleHints& seen, unsigned count);

/// Runs a launch in RunOptions::schedules until one does not finish, finds something or leaves other values
/// than the first; memory is then as that one left it, and otherwise as the first did. With a budget of
/// work, only kernels in which one thread's progress may change what others do other than at barriers
/// for all of them: in all others what is ordered, and so each race, is the same in all.
Result<LaunchReport> run_in_schedules(
    GlobalMemory& memory, const Code& code, const RunOptions& options,
    const std::function<Result<LaunchReport>(const RunOptions&)>& run);

}  // namespace ww::sim
