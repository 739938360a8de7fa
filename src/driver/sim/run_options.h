// SPDX-License-Identifier: Apache-2.0
// Options of a simulated run that do not depend on what is launched.
#pragma once

#include <cstddef>

#include "driver/sim/refusals.h"
#include "driver/sim/shown_lines.h"
#include "driver/sim/tool.h"
#include "sim/launch.h"

namespace ww::driver {

inline constexpr std::size_t kMaxPtxBytes = std::size_t{1} << 30U;

/// Reads checks, schedule, limits and the like. Whether all is well, else the refusals say why.
bool read_run_options(const SimRequest& request, Refusals& refusals, sim::RunOptions& options);
/// Reads `--break`, if it is given; its lines go to `shown`.
bool read_break_option(const SimRequest& request, const sim::Program& program, Refusals& refusals,
                       sim::RunOptions& options, ShownLines& shown);

}  // namespace ww::driver
