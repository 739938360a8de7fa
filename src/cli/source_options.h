// SPDX-License-Identifier: Apache-2.0
// The options that the commands on source files share: which kernel, where it runs, with what.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/options.h"
#include "driver/args/kernel_args.h"
#include "driver/build.h"
#include "driver/run/tool.h"

namespace ww::cli {

/// FILE, --kernel, --target, --dialect. The help of --kernel is that of commands on one kernel
/// unless given.
void declare_source(OptionSet& set, driver::SourceRequest& request,
                    const std::string& kernel_help = "");
/// The same without FILE.
void declare_kernel(OptionSet& set, driver::SourceRequest& request,
                    const std::string& kernel_help = "");

/// --arg and --expect, of commands that run the kernel.
void declare_args(OptionSet& set, driver::ArgRequest& request);
void declare_expects(OptionSet& set, driver::ArgRequest& request);

/// --device, one of `names`, which must outlive the set; each with its line of help.
void declare_device(OptionSet& set, std::string& device, std::span<const std::string_view> names);

// --- run options ---------------------------------------------------------------------------------
//
// The options of `warpwright run`, for those who run kernels of other places as well.

/// `--schedules`, 0 unless it is given; and what a run does of it.
void declare_schedules(OptionSet& set, std::int64_t& schedules);
sim::ScheduleBudget schedules_of(std::int64_t schedules, std::string_view schedule);

/// `--timeline` and what belongs to it.
void declare_timeline(OptionSet& set, driver::TimelineRequest& request);

/// Changes a request before it runs; an error is shown instead.
using Prepare = std::function<Result<void>(driver::RunRequest& request)>;

/// All options but the file, which `request.source.path` is to name: returns what runs the request
/// that `request` points to, prepared.
Run declare_run(OptionSet& set, std::shared_ptr<driver::RunRequest> request, Prepare prepare = {});

}  // namespace ww::cli
