// SPDX-License-Identifier: Apache-2.0
// The options by which every command on source files says which kernel it means.
#pragma once

#include "cli/options.h"
#include "driver/build.h"

namespace ww::cli {

/// FILE, --kernel, --target, --dialect.
void declare_source(OptionSet& set, driver::SourceRequest& request);

}  // namespace ww::cli
