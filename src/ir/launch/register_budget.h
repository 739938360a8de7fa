// SPDX-License-Identifier: Apache-2.0
// The register budget of a kernel whose roles call `setmaxnreg`. A CTA gets its registers when it
// starts, the same number for each thread; `dec` returns some to the CTA, `inc` takes some and
// waits until they are free. So all warps together must not end with more than the CTA started
// with.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/function.h"
#include "ir/launch/launch.h"
#include "ir/launch/occupancy.h"

namespace ww::ir {

/// One `setmaxnreg` as a statement.
struct RegisterRequest {
  bool takes = false;      // `inc`
  std::int64_t count = 0;  // for each thread
};

/// Empty for other statements, and if the count is not a constant.
std::optional<RegisterRequest> register_request(const Function& function, StmtId stmt);

/// Whether the body has any.
bool moves_registers(const Function& function);

/// Registers of each thread when the kernel starts, as ptxas gives them: `.maxnreg`, or what an SM
/// has for the CTAs that are wished for, no more than the largest `inc` asks for (`most_taken`; 0:
/// there is none).
std::int64_t registers_at_start(const OccupancyWish& wish, const LaunchShape& shape,
                                std::int64_t most_taken);

}  // namespace ww::ir
