// SPDX-License-Identifier: Apache-2.0
// A run on the GPU, in a process of its own. A kernel that traps leaves CUDA unusable for the rest of its process, and
// one that does not end can be ended in no other way.
#pragma once

#include "explore/request.h"
#include "explore/run_call.h"

namespace ww::explore {

/// Runs `warpwright run --device cuda` of `program`, the path of this program, and times so many launches: `errors`, and
/// `report`, which is null where there is none. Throws Cancelled, after killing it, when the work is cancelled.
Json gpu_result(const std::string& program, const RunWish& wish, int launches);

}  // namespace ww::explore
