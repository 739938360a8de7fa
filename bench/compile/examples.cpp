// SPDX-License-Identifier: Apache-2.0
#include "examples.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/file_io.h"
#include "base/process.h"
#include "script/syntax/parser.h"

namespace ww::bench {

namespace fs = std::filesystem;

Result<std::string> file_above(std::string_view name) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (fs::path folder = program.parent_path();; folder = folder.parent_path()) {
    const fs::path file = folder / name;
    if (fs::is_regular_file(file, ignored)) return file.string();
    if (folder == folder.parent_path()) break;
  }
  return fail(DiagKind::Io, "no folder above `{}` has `{}`", program.string(), name);
}

Result<SourceText> example(std::string_view name) {
  const std::string file = WW_TRY(file_above("examples/" + std::string(name)));
  return SourceText(file, WW_TRY(read_file(file, script::kMaxSourceBytes)));
}

std::string find_tool(std::string_view name) {
  const auto variable = [](const char* of) {
    const char* const value = std::getenv(of);
    return std::string(value == nullptr ? "" : value);
  };
  return find_program(
      name, fmt::format("{}:/usr/local/cuda/bin:{}/bin", variable("PATH"), variable("CUDA_HOME")));
}

}  // namespace ww::bench
