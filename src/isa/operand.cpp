// SPDX-License-Identifier: Apache-2.0
#include "isa/operand.h"

#include <utility>

namespace ww::isa {
namespace {

constexpr std::pair<std::string_view, Space> kSpaces[] = {
    {"generic", Space::Generic},
    {"global", Space::Global},
    {"shared", Space::Shared},
    {"shared::cta", Space::Shared},
    {"shared::cluster", Space::SharedCluster},
    {"local", Space::Local},
    {"const", Space::Const},
    {"param", Space::Param},
    {"param::entry", Space::Param},
    {"param::func", Space::Param},
    {"tensor", Space::Tensor},
};

}  // namespace

std::optional<Space> parse_space(std::string_view word) {
  for (const auto& [name, space] : kSpaces) {
    if (name == word) return space;
  }
  return std::nullopt;
}

std::optional<Space> parse_space(Word word) { return parse_space(word.text()); }

std::string_view name_of(Space space) {
  for (const auto& [name, value] : kSpaces) {
    if (value == space) return name;
  }
  return "";
}

}  // namespace ww::isa
