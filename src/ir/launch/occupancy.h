// SPDX-License-Identifier: Apache-2.0
// A kernel's requests to ptxas to fit more of its CTAs on an SM: the attributes
// `tirx.launch_bounds_min_blocks_per_sm` and `tirx.max_registers_per_thread`, of the function or in
// its body.
//
// The register budget of a kernel whose roles call `setmaxnreg`. A CTA gets its registers when it
// starts, the same number for each thread; `dec` returns some to the CTA, `inc` takes some and
// waits until they are free. So all warps together must not end with more than the CTA started
// with.
#pragma once

#include <cstdint>
#include <optional>

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

/// One `setmaxnreg` as a statement.
struct RegisterRequest {
  bool takes = false;      // `inc`
  std::int64_t count = 0;  // for each thread
};

/// Empty for other statements, and if the count is not a constant.
std::optional<RegisterRequest> register_request(const Function& function, const Stmt& stmt);

/// Whether the body has any.
bool moves_registers(const Function& function);

/// Registers of each thread when the kernel starts, as ptxas gives them: `.maxnreg`, or what an SM
/// has for the CTAs that are wished for, no more than the largest `inc` asks for (`most_taken`; 0:
/// there is none).
std::int64_t registers_at_start(const OccupancyWish& wish, const LaunchShape& shape,
                                std::int64_t most_taken);

}  // namespace ww::ir
