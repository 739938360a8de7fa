// SPDX-License-Identifier: Apache-2.0
#include "isa/operand_words.h"

#include <fmt/format.h>

namespace ww::isa {

std::string_view kind_text(OperandKind kind) {
  switch (kind) {
    case OperandKind::Register:
      return "a register";
    case OperandKind::Part:
      return "a part of a register";
    case OperandKind::Special:
      return "a special register";
    case OperandKind::Integer:
      return "an integer";
    case OperandKind::Decimal:
    case OperandKind::F32Bits:
    case OperandKind::F64Bits:
      return "a floating-point number";
    case OperandKind::Symbol:
      return "a variable";
    case OperandKind::Label:
      return "a label";
    case OperandKind::Targets:
      return "a list of labels";
    case OperandKind::Function:
      return "a function";
    case OperandKind::Callees:
      return "a list of functions or a prototype";
    case OperandKind::Sink:
      return "`_`";
    case OperandKind::Vector:
      return "a list in braces";
    case OperandKind::Address:
      return "an address";
    case OperandKind::Pair:
      return "a pair";
    case OperandKind::List:
      return "a list in parentheses";
    case OperandKind::Undeclared:
      return "an undeclared name";
  }
  return "";
}

std::string seen(const Operand& operand) {
  if (operand.kind != OperandKind::Register) return std::string(kind_text(operand.kind));
  return fmt::format("a `.{}` register", info(operand.type).name);
}

std::string wanted_text(Type type, bool wider) {
  const TypeInfo& t = info(type);
  std::string text;
  switch (t.cls) {
    case TypeClass::Pred:
      return "a predicate";
    case TypeClass::Bits:
      text = fmt::format("any {}-bit type", t.bits);
      break;
    case TypeClass::Unsigned:
    case TypeClass::Signed:
      text = fmt::format("`.b{0}`, `.s{0}` or `.u{0}`", t.bits);
      break;
    case TypeClass::Float:
      text = fmt::format("`.b{}` or `.{}`", t.bits, t.name);
      break;
    case TypeClass::Other:
      text = fmt::format("`.b{}`", t.bits);
      break;
  }
  return wider ? text + ", or wider" : text;
}

}  // namespace ww::isa
