// SPDX-License-Identifier: Apache-2.0
#include "ptx/module.h"

#include <array>
#include <utility>

#include "base/check.h"

namespace ww::ptx {
namespace {

constexpr DirectiveInfo kDirectives[] = {
#define WW_DIRECTIVE(name, text, fewest, most) {text, fewest, most},
#include "ptx/directives.def"
#undef WW_DIRECTIVE
    {"pragma", 0, 0},
};

}  // namespace

const DirectiveInfo& info(DirectiveKind kind) {
  return kDirectives[static_cast<std::size_t>(kind)];
}

const Operand& Variable::init_root() const {
  WW_CHECK(has_init(), "a variable without a value");
  return init.at({static_cast<std::uint32_t>(init.size() - 1), 1}).front();
}

void Variable::set_init(const Operand& root) { init.append({&root, 1}); }

// --- functions ----------------------------------------------------------------------------------

Statement& Function::add_statement(StatementKind statement, std::size_t index) {
  has_body = true;
  return statements.emplace_back(Statement{statement, static_cast<std::uint32_t>(index), 0});
}

Instruction& Function::add_instruction(NameId opcode, std::span<const Operand> list, Guard guard) {
  add_statement(StatementKind::Instruction, instructions.size());
  return instructions.emplace_back(Instruction{opcode, guard, operands.append(list), 0});
}

void Function::add_label(NameId label) {
  add_statement(StatementKind::Label, static_cast<std::size_t>(label));
}

void Function::add_registers(isa::Type type, std::span<const RegisterName> names,
                             std::uint8_t vector) {
  add_statement(StatementKind::Registers, registers.size());
  const Range range{static_cast<std::uint32_t>(register_names.size()),
                    static_cast<std::uint32_t>(names.size())};
  register_names.insert(register_names.end(), names.begin(), names.end());
  registers.push_back({type, vector, range});
}

void Function::add_variable(Variable variable) {
  add_statement(StatementKind::Variable, variables.size());
  variables.push_back(std::move(variable));
}

void Function::open_block() {
  const auto at = static_cast<std::uint32_t>(statements.size());
  add_statement(StatementKind::OpenBlock, innermost_open_);
  innermost_open_ = at;
}

void Function::close_block() {
  WW_CHECK(has_open_block(), "no block is open");
  const auto at = static_cast<std::uint32_t>(statements.size());
  add_statement(StatementKind::CloseBlock, innermost_open_);
  innermost_open_ = std::exchange(statements[innermost_open_].index, at);
}

void Function::add_loc(const Loc& loc) {
  add_statement(StatementKind::Loc, locs.size());
  locs.push_back(loc);
}

void Function::add_pragma(NameId text) {
  add_statement(StatementKind::Pragma, static_cast<std::size_t>(text));
}

void Function::add_prototype(Prototype prototype) {
  add_statement(StatementKind::Prototype, prototypes.size());
  prototypes.push_back(std::move(prototype));
}

void Function::add_targets(StatementKind targets, TargetList list) {
  WW_CHECK(targets == StatementKind::BranchTargets || targets == StatementKind::CallTargets,
           "statement kind {}", static_cast<int>(targets));
  add_statement(targets, target_lists.size());
  target_lists.push_back(std::move(list));
}

void Function::add_comment(NameId text) {
  add_statement(StatementKind::Comment, static_cast<std::size_t>(text));
}

// --- modules ------------------------------------------------------------------------------------

Variable& Module::add_variable(Variable variable) {
  add_item(ItemKind::Variable, variables.size());
  return variables.emplace_back(std::move(variable));
}

Function& Module::add_function(FunctionKind kind, std::string_view name) {
  Function function;
  function.kind = kind;
  function.name = names.intern(name);
  return add_function(std::move(function));
}

Function& Module::add_function(Function function) {
  add_item(ItemKind::Function, functions.size());
  return functions.emplace_back(std::move(function));
}

void Module::add_file(const File& file) {
  add_item(ItemKind::File, files.size());
  files.push_back(file);
}

void Module::add_section(Section section) {
  add_item(ItemKind::Section, sections.size());
  sections.push_back(std::move(section));
}

void Module::add_alias(NameId name, NameId target) {
  add_item(ItemKind::Alias, aliases.size());
  aliases.push_back({name, target});
}

void Module::add_pragma(std::string_view pragma) {
  add_item(ItemKind::Pragma, static_cast<std::size_t>(names.intern(pragma)));
}

void Module::add_comment(std::string_view comment) {
  add_item(ItemKind::Comment, static_cast<std::size_t>(names.intern(comment)));
}

void Module::add_item(ItemKind kind, std::size_t index) {
  items.push_back({kind, static_cast<std::uint32_t>(index), 0});
}

}  // namespace ww::ptx
