// SPDX-License-Identifier: Apache-2.0
// The roles of a kernel's warps, for timelines: which branch of the source each warp takes, and what
// that branch is for. A role is a branch for whole warps and not for all of them, outside of loops, in
// which there is something to do: a loop, a tile primitive or a wait at an mbarrier. `with WarpRole(…)`
// is such a branch, and so is `if warp == 4`.
#pragma once

#include <vector>

#include "driver/build.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {

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
