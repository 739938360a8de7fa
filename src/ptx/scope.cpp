// SPDX-License-Identifier: Apache-2.0
#include "ptx/scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/special_registers.h"

namespace ww::ptx {
namespace {

std::uint64_t key_of(std::uint32_t block, NameId name) {
  return std::uint64_t{block} << 32U | static_cast<std::uint32_t>(name);
}

// Calls visit(name, family count, is a label) for everything that a statement declares.
template <typename Visit>
void for_each_name(const Function& function, const Statement& statement, Visit&& visit) {
  switch (statement.kind) {
    case StatementKind::Label:
      visit(NameId{statement.index}, kSingle, true);
      return;
    case StatementKind::Registers:
      for (const RegisterName& name : function.names_of(function.registers[statement.index]))
        visit(name.name, name.count, false);
      return;
    case StatementKind::Variable:
      visit(function.variables[statement.index].name, function.variables[statement.index].count,
            false);
      return;
    case StatementKind::Prototype:
      visit(function.prototypes[statement.index].label, kSingle, false);
      return;
    case StatementKind::BranchTargets:
    case StatementKind::CallTargets:
      visit(function.target_lists[statement.index].label, kSingle, false);
      return;
    default:
      return;
  }
}

// Calls visit(statement's number, the block it is in) for every statement.
template <typename Visit>
void for_each_statement(const Function& function, Visit&& visit) {
  std::vector<std::uint32_t> blocks{0};
  for (std::uint32_t i = 0; i < function.statements.size(); ++i) {
    if (function.statements[i].kind == StatementKind::CloseBlock && blocks.size() > 1)
      blocks.pop_back();
    visit(i, blocks.back());
    if (function.statements[i].kind == StatementKind::OpenBlock) blocks.push_back(i + 1);
  }
}

}  // namespace

// --- labels -------------------------------------------------------------------------------------

void LabelIndex::add(const Function& function) {
  bool any = false;
  for (const Statement& statement : function.statements) {
    if (statement.kind != StatementKind::Label) continue;
    is_label_[statement.index] = any = true;
  }
  if (!any) return;
  for_each_statement(function, [&](std::uint32_t i, std::uint32_t block) {
    for_each_name(function, function.statements[i],
                  [&](NameId name, std::uint32_t count, bool is_label) {
                    if (count != kSingle || !has(name)) return;
                    places_.try_emplace(key_of(block, name), Place{i, is_label});
                  });
  });
}

void LabelIndex::remove(const Function& function) {
  for (const Statement& statement : function.statements) {
    if (statement.kind == StatementKind::Label) is_label_[statement.index] = false;
  }
  places_.clear();
}

const LabelIndex::Place* LabelIndex::find(std::uint32_t block, NameId name) const {
  const auto found = places_.find(key_of(block, name));
  return found == places_.end() ? nullptr : &found->second;
}

// --- functions and blocks -----------------------------------------------------------------------

Scope::Scope(const Module& module, std::vector<Diag>& errors)
    : module_(module), names_(module), labels_(module.names.size()) {
  declare_globals(errors);
}

void Scope::begin(const Function& function, std::vector<Diag>& errors) {
  function_ = &function;
  at_ = declarations_ = 0;
  item_ = function_items_[static_cast<std::size_t>(&function - module_.functions.data())];
  labels_.add(function);
  blocks_.push_back({names_.size(), 0});
  for (const std::vector<Variable>* const list : {&function.results, &function.params}) {
    for (const Variable& variable : *list) {
      declare({.what = declared(variable), .name = variable.name, .offset = variable.offset},
              errors);
    }
  }
}

void Scope::end() {
  while (!blocks_.empty()) leave_block();
  labels_.remove(*function_);
  function_ = nullptr;
}

void Scope::leave_block() {
  while (names_.size() > blocks_.back().first_entry) names_.pop();
  blocks_.pop_back();
}

void Scope::enter(const Statement& statement, std::vector<Diag>& errors) {
  at_ = static_cast<std::uint32_t>(&statement - function_->statements.data());
  switch (statement.kind) {
    case StatementKind::OpenBlock:
      blocks_.push_back({names_.size(), at_ + 1});
      return;
    case StatementKind::CloseBlock:
      leave_block();
      return;
    case StatementKind::Registers:
      declare_registers(function_->registers[statement.index], errors);
      return;
    case StatementKind::Variable: {
      const Variable& variable = function_->variables[statement.index];
      declare({.what = declared(variable),
               .name = variable.name,
               .count = variable.count,
               .offset = variable.offset},
              errors);
      return;
    }
    case StatementKind::Label:
      declare_labelled(NameId{statement.index}, Declared::Kind::Label, statement, errors);
      return;
    case StatementKind::Prototype:
      declare_labelled(function_->prototypes[statement.index].label, Declared::Kind::Prototype,
                       statement, errors);
      return;
    case StatementKind::BranchTargets:
      declare_labelled(function_->target_lists[statement.index].label,
                       Declared::Kind::BranchTargets, statement, errors);
      return;
    case StatementKind::CallTargets:
      declare_labelled(function_->target_lists[statement.index].label, Declared::Kind::CallTargets,
                       statement, errors);
      return;
    default:
      return;
  }
}

void Scope::declare_registers(const RegisterDecl& decl, std::vector<Diag>& errors) {
  for (const RegisterName& name : function_->names_of(decl)) {
    NameEntry entry{.name = name.name, .count = name.count, .offset = name.offset};
    entry.what.kind = Declared::Kind::Register;
    entry.what.type = decl.type;
    entry.what.lanes = decl.vector;
    declare(entry, errors);
  }
}

void Scope::declare_labelled(NameId name, Declared::Kind kind, const Statement& statement,
                             std::vector<Diag>& errors) {
  NameEntry entry{.name = name, .offset = statement.offset};
  entry.what.kind = kind;
  entry.what.statement = at_;
  declare(entry, errors);
}

void Scope::declare(NameEntry entry, std::vector<Diag>& errors) {
  entry.depth = static_cast<std::uint32_t>(blocks_.size());
  if (const NameEntry* const twin = names_.twin_of(entry))
    errors.push_back(declared_twice(module_, *twin, entry));
  entry.what.declaration = ++declarations_;
  names_.push(entry);
}

// --- finding ------------------------------------------------------------------------------------

Declared Scope::find(NameId name) const {
  const NameEntry* const entry = names_.visible(name, item_);
  if (entry == nullptr) {
    // Special registers are declared around the module.
    const bool may_be_label = labels_.has(name) && isa::find_special(module_.text(name)) == nullptr;
    return may_be_label ? find_label(name, nullptr) : find_component(name);
  }
  if (entry->what.kind == Declared::Kind::Label && entry->depth != blocks_.size())
    return find_label(name, entry);
  Declared what = entry->what;
  if (entry->count != kSingle) what.member = names_.member_of(name).index;
  return what;
}

Declared Scope::find(std::string_view name) const {
  if (const auto id = module_.names.find(name)) return find(*id);
  const FamilyMember member = names_.member_of(name);
  const NameEntry* const family = names_.family_of(member, item_);
  if (family == nullptr) return {};
  Declared what = family->what;
  what.member = member.index;
  return what;
}

// Where no label of the block itself stands above: one further down in it, then `outer`, which
// stands above in a block around it, then one further down in such a block.
Declared Scope::find_label(NameId name, const NameEntry* outer) const {
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    const LabelIndex::Place* const found = labels_.find(blocks_[b].id, name);
    if (found != nullptr && found->statement > at_) {
      Declared what;
      if (found->is_label) what.kind = Declared::Kind::Label;
      what.statement = found->statement;
      return what;
    }
    if (outer != nullptr) return outer->what;
  }
  return {};
}

Declared Scope::find_component(NameId name) const {
  const std::string_view text = module_.text(name);
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot + 2 != text.size()) return {};
  if (!std::string_view("xyzwrgba").contains(text[dot + 1])) return {};
  Declared what = find(text.substr(0, dot));
  if (what.kind != Declared::Kind::Register || what.lanes == 1) return {};
  what.lanes = 1;
  return what;
}

Declared Scope::find_global(NameId name, std::size_t item) const {
  const FamilyMember& member = names_.member_of(name);
  const NameEntry* entry = names_.exact(name);
  if (entry == nullptr && member.family != kNoName) {
    entry = names_.family(member.family);
    if (entry != nullptr && member.index >= entry->count) entry = nullptr;
  }
  if (entry == nullptr || entry->item >= item) return {};
  Declared what = entry->what;
  if (entry->count != kSingle) what.member = member.index;
  return what;
}

// --- what is not seen ---------------------------------------------------------------------------

std::optional<Note> Scope::elsewhere_in_function(NameId name) const {
  const FamilyMember& member = names_.member_of(name);
  std::optional<Note> note;
  for_each_statement(*function_, [&](std::uint32_t i, std::uint32_t block) {
    const Statement& statement = function_->statements[i];
    for_each_name(*function_, statement, [&](NameId other, std::uint32_t count, bool is_label) {
      const bool is_it =
          count == kSingle ? other == name : other == member.family && member.index < count;
      if (note || !is_it) return;
      const bool is_open =
          std::ranges::any_of(blocks_, [&](const Block& b) { return b.id == block; });
      note = Note{is_open    ? fmt::format("`{}` is declared further down", module_.text(name))
                  : is_label ? fmt::format("the label `{}` is in another block; a branch can leave "
                                           "blocks, not enter one",
                                           module_.text(name))
                             : fmt::format("`{}` is declared in another block", module_.text(name)),
                  Span::at(statement.offset, statement.offset + 1)};
    });
  });
  return note;
}

std::optional<Note> Scope::elsewhere(NameId name) const {
  if (function_ != nullptr) {
    if (std::optional<Note> note = elsewhere_in_function(name)) return note;
  }
  const NameEntry* const entry = names_.exact(name);
  if (entry == nullptr || entry->item <= item_) return std::nullopt;
  return Note{fmt::format("`{}` is declared further down", module_.text(name)),
              span_of(module_, *entry)};
}

}  // namespace ww::ptx
