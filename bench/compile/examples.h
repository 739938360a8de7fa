// SPDX-License-Identifier: Apache-2.0
// The programs of examples/, which benchmarks compile and run.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/source.h"

namespace ww::bench {

/// The text of examples/`name` ("basics/reg.py"), named by its path, so that what it imports is
/// found. The folder is looked for beside the benchmark program and in every folder above it; Io when
/// it is in none of them, as where only the program was installed.
Result<SourceText> example(std::string_view name);
/// The path of a file of the repository, looked for in the same way.
Result<std::string> file_above(std::string_view name);
/// The path of a program of CUDA: in PATH, where CUDA is installed by itself, or in CUDA_HOME; ""
/// when it is not on this machine.
std::string find_tool(std::string_view name);

}  // namespace ww::bench
