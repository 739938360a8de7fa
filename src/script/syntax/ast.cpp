// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/ast.h"

namespace ww::script {

std::string_view text_of(Op op) {
  switch (op) {
    case Op::None:
      return "";
    case Op::Add:
    case Op::Pos:
      return "+";
    case Op::Sub:
    case Op::Neg:
      return "-";
    case Op::Mul:
      return "*";
    case Op::Div:
      return "/";
    case Op::FloorDiv:
      return "//";
    case Op::Mod:
      return "%";
    case Op::Pow:
      return "**";
    case Op::MatMul:
      return "@";
    case Op::Shl:
      return "<<";
    case Op::Shr:
      return ">>";
    case Op::BitAnd:
      return "&";
    case Op::BitOr:
      return "|";
    case Op::BitXor:
      return "^";
    case Op::Invert:
      return "~";
    case Op::Not:
      return "not";
    case Op::Eq:
      return "==";
    case Op::Ne:
      return "!=";
    case Op::Lt:
      return "<";
    case Op::Le:
      return "<=";
    case Op::Gt:
      return ">";
    case Op::Ge:
      return ">=";
    case Op::In:
      return "in";
    case Op::NotIn:
      return "not in";
    case Op::Is:
      return "is";
    case Op::IsNot:
      return "is not";
  }
  return "";
}

Symbol SymbolTable::intern(std::string_view name) {
  const auto found = ids_.lower_bound(name);
  if (found != ids_.end() && found->first == name) return found->second;
  const Symbol symbol{static_cast<std::uint32_t>(texts_.size())};
  const auto entry = ids_.emplace_hint(found, std::string(name), symbol);
  texts_.push_back(&entry->first);
  return symbol;
}

}  // namespace ww::script
