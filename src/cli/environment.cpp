// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <cstdlib>
#include <filesystem>

namespace ww::cli {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string own_program() {
  std::error_code missing;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", missing);
  return missing ? "warpwright" : path.string();
}

runtime::SassTools sass_tools() {
  const std::string path = environment("PATH");
  return {.ptxas = {.given = environment("PTXAS"), .path = path},
          .nvdisasm = {.given = environment("NVDISASM"), .path = path}};
}

}  // namespace ww::cli
