// SPDX-License-Identifier: Apache-2.0
#include "ptx/resolve.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/check.h"
#include "isa/special_registers.h"

namespace ww::ptx {
namespace {

std::size_t index_of(NameId name) { return static_cast<std::uint32_t>(name); }

Declared of_variable(const Variable& variable) {
  Declared what;
  what.kind = variable.space == Space::Reg ? Declared::Kind::Register : Declared::Kind::Variable;
  what.type = variable.type;
  what.lanes = variable.vector;
  what.space = variable.space;
  what.variable = &variable;
  what.count = variable.count;
  return what;
}

Span span_of(const Operand& operand) {
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

Scope::Scope(const Module& module)
    : module_(module),
      names_(module.names.size()),
      depth_of_(module.names.size(), 0),
      members_(module.names.size()) {
  declare_globals();
}

void Scope::begin(const Function& function, std::vector<Diag>& errors) {
  function_ = &function;
  blocks_.push_back(undo_.size());
  for (const Variable& result : function.results) declare_variable(result, errors);
  for (const Variable& param : function.params) declare_variable(param, errors);
  declare_labels();
}

void Scope::end() {
  while (!blocks_.empty()) leave_block();
  function_ = nullptr;
}

void Scope::leave_block() {
  while (undo_.size() > blocks_.back()) {
    const Undo& undo = undo_.back();
    *slot(undo.name) = undo.before;
    depth_of_[index_of(undo.name)] = undo.depth;
    undo_.pop_back();
  }
  blocks_.pop_back();
}

void Scope::declare_globals() {
  for (const Variable& variable : module_.variables) *slot(variable.name) = of_variable(variable);
  for (const Function& function : module_.functions) {
    Declared what;
    what.kind = Declared::Kind::Function;
    what.function = &function;
    *slot(function.name) = what;
  }
  for (const Alias& alias : module_.aliases) *slot(alias.name) = *slot(alias.target);
}

// Labels are known before they are reached, and in the whole function: branches out of and into
// blocks are as ptxas has them.
void Scope::declare_labels() {
  const auto add = [this](NameId name, Declared::Kind kind) {
    undo_.push_back({name, depth_of_[index_of(name)], *slot(name)});
    Declared what;
    what.kind = kind;
    *slot(name) = what;
  };
  for (const Statement& statement : function_->statements) {
    if (statement.kind == StatementKind::Label) add(NameId{statement.index}, Declared::Kind::Label);
  }
  for (const TargetList& list : function_->target_lists) add(list.label, Declared::Kind::Label);
  for (const Prototype& proto : function_->prototypes) add(proto.label, Declared::Kind::Prototype);
}

Declared* Scope::slot(NameId name) { return &names_[index_of(name)]; }

void Scope::declare(NameId name, const Declared& what, std::uint32_t offset,
                    std::vector<Diag>& errors) {
  const auto depth = static_cast<std::uint32_t>(blocks_.size());
  Declared& now = *slot(name);
  if (depth_of_[index_of(name)] == depth && now.kind != Declared::Kind::Nothing) {
    Diag problem =
        diag(DiagKind::Redeclared, "`{}` is declared twice in this block", module_.text(name));
    problem.span = Span::at(offset, offset + module_.text(name).size());
    errors.push_back(std::move(problem));
  }
  undo_.push_back({name, depth_of_[index_of(name)], now});
  now = what;
  depth_of_[index_of(name)] = depth;
}

void Scope::declare_variable(const Variable& variable, std::vector<Diag>& errors) {
  declare(variable.name, of_variable(variable), variable.offset, errors);
}

void Scope::enter(const Statement& statement, std::vector<Diag>& errors) {
  switch (statement.kind) {
    case StatementKind::OpenBlock:
      blocks_.push_back(undo_.size());
      return;
    case StatementKind::CloseBlock:
      leave_block();
      return;
    case StatementKind::Registers: {
      const RegisterDecl& decl = function_->registers[statement.index];
      for (const RegisterName& name : function_->names_of(decl)) {
        Declared what;
        what.kind = Declared::Kind::Register;
        what.type = decl.type;
        what.lanes = decl.vector;
        what.count = name.count;
        declare(name.name, what, name.offset, errors);
      }
      return;
    }
    case StatementKind::Variable:
      declare_variable(function_->variables[statement.index], errors);
      return;
    default:
      return;
  }
}

// The family's declaration, if the member is one of it here.
const Declared* Scope::family_of(const Member& member) const {
  if (member.family == kNoName) return nullptr;
  const Declared& family = names_[index_of(member.family)];
  const bool is_family = family.kind != Declared::Kind::Nothing && family.count != kSingle;
  return is_family && member.index < family.count ? &family : nullptr;
}

// Splits trailing digits off: `%r12` may be number 12 of `%r<…>` or 2 of `%r1<…>`; `%r012` neither.
Scope::Member Scope::find_member(NameId name) const {
  const std::string_view text = module_.text(name);
  std::size_t digits = 0;
  while (digits < text.size() && digits < 9 && is_digit(text[text.size() - 1 - digits])) ++digits;
  for (std::size_t n = digits; n > 0; --n) {
    const std::string_view number = text.substr(text.size() - n);
    if (number.size() > 1 && number[0] == '0') continue;
    const auto family = module_.names.find(text.substr(0, text.size() - n));
    if (!family) continue;
    Member member{*family, 0};
    for (const char c : number)
      member.index = member.index * 10 + static_cast<std::uint32_t>(c - '0');
    if (family_of(member) != nullptr) return member;
  }
  return {};
}

Declared Scope::find(NameId name) const {
  const Declared& own = names_[index_of(name)];
  if (own.kind != Declared::Kind::Nothing && own.count == kSingle) return own;
  Member& member = members_[index_of(name)];
  if (family_of(member) == nullptr) member = find_member(name);
  if (const Declared* family = family_of(member)) {
    Declared what = *family;
    what.count = kSingle;
    return what;
  }
  const std::string_view text = module_.text(name);
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot + 2 != text.size()) return {};
  if (!std::string_view("xyzwrgba").contains(text[dot + 1])) return {};
  const auto base = module_.names.find(text.substr(0, dot));
  if (!base) return {};
  Declared what = find(*base);
  if (what.kind != Declared::Kind::Register || what.lanes == 1) return {};
  what.lanes = 1;
  return what;
}

std::size_t Scope::count_nodes(std::span<const Operand> operands) const {
  std::size_t count = operands.size();
  for (const Operand& operand : operands) {
    if (has_children(operand.kind)) count += count_nodes(function_->operands.children(operand));
  }
  return count;
}

std::span<const isa::Operand> Scope::operands_of(const Instruction& instruction) {
  const std::span<const Operand> operands = function_->operands_of(instruction);
  arena_.clear();
  arena_.reserve(count_nodes(operands));  // spans into it must stay good
  arena_.resize(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) arena_[i] = resolve(operands[i]);
  return std::span(arena_).first(operands.size());
}

isa::Operand Scope::resolve_name(const Operand& operand) {
  isa::Operand result;
  result.text = module_.text(operand.name);
  const Declared what = find(operand.name);
  switch (what.kind) {
    case Declared::Kind::Register:
      result.kind = isa::OperandKind::Register;
      result.type = what.type;
      result.lanes = what.lanes;
      return result;
    case Declared::Kind::Variable:
      result.kind = isa::OperandKind::Symbol;
      result.space = address_space(what.space);
      return result;
    case Declared::Kind::Label:
      result.kind = isa::OperandKind::Label;
      return result;
    case Declared::Kind::Function:
    case Declared::Kind::Prototype:
      result.kind = isa::OperandKind::Function;
      return result;
    case Declared::Kind::Nothing:
      break;
  }
  if (const isa::SpecialRegister* special = isa::find_special(result.text)) {
    result.kind = isa::OperandKind::Special;
    result.type = special->type;
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

void Scope::resolve_children(const Operand& operand, isa::Operand& result) {
  const std::span<const Operand> children = function_->operands.children(operand);
  const std::size_t first = arena_.size();
  arena_.resize(first + children.size());
  for (std::size_t i = 0; i < children.size(); ++i) arena_[first + i] = resolve(children[i]);
  result.parts = std::span(arena_).subspan(first, children.size());
}

isa::Operand Scope::resolve(const Operand& operand) {
  isa::Operand result;
  switch (operand.kind) {
    case OperandKind::Name:
      result = resolve_name(operand);
      break;
    case OperandKind::NameOffset:
    case OperandKind::Index:
      result = resolve_name(operand);
      result.value = operand.value();
      break;
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
  result.span = span_of(operand);
  return result;
}

}  // namespace ww::ptx
