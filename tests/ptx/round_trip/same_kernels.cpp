// SPDX-License-Identifier: Apache-2.0
#include "ptx/round_trip/same_kernels.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <vector>

namespace ww::test {
namespace {

constexpr std::string_view kEntry = ".entry";

// The end of the word at `at`: a name or a number with its dots, a string, or another character alone.
// Spaces and comments are words without text (`is_text` says which).
std::size_t end_of_word(std::string_view text, std::size_t at, bool& is_text) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
           c == '.';
  };
  const auto past = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  is_text = false;
  if (std::isspace(static_cast<unsigned char>(text[at])) != 0) return at + 1;
  if (text.substr(at).starts_with("//")) return past("\n", at);
  if (text.substr(at).starts_with("/*")) return past("*/", at + 2);
  is_text = true;
  if (text[at] == '"') return past("\"", at + 1);
  if (!is_part(text[at])) return at + 1;
  while (at < text.size() && is_part(text[at])) ++at;
  return at;
}

struct Kernel {
  std::size_t begin = 0, end = 0;  // from the start of its line to its last brace
  std::vector<std::string_view> words = {};
};

// The kernel whose `.entry` ends at `at`; without words when it has no body.
Kernel kernel_at(std::string_view text, std::size_t begin, std::size_t at) {
  Kernel out{.begin = begin, .end = at};
  int depth = 0;
  while (out.end < text.size()) {
    bool is_text = false;
    const std::size_t end = end_of_word(text, out.end, is_text);
    const std::string_view word = text.substr(out.end, end - out.end);
    out.end = end;
    if (!is_text) continue;
    out.words.push_back(word);
    if (word == "{") ++depth;
    if (word == "}" && --depth == 0) return out;
    if (word == ";" && depth == 0) break;
  }
  return {.begin = begin, .end = out.end};
}

std::map<std::string_view, Kernel> kernels_of(std::string_view text) {
  std::map<std::string_view, Kernel> out;
  for (std::size_t at = 0; at < text.size();) {
    bool is_text = false;
    const std::size_t end = end_of_word(text, at, is_text);
    if (!is_text || text.substr(at, end - at) != kEntry) {
      at = end;
      continue;
    }
    Kernel kernel = kernel_at(text, text.rfind('\n', at) + 1, end);
    at = kernel.end;
    if (kernel.words.empty()) continue;
    const std::string_view name = kernel.words.front();
    out.emplace(name, std::move(kernel));
  }
  return out;
}

std::string without(const std::string& text, std::vector<Kernel> kernels) {
  std::ranges::sort(kernels, {}, &Kernel::begin);
  std::string out;
  std::size_t at = 0;
  for (const Kernel& kernel : kernels) {
    out += text.substr(at, kernel.begin - at);
    at = kernel.end;
  }
  return out + text.substr(at);
}

}  // namespace

TwoTexts without_same_kernels(const TwoTexts& texts) {
  const std::map<std::string_view, Kernel> before = kernels_of(texts.before);
  const std::map<std::string_view, Kernel> after = kernels_of(texts.after);
  std::vector<Kernel> from_before, from_after;
  for (const auto& [name, kernel] : before) {
    const auto other = after.find(name);
    if (other == after.end() || other->second.words != kernel.words) continue;
    from_before.push_back(kernel);
    from_after.push_back(other->second);
  }
  return {without(texts.before, std::move(from_before)),
          without(texts.after, std::move(from_after))};
}

}  // namespace ww::test
