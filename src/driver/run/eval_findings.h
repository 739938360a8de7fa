// SPDX-License-Identifier: Apache-2.0
// What a run on the reference evaluator adds to the report of a kernel, for `warpwright run` and for
// calls with the caller's own arrays (driver/call/call.h).
#pragma once

#include "base/source.h"
#include "driver/run/tool.h"
#include "eval/eval.h"
#include "ir/function.h"

namespace ww::driver {

/// Device, launch, counters and findings, each finding with its line of `source`: the text that the
/// kernel was compiled from.
void add_eval_report(RunReport& report, const eval::Report& run, const ir::Function& tile,
                     const SourceText& source);

}  // namespace ww::driver
