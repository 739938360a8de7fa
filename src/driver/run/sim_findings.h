// SPDX-License-Identifier: Apache-2.0
// What a run on the virtual GPU adds to the report of a kernel, for `warpwright run`
// and for calls with the caller's own arrays (driver/call/call.h).
#pragma once

#include "base/source.h"
#include "driver/run/tool.h"
#include "runtime/sim_device.h"

namespace ww::driver {

/// Grid, block, cluster and shared memory.
void add_launch(RunReport& report, const runtime::Launch& launch);
/// Outcome, counters and findings of the last launch, each finding with its line of `source`: the
/// text that the kernel was compiled from.
void add_sim_report(RunReport& report, const runtime::SimDevice& device,
                    const runtime::Launch& launch, const SourceText& source);

}  // namespace ww::driver
