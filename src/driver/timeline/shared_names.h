// SPDX-License-Identifier: Apache-2.0
// The names that a source file gives to parts of shared memory, where the PTX has one array for all:
// the pieces of a pool.
#pragma once

#include <vector>

#include "driver/build.h"
#include "driver/timeline/timeline.h"
#include "sim/program.h"

namespace ww::driver {

/// Of the buffers in shared memory that lie at a known place. Those of a smaller size come first, so
/// that the first one that holds an address is the closest.
std::vector<SharedName> shared_names(const Build& build, const sim::Program& program);

}  // namespace ww::driver
