// SPDX-License-Identifier: Apache-2.0
// The roles of a kernel's warps, for timelines: which branch of the source each warp takes, and what
// that branch is for. A role is a branch for whole warps and not for all of them, outside of loops, in
// which there is something to do: a loop, a tile primitive or a wait at an mbarrier. `with WarpRole(…)`
// is such a branch, and so is `if warp == 4`.
#pragma once

#include <vector>

#include "driver/build.h"
#include "driver/timeline/names.h"
#include "driver/timeline/timeline.h"
#include "sim/program.h"

namespace ww::driver {

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
