// SPDX-License-Identifier: Apache-2.0
#include "base/join.h"

#include <fmt/format.h>

namespace ww {

void append_item(std::string& out, std::string_view item) { out += item; }
void append_item(std::string& out, std::int64_t item) {
  append_item(out, fmt::format_int(item).c_str());
}
void append_item(std::string& out, std::uint64_t item) {
  append_item(out, fmt::format_int(item).c_str());
}

}  // namespace ww
