// SPDX-License-Identifier: Apache-2.0
#include "base/split.h"

#include <algorithm>

namespace ww {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(by), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::vector<std::string_view> split_words(std::string_view text, char by) {
  std::vector<std::string_view> words = split(text, by);
  std::erase(words, std::string_view());
  return words;
}

}  // namespace ww
