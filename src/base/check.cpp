// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <string_view>

namespace ww {

void raise_bug(const char* file, int line, const char* condition, std::string facts) {
  std::string_view path = file;
  if (const auto src = path.rfind("src/"); src != std::string_view::npos) path.remove_prefix(src);
  throw BugError(fmt::format("{}:{}: check failed: {}: {}", path, line, condition, facts));
}

}  // namespace ww
