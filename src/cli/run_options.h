// SPDX-License-Identifier: Apache-2.0
// The options of `warpwright run`, for those who run kernels of other places as well.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "cli/command.h"
#include "cli/options.h"
#include "driver/run/tool.h"

namespace ww::cli {

/// `--timeline` and what belongs to it.
void declare_timeline(OptionSet& set, driver::TimelineRequest& request);

/// Changes a request before it runs; an error is shown instead.
using Prepare = std::function<Result<void>(driver::RunRequest& request)>;

/// All options but the file, which `request.source.path` is to name: returns what runs the request
/// that `request` points to, prepared.
Run declare_run(OptionSet& set, std::shared_ptr<driver::RunRequest> request, Prepare prepare = {});

}  // namespace ww::cli
