// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <cstdlib>

namespace ww::cli {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

runtime::SassTools sass_tools() {
  const std::string path = environment("PATH");
  return {.ptxas = {.given = environment("PTXAS"), .path = path},
          .nvdisasm = {.given = environment("NVDISASM"), .path = path}};
}

}  // namespace ww::cli
