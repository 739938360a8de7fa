// SPDX-License-Identifier: Apache-2.0
// Several launches of one module, in order, over the same arrays and variables: what a stream does. See
// driver/sim/launch_text.h for the notation and sim/checks/grid_history.h for launches that overlap.
#pragma once

#include "driver/sim/tool.h"

namespace ww::driver {

/// Runs `request.launches`, of which there is one at least, until one does not finish.
SimOutcome run_launches(const SimRequest& request);

}  // namespace ww::driver
