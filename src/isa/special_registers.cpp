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

// Whether `text`, percent sign and component included, is this register.
bool is_named(const SpecialRegister& special, std::string_view text) {
  if (!text.starts_with('%')) return false;
  const auto dot = text.find('.');
  const bool has_component = dot != std::string_view::npos;
  if (has_component != (special.shape == SpecialShape::Vector)) return false;
  if (has_component && !is_component(text.substr(dot + 1))) return false;
  const std::string_view name = text.substr(1, has_component ? dot - 1 : dot);
  return special.shape == SpecialShape::Numbered ? is_member(special, name) : special.name == name;
}

}  // namespace

std::span<const SpecialRegister> special_registers() { return kSpecials; }

bool special_accepts(std::string_view text, Type wanted, Width width) {
  return std::ranges::any_of(kSpecials, [&](const SpecialRegister& special) {
    return is_named(special, text) && accepts(wanted, special.type, width);
  });
}

const SpecialRegister* find_special(std::string_view text) {
  const auto found = std::ranges::find_if(
      kSpecials, [&](const SpecialRegister& special) { return is_named(special, text); });
  return found == std::end(kSpecials) ? nullptr : found;
}

const SpecialRegister* find_special_vector(std::string_view text) {
  if (!text.starts_with('%')) return nullptr;
  const auto found = std::ranges::find_if(kSpecials, [&](const SpecialRegister& special) {
    return special.shape == SpecialShape::Vector && special.name == text.substr(1);
  });
  return found == std::end(kSpecials) ? nullptr : found;
}

}  // namespace ww::isa
