// SPDX-License-Identifier: Apache-2.0
#include "isa/special_registers.h"

#include <algorithm>

#include "base/ascii.h"

namespace ww::isa {
namespace {

constexpr SpecialRegister kSpecials[] = {
#define WW_SPECIAL(name, type, shape, count, feature, ptx) \
  {name, Type::type, SpecialShape::shape, count, target::Feature::feature, ptx},
#include "isa/special_registers.def"
#undef WW_SPECIAL
};

// `pm3` and `pm3_64` as families `pm` and `pm_64`, with the number between.
bool is_member(const SpecialRegister& family, std::string_view name) {
  const auto underscore = family.name.find("_64");
  const std::string_view head = family.name.substr(0, underscore);
  const std::string_view tail =
      underscore == std::string_view::npos ? "" : family.name.substr(underscore);
  if (!name.starts_with(head) || !name.ends_with(tail)) return false;
  if (name.size() < head.size() + tail.size() + 1) return false;
  const std::string_view digits = name.substr(head.size(), name.size() - head.size() - tail.size());
  if (digits.size() > 2 || !std::ranges::all_of(digits, is_digit)) return false;
  if (digits.size() > 1 && digits[0] == '0') return false;
  int number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return number < family.count;
}

bool is_component(std::string_view text) {
  return text.size() == 1 && std::string_view("xyzw").contains(text[0]);
}

}  // namespace

std::span<const SpecialRegister> special_registers() { return kSpecials; }

const SpecialRegister* find_special(std::string_view text) {
  if (!text.starts_with('%')) return nullptr;
  const auto dot = text.find('.');
  const std::string_view name = text.substr(1, dot == std::string_view::npos ? dot : dot - 1);
  const bool has_component = dot != std::string_view::npos;
  if (has_component && !is_component(text.substr(dot + 1))) return nullptr;
  for (const SpecialRegister& special : kSpecials) {
    const bool named =
        special.shape == SpecialShape::Numbered ? is_member(special, name) : special.name == name;
    if (named && has_component == (special.shape == SpecialShape::Vector)) return &special;
  }
  return nullptr;
}

}  // namespace ww::isa
