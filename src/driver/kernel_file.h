// SPDX-License-Identifier: Apache-2.0
// A kernel expression that stands in a file: `--kernel @best.json`, as `warpwright tune -o` writes
// it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ww::driver {

/// The text under `kernel` in a JSON file. Io and TooLarge where it cannot be read, Syntax and
/// BadArgument where there is no such text in it.
Result<std::string> kernel_in_file(const std::string& path);
/// The same for the text of such a file.
Result<std::string> kernel_in_json(std::string_view text, const std::string& path);

}  // namespace ww::driver
