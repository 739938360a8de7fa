// SPDX-License-Identifier: Apache-2.0
// The options that the commands on source files share: which kernel, where it runs, with what.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "driver/args/kernel_args.h"
#include "driver/build.h"

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

}  // namespace ww::cli
