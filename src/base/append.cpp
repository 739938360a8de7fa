// SPDX-License-Identifier: Apache-2.0
#include "base/append.h"

namespace ww {

void append_formatted(std::string& out, fmt::string_view format, fmt::format_args args) {
  out += fmt::vformat(format, args);
}

}  // namespace ww
