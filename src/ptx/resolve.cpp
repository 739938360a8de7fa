// SPDX-License-Identifier: Apache-2.0
#include "ptx/resolve.h"

#include <fmt/format.h>

#include "isa/form.h"
#include "isa/special_registers.h"

namespace ww::ptx {
namespace {

Span text_span(const Operand& operand) {
  if (operand.length == 0) return {};
  return Span::at(operand.offset, std::size_t{operand.offset} + operand.length);
}

}  // namespace

isa::Space address_space(Space space) {
  switch (space) {
    case Space::Reg:
      return isa::Space::Generic;
    case Space::Global:
      return isa::Space::Global;
    case Space::Const:
      return isa::Space::Const;
    case Space::Shared:
      return isa::Space::Shared;
    case Space::Local:
      return isa::Space::Local;
    case Space::Param:
      return isa::Space::Param;
  }
  return isa::Space::Generic;
}

std::size_t OperandResolver::count_nodes(std::span<const Operand> operands) const {
  std::size_t count = operands.size();
  for (const Operand& operand : operands) {
    if (has_children(operand.kind)) count += count_nodes(function_->operands.children(operand));
  }
  return count;
}

std::span<const isa::Operand> OperandResolver::operands_of(const Function& function,
                                                           const Instruction& instruction) {
  function_ = &function;
  const std::span<const Operand> operands = function.operands_of(instruction);
  arena_.clear();
  arena_.reserve(count_nodes(operands));  // spans into it must stay good
  arena_.resize(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) arena_[i] = resolve(operands[i]);
  return std::span(arena_).first(operands.size());
}

isa::Operand OperandResolver::resolve_name(const Operand& operand) {
  isa::Operand result;
  result.text = module_.text(operand.name);
  const Declared what = scope_.find(operand.name);
  switch (what.kind) {
    case Declared::Kind::Register:
      result.kind = isa::OperandKind::Register;
      result.type = what.type;
      result.lanes = what.lanes;
      return result;
    case Declared::Kind::Variable:
      result.kind = isa::OperandKind::Symbol;
      result.type = what.type;
      result.space = address_space(what.space);
      result.is_array = !what.variable->dims.empty();
      return result;
    case Declared::Kind::Label:
      result.kind = isa::OperandKind::Label;
      return result;
    case Declared::Kind::BranchTargets:
      result.kind = isa::OperandKind::Targets;
      return result;
    case Declared::Kind::Function:
      result.kind = isa::OperandKind::Function;
      return result;
    case Declared::Kind::CallTargets:
    case Declared::Kind::Prototype:
      result.kind = isa::OperandKind::Callees;
      return result;
    case Declared::Kind::Nothing:
      break;
  }
  // `%tid.x` is not a special register where `%tid` is declared.
  const auto dot = result.text.find('.');
  const Declared base =
      dot == std::string_view::npos ? Declared{} : scope_.find(result.text.substr(0, dot));
  const bool is_hidden = base.kind != Declared::Kind::Nothing;
  if (base.kind == Declared::Kind::Register && base.lanes == 1 && isa::info(base.type).bits == 32 &&
      isa::is_selection(result.text.substr(dot + 1))) {
    result.kind = isa::OperandKind::Part;
    result.type = base.type;
    result.selection = result.text.substr(dot + 1);
    return result;
  }
  const isa::SpecialRegister* const special = is_hidden ? nullptr : isa::find_special(result.text);
  if (special != nullptr) {
    result.kind = isa::OperandKind::Special;
    result.type = special->type;
    return result;
  }
  if (const isa::SpecialRegister* const whole = isa::find_special_vector(result.text)) {
    result.kind = isa::OperandKind::Special;
    result.type = whole->type;
    result.lanes = 4;
    return result;
  }
  if (result.text == "WARP_SZ") {
    result.kind = isa::OperandKind::Integer;
    result.value = 32;
    return result;
  }
  result.kind = isa::OperandKind::Undeclared;
  return result;
}

void OperandResolver::resolve_children(const Operand& operand, isa::Operand& result) {
  const std::span<const Operand> children = function_->operands.children(operand);
  const std::size_t first = arena_.size();
  arena_.resize(first + children.size());
  for (std::size_t i = 0; i < children.size(); ++i) arena_[first + i] = resolve(children[i]);
  result.parts = std::span(arena_).subspan(first, children.size());
}

isa::Operand OperandResolver::resolve(const Operand& operand) {
  isa::Operand result;
  switch (operand.kind) {
    case OperandKind::Name:
      result = resolve_name(operand);
      break;
    case OperandKind::NameOffset:
      result = resolve_name(operand);
      result.value += operand.value();
      result.has_offset = result.kind != isa::OperandKind::Integer;
      break;
    case OperandKind::Index: {
      // Whatever the dimensions and the `.v2` of the array are, an index counts its elements.
      result = resolve_name(operand);
      const auto bytes = static_cast<std::uint64_t>(isa::info(result.type).bits) / 8;
      result.value = static_cast<std::int64_t>(operand.bits * bytes);
      result.is_indexed = true;
      break;
    }
    case OperandKind::NotName:
      result = resolve_name(operand);
      result.negated = true;
      break;
    case OperandKind::Sink:
      result.kind = isa::OperandKind::Sink;
      break;
    case OperandKind::Int:
      result.kind = isa::OperandKind::Integer;
      result.value = operand.value();
      break;
    case OperandKind::F32:
      result.kind = isa::OperandKind::F32Bits;
      result.value = operand.value();
      break;
    case OperandKind::F64:
      result.kind = isa::OperandKind::F64Bits;
      result.value = operand.value();
      break;
    case OperandKind::Decimal:
      result.kind = isa::OperandKind::Decimal;
      result.text = module_.text(operand.name);
      break;
    case OperandKind::Vector:
      result.kind = isa::OperandKind::Vector;
      break;
    case OperandKind::Address:
      result.kind = isa::OperandKind::Address;
      break;
    case OperandKind::List:
      result.kind = isa::OperandKind::List;
      break;
    case OperandKind::Pair:
      result.kind = isa::OperandKind::Pair;
      break;
    case OperandKind::Generic:
    case OperandKind::Mask:
    case OperandKind::Difference:
      result.kind = isa::OperandKind::Undeclared;
      break;
  }
  if (has_children(operand.kind)) resolve_children(operand, result);
  result.span = text_span(operand);
  return result;
}

}  // namespace ww::ptx
