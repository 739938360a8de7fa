// SPDX-License-Identifier: Apache-2.0
#include "hostile/targets.h"

#include <algorithm>
#include <iterator>

namespace ww::fuzz {
namespace {

constexpr Target kTargets[] = {
    {"layout", layout_law},
    {"program", program_law, change_program},
    {"bomb", bomb_law},
    {"ptx", ptx_law},
    {"reader_bomb", reader_bomb_law},
    {"npy", npy_law},
    {"arguments", arguments_law},
    {"kernel", kernel_law},
    {"kernel_file", kernel_file_law},
};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  const auto* found = std::ranges::find(kTargets, name, &Target::name);
  return found == std::end(kTargets) ? nullptr : found;
}

Lines read_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t blank = std::min(line.size(), line.find(' '));
    lines.emplace_back(line.substr(0, blank), line.substr(std::min(line.size(), blank + 1)));
  }
  return lines;
}

bool has_long_number(std::string_view text, std::size_t most) {
  std::size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > most) return true;
  }
  return false;
}

}  // namespace ww::fuzz
