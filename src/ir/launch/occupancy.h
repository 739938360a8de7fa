// SPDX-License-Identifier: Apache-2.0
// A kernel's requests to ptxas to fit more of its CTAs on an SM: the attributes
// `tirx.launch_bounds_min_blocks_per_sm` and `tirx.max_registers_per_thread`, of the function or in
// its body.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ir/function.h"
#include "ir/launch/launch.h"

namespace ww::ir {

/// 0 without a request. A kernel with `setmaxnreg` requests one CTA by default, which fixes the
/// registers it starts with.
struct OccupancyWish {
  std::int64_t min_ctas = 0;       // of an SM
  std::int64_t max_registers = 0;  // of a thread
};

/// Fails with BadArgument: a number that is not a constant or is out of range, two attributes that
/// contradict each other, or both wishes in one kernel, which CUDA C++ cannot express.
Result<OccupancyWish> occupancy_wish(const Function& function, const LaunchShape& shape);

}  // namespace ww::ir
