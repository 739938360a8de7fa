// SPDX-License-Identifier: Apache-2.0
// Files that a source file imports from its own folder: `from gemm_hopper import build` beside
// `gemm_hopper.py`. Modules of the language come first, and what is not there is left to the compiler, which
// says so where it is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ww::driver {

inline constexpr std::size_t kMaxImportedFiles = 64;

struct ImportedFile {
  std::string module;  // "gemm_hopper"
  std::string path;    // "examples/gemm_hopper.py"
  std::string text;
};

/// All that the file and its imports import, each once and before its users. A source named as an
/// example finds the examples that come with the program where its folder has no such file.
/// Io or TooLarge where a file is there and cannot be read.
Result<std::vector<ImportedFile>> imported_files(const std::string& path, std::string_view text);

}  // namespace ww::driver
