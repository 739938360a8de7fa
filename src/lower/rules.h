// SPDX-License-Identifier: Apache-2.0
// The rules by which variants decline (rules.def).
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ww::lower {

struct RuleFacts {
  std::string_view name, about;
};
inline constexpr RuleFacts kRules[] = {
#define WW_RULE(name, about) {name, about},
#include "lower/rules.def"
#undef WW_RULE
};

/// The name of a rule. One that rules.def lacks does not compile.
struct Rule {
  template <typename Text>
  consteval Rule(const Text& text) : name(text) {  // NOLINT: implicit, as decline's first argument
    if (std::ranges::find(kRules, name, &RuleFacts::name) == std::end(kRules))
      throw "this rule is not in rules.def";
  }

  std::string_view name;
};

}  // namespace ww::lower
