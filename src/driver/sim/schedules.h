// SPDX-License-Identifier: Apache-2.0
// One launch in several interleavings: warps in order, from the last to the first, then by chance with
// asynchronous work that completes early or late. What a kernel leaves must not depend on them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ww::driver {

struct SimRequest;
struct SimOutcome;

/// What came of them.
struct SchedulesReport {
  std::vector<std::string> run;  // as `--schedule` takes them
  std::string differs;           // how the last one differs from the first; empty: all agree
};

/// The name of the n-th schedule: `rr`, `reverse`, `random:1`, `random:2`, …
std::string schedule_name(unsigned number);

/// Runs `request.schedules` of them through `run`, until one does not finish, finds something or
/// leaves other results than the first; gives the report of that one, or of the first.
SimOutcome run_schedules(const SimRequest& request,
                         const std::function<SimOutcome(const SimRequest&)>& run);

}  // namespace ww::driver
