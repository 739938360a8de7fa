// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/ast.h"

#include <iterator>

namespace ww::script {
namespace {

// clang-format off
constexpr std::string_view kOpTexts[] = {
    "",
    "+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^",
    "-", "+", "~", "not",
    "==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"};
// clang-format on
static_assert(std::size(kOpTexts) == static_cast<std::size_t>(Op::IsNot) + 1);

}  // namespace

std::string_view text_of(Op op) { return kOpTexts[static_cast<std::size_t>(op)]; }

Symbol SymbolTable::intern(std::string_view name) {
  const auto found = ids_.lower_bound(name);
  if (found != ids_.end() && found->first == name) return found->second;
  const Symbol symbol{static_cast<std::uint32_t>(texts_.size())};
  const auto entry = ids_.emplace_hint(found, std::string(name), symbol);
  texts_.push_back(&entry->first);
  return symbol;
}

}  // namespace ww::script
