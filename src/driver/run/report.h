// SPDX-License-Identifier: Apache-2.0
// The reports of runs, for `warpwright run` and for calls (driver/call/call.h): what the device, the
// launch and the findings say of them. `source` is the text that the kernel was compiled from.
#pragma once

#include <string>

#include "base/source.h"
#include "driver/run/tool.h"
#include "eval/eval.h"
#include "ir/function.h"
#include "runtime/device.h"

namespace ww::driver {

/// Of the last launch of a device. The virtual GPU adds outcome, counters and findings, each finding
/// with its line of the source.
RunReport launch_report(const std::string& kernel, const SourceText& source,
                        const target::Target& target, const runtime::Device& device,
                        const runtime::Launch& launch);
/// Of the reference evaluator.
RunReport eval_report(const ir::Function& tile, const SourceText& source, const eval::Report& run);

}  // namespace ww::driver
