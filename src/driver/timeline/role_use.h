// SPDX-License-Identifier: Apache-2.0
// How the warps of a role spent the steps of a run.
#pragma once

#include "driver/timeline/names.h"
#include "driver/timeline/timeline.h"

namespace ww::driver {

/// Exact also where the recording has merged spans, but for copies and products, whose gaps of less
/// than a grain are then counted as filled.
RoleUse role_use(const sim::Recording& recording, const TimelineNames& names, const WarpRole& role);

}  // namespace ww::driver
