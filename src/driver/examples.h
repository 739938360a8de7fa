// SPDX-License-Identifier: Apache-2.0
// The examples that come with the program: `warpwright examples`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace ww::driver {

struct Example {
  std::string name;                   // "transpose", "basics/gemm"
  std::string group;                  // "Layouts written by hand"
  std::string path;                   // "examples/transpose.py"
  std::string summary;                // the first sentence of the file
  std::vector<std::string> commands;  // runs that the file says to try, as they are typed
  std::string_view text;
};

/// In the order of examples/index.txt, by difficulty.
const std::vector<Example>& examples();
/// UnknownName with the nearest one. A name may have `examples/` before it and `.py` behind it.
Result<Example> find_example(std::string_view name);

/// A line for each, aligned, below the name of its group; and the same for programs (docs/reference/cli.md).
std::string examples_text();
Json examples_json();

}  // namespace ww::driver
