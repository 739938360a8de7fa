// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <cstdlib>

namespace ww::cli {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace ww::cli
