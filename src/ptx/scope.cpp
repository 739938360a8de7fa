// SPDX-License-Identifier: Apache-2.0
#include "ptx/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "isa/special_registers.h"

namespace ww::ptx {

// --- name table ----------------------------------------------------------------------------------

Declared declared(const Variable& variable) {
  Declared what;
  what.kind = variable.space == Space::Reg ? Declared::Kind::Register : Declared::Kind::Variable;
  what.type = variable.type;
  what.lanes = variable.vector;
  what.space = variable.space;
  what.variable = &variable;
  return what;
}

namespace {

std::string entry_text(const Module& module, const NameEntry& entry) {
  const std::string_view name = module.text(entry.name);
  return entry.count == kSingle ? std::string(name) : fmt::format("{}<{}>", name, entry.count);
}

}  // namespace

Span span_of(const Module& module, const NameEntry& entry) {
  const bool is_function = entry.what.kind == Declared::Kind::Function;
  return Span::at(entry.offset, entry.offset + (is_function ? 1 : module.text(entry.name).size()));
}

Diag declared_twice(const Module& module, const NameEntry& first, const NameEntry& second) {
  const bool is_member = (first.count == kSingle) != (second.count == kSingle);
  const NameEntry& single = first.count == kSingle ? first : second;
  const NameEntry& family = first.count == kSingle ? second : first;
  Diag problem =
      is_member ? diag(DiagKind::Redeclared, "`{}` is declared twice in this block: it is in `{}`",
                       entry_text(module, single), entry_text(module, family))
                : diag(DiagKind::Redeclared, "`{}` is declared twice in this {}",
                       entry_text(module, second), second.depth == 0 ? "module" : "block");
  return std::move(problem)
      .with_span(span_of(module, second))
      .with_note("the first one", span_of(module, first));
}

NameTable::NameTable(const Module& module)
    : module_(module),
      exact_(module.names.size(), NameEntry::kNone),
      families_(module.names.size(), NameEntry::kNone),
      member_entries_(module.names.size(), NameEntry::kNone),
      members_(module.names.size()) {}

void NameTable::push(NameEntry entry) {
  const auto at = static_cast<std::uint32_t>(entries_.size());
  const bool is_family = entry.count != kSingle;
  std::uint32_t& top = (is_family ? families_ : exact_)[index_of(entry.name)];
  entry.below = top;
  top = at;
  const NameId family = is_family ? kNoName : member_of(entry.name).family;
  if (family != kNoName && entry.what.kind != Declared::Kind::Label) {
    entry.next_member = member_entries_[index_of(family)];
    member_entries_[index_of(family)] = at;
  }
  entries_.push_back(entry);
}

void NameTable::pop() {
  const NameEntry& entry = entries_.back();
  const bool is_family = entry.count != kSingle;
  (is_family ? families_ : exact_)[index_of(entry.name)] = entry.below;
  const NameId family = is_family ? kNoName : member_of(entry.name).family;
  if (family != kNoName && entry.what.kind != Declared::Kind::Label)
    member_entries_[index_of(family)] = entry.next_member;
  entries_.pop_back();
}

// `%r12` is number 12 of `%r<…>`, and so is `%r012`. All digits at the end are the number.
FamilyMember NameTable::member_of(std::string_view text) const {
  constexpr std::size_t kMaxDigits = 9;  // of the largest family
  FamilyMember member{.is_known = true};
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  if (begin == text.size() || begin == 0) return member;
  std::string_view digits = text.substr(begin);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  const auto family = module_.names.find(text.substr(0, begin));
  if (!family || digits.size() > kMaxDigits) return member;
  member.family = *family;
  for (const char c : digits)
    member.index = member.index * 10 + static_cast<std::uint32_t>(c - '0');
  return member;
}

const FamilyMember& NameTable::member_of(NameId name) const {
  FamilyMember& member = members_[index_of(name)];
  if (!member.is_known) member = member_of(module_.text(name));
  return member;
}

const NameEntry* NameTable::family_of(const FamilyMember& member, std::uint32_t last) const {
  if (member.family == kNoName) return nullptr;
  const NameEntry* found = family(member.family);
  while (found != nullptr && (member.index >= found->count || found->item > last))
    found = at(found->below);
  return found;
}

const NameEntry* NameTable::visible(NameId name, std::uint32_t last) const {
  const NameEntry* own = exact(name);
  if (own != nullptr && own->item > last) own = nullptr;
  const NameEntry* const family = family_of(member_of(name), last);
  if (own == nullptr || family == nullptr) return own == nullptr ? family : own;
  return family->depth >= own->depth ? family : own;
}

const NameEntry* NameTable::twin_of(const NameEntry& entry) const {
  const auto here = [&](const NameEntry* other) {
    return other != nullptr && other->depth == entry.depth ? other : nullptr;
  };
  if (entry.count != kSingle) {
    if (const NameEntry* const same = here(family(entry.name))) return same;
    const NameEntry* single = here(at(member_entries_[index_of(entry.name)]));
    while (single != nullptr && member_of(single->name).index >= entry.count)
      single = here(at(single->next_member));
    return single;
  }
  if (const NameEntry* const same = here(exact(entry.name))) return same;
  const FamilyMember& member = member_of(entry.name);
  if (member.family == kNoName || entry.what.kind == Declared::Kind::Label) return nullptr;
  const NameEntry* const found = here(family(member.family));
  return found != nullptr && member.index < found->count ? found : nullptr;
}

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

// --- scope globals -------------------------------------------------------------------------------
//
// The names of a module itself: what may be declared again, and what must agree then.

namespace {

bool same_shape(const Variable& a, const Variable& b) {
  return a.space == b.space && a.opaque == b.opaque && a.type == b.type && a.vector == b.vector &&
         a.dims.size() == b.dims.size() && a.count == b.count;
}

bool same_parameters(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_shape);
}

// Whether a name of the module may be declared again this way: an `.extern` variable and its
// definition, and a function that is declared before it is defined.
bool may_follow(const Declared& first, const Declared& second) {
  if (first.kind != second.kind) return false;
  if (first.kind == Declared::Kind::Function)
    return !first.function->has_body && first.function->kind == second.function->kind;
  const Linkage a = first.variable->linkage;
  const Linkage b = second.variable->linkage;
  return (a == Linkage::Extern && b != Linkage::None) ||
         (b == Linkage::Extern && a != Linkage::None);
}

bool agree(const Declared& first, const Declared& second) {
  if (first.kind == Declared::Kind::Variable) return same_shape(*first.variable, *second.variable);
  const Function& a = *first.function;
  const Function& b = *second.function;
  const bool defines_extern = a.linkage == Linkage::Extern && b.has_body;
  return !defines_extern && same_parameters(a.results, b.results) &&
         same_parameters(a.params, b.params);
}

bool is_definition(const Declared& what) {
  return what.kind == Declared::Kind::Function ? what.function->has_body
                                               : what.variable->linkage != Linkage::Extern;
}

}  // namespace

void Scope::declare_globals(std::vector<Diag>& errors) {
  function_items_.resize(module_.functions.size());
  for (std::uint32_t i = 0; i < module_.items.size(); ++i) {
    const Item& item = module_.items[i];
    NameEntry entry;
    entry.item = i;
    entry.offset = item.offset;
    if (item.kind == ItemKind::Variable) {
      const Variable& variable = module_.variables[item.index];
      entry.what = declared(variable);
      entry.name = variable.name;
      entry.count = variable.count;
      entry.offset = variable.offset;
    } else if (item.kind == ItemKind::Function) {
      entry.what.kind = Declared::Kind::Function;
      entry.what.function = &module_.functions[item.index];
      entry.name = entry.what.function->name;
      function_items_[item.index] = i;
    } else if (item.kind == ItemKind::Alias) {
      declare_alias(module_.aliases[item.index], i, errors);
      continue;
    } else {
      continue;
    }
    declare_global(entry, errors);
  }
}

// Both names are functions declared above; the first then means the second.
void Scope::declare_alias(const Alias& alias, std::uint32_t item, std::vector<Diag>& errors) {
  NameEntry* const named = names_.exact(alias.name);
  const Declared target = find_global(alias.target, item);
  if (named != nullptr && target.kind == Declared::Kind::Function) {
    named->what = target;
    return;
  }
  const std::uint32_t offset = module_.items[item].offset;
  errors.push_back(diag(DiagKind::UnknownName, "the alias `{}` of `{}`: `{}` is not a function",
                        module_.text(alias.name), module_.text(alias.target),
                        module_.text(named == nullptr ? alias.name : alias.target))
                       .with_span(Span::at(offset, offset + std::string_view(".alias").size())));
}

void Scope::declare_global(const NameEntry& entry, std::vector<Diag>& errors) {
  const NameEntry* const twin = names_.twin_of(entry);
  if (twin == nullptr || twin->count != kSingle || entry.count != kSingle) {
    declare(entry, errors);
    return;
  }
  NameEntry& first = *names_.exact(entry.name);
  if (!may_follow(first.what, entry.what)) {
    errors.push_back(declared_twice(module_, first, entry));
    return;
  }
  if (!agree(first.what, entry.what)) {
    errors.push_back(
        diag(DiagKind::Redeclared, "`{}` is declared in two ways", module_.text(entry.name))
            .with_span(span_of(module_, entry))
            .with_note("the other one", span_of(module_, first)));
  }
  if (is_definition(entry.what)) first.what = entry.what;
}

}  // namespace ww::ptx
