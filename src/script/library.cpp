// SPDX-License-Identifier: Apache-2.0
#include "script/library.h"

#include <algorithm>

namespace ww::script {

const std::vector<LibraryClass>& library_classes() {
  static const std::vector<LibraryClass> all = [] {
    constexpr std::string_view kClass = "\nclass ";
    std::vector<LibraryClass> out;
    const std::string_view text = library_text();
    for (std::size_t at = text.find(kClass); at != std::string_view::npos;) {
      const std::size_t next = text.find(kClass, at + 1), name = at + kClass.size();
      out.push_back({.name = text.substr(name, text.find_first_of("(:", name) - name),
                     .text = text.substr(at + 1, std::min(next, text.size()) - at - 1)});
      at = next;
    }
    return out;
  }();
  return all;
}

bool names_library_class(std::string_view text) {
  return std::ranges::any_of(library_classes(),
                             [&](const LibraryClass& each) { return text.contains(each.name); });
}

}  // namespace ww::script
