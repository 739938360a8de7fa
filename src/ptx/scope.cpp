// SPDX-License-Identifier: Apache-2.0
#include "ptx/scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "isa/special_registers.h"

namespace ww::ptx {
namespace {

std::size_t index_of(NameId name) { return static_cast<std::uint32_t>(name); }

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

Scope::Scope(const Module& module, std::vector<Diag>& errors)
    : module_(module),
      exact_(module.names.size(), kNone),
      families_(module.names.size(), kNone),
      member_entries_(module.names.size(), kNone),
      members_(module.names.size()),
      is_label_(module.names.size(), false) {
  declare_globals(errors);
}

// --- functions and blocks -----------------------------------------------------------------------

void Scope::begin(const Function& function, std::vector<Diag>& errors) {
  function_ = &function;
  at_ = declarations_ = 0;
  item_ = function_items_[static_cast<std::size_t>(&function - module_.functions.data())];
  index_labels();
  blocks_.push_back({entries_.size(), 0});
  for (const std::vector<Variable>* const list : {&function.results, &function.params}) {
    for (const Variable& variable : *list) {
      declare({.what = declared(variable), .name = variable.name, .offset = variable.offset},
              errors);
    }
  }
}

void Scope::end() {
  while (!blocks_.empty()) leave_block();
  for (const Statement& statement : function_->statements) {
    if (statement.kind == StatementKind::Label) is_label_[statement.index] = false;
  }
  block_names_.clear();
  function_ = nullptr;
}

void Scope::leave_block() {
  while (entries_.size() > blocks_.back().first_entry) pop();
  blocks_.pop_back();
}

// Labels are known before they stand. Of their names, what else blocks declare counts as well: a
// branch does not look past it.
void Scope::index_labels() {
  bool any = false;
  for (const Statement& statement : function_->statements) {
    if (statement.kind != StatementKind::Label) continue;
    is_label_[statement.index] = any = true;
  }
  if (!any) return;
  for_each_statement(*function_, [&](std::uint32_t i, std::uint32_t block) {
    for_each_name(*function_, function_->statements[i],
                  [&](NameId name, std::uint32_t count, bool is_label) {
                    if (count != kSingle || !is_label_[index_of(name)]) return;
                    block_names_.try_emplace(key_of(block, name), BlockName{i, is_label});
                  });
  });
}

void Scope::enter(const Statement& statement, std::vector<Diag>& errors) {
  at_ = static_cast<std::uint32_t>(&statement - function_->statements.data());
  switch (statement.kind) {
    case StatementKind::OpenBlock:
      blocks_.push_back({entries_.size(), at_ + 1});
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
    Entry entry{.name = name.name, .count = name.count, .offset = name.offset};
    entry.what.kind = Declared::Kind::Register;
    entry.what.type = decl.type;
    entry.what.lanes = decl.vector;
    declare(entry, errors);
  }
}

void Scope::declare_labelled(NameId name, Declared::Kind kind, const Statement& statement,
                             std::vector<Diag>& errors) {
  Entry entry{.name = name, .offset = statement.offset};
  entry.what.kind = kind;
  entry.what.statement = at_;
  declare(entry, errors);
}

// --- entries ------------------------------------------------------------------------------------

// The declaration of the same block that has the name, too. A label may be called like the member
// of a family, which then hides it.
const Scope::Entry* Scope::twin_of(const Entry& entry) const {
  const auto here = [&](std::uint32_t at) {
    return at != kNone && entries_[at].depth == blocks_.size() ? &entries_[at] : nullptr;
  };
  if (entry.count != kSingle) {
    if (const Entry* const same = here(families_[index_of(entry.name)])) return same;
    const Entry* single = here(member_entries_[index_of(entry.name)]);
    while (single != nullptr && member_of(single->name).index >= entry.count)
      single = here(single->next_member);
    return single;
  }
  if (const Entry* const same = here(exact_[index_of(entry.name)])) return same;
  const Member& member = member_of(entry.name);
  if (member.family == kNoName || entry.what.kind == Declared::Kind::Label) return nullptr;
  const Entry* const family = here(families_[index_of(member.family)]);
  return family != nullptr && member.index < family->count ? family : nullptr;
}

void Scope::declare(Entry entry, std::vector<Diag>& errors) {
  if (const Entry* const twin = twin_of(entry)) errors.push_back(declared_twice(*twin, entry));
  entry.what.declaration = ++declarations_;
  push(entry);
}

void Scope::push(Entry entry) {
  const auto at = static_cast<std::uint32_t>(entries_.size());
  const bool is_family = entry.count != kSingle;
  std::uint32_t& top = (is_family ? families_ : exact_)[index_of(entry.name)];
  entry.depth = static_cast<std::uint32_t>(blocks_.size());
  entry.below = top;
  top = at;
  const NameId family = is_family ? kNoName : member_of(entry.name).family;
  if (family != kNoName && entry.what.kind != Declared::Kind::Label) {
    entry.next_member = member_entries_[index_of(family)];
    member_entries_[index_of(family)] = at;
  }
  entries_.push_back(entry);
}

void Scope::pop() {
  const Entry& entry = entries_.back();
  const bool is_family = entry.count != kSingle;
  (is_family ? families_ : exact_)[index_of(entry.name)] = entry.below;
  const NameId family = is_family ? kNoName : member_of(entry.name).family;
  if (family != kNoName && entry.what.kind != Declared::Kind::Label)
    member_entries_[index_of(family)] = entry.next_member;
  entries_.pop_back();
}

std::string Scope::text_of(const Entry& entry) const {
  const std::string_view name = module_.text(entry.name);
  return entry.count == kSingle ? std::string(name) : fmt::format("{}<{}>", name, entry.count);
}

Span Scope::span_of(const Entry& entry) const {
  const bool is_function = entry.what.kind == Declared::Kind::Function;
  return Span::at(entry.offset, entry.offset + (is_function ? 1 : module_.text(entry.name).size()));
}

Diag Scope::declared_twice(const Entry& first, const Entry& second) const {
  const bool is_member = (first.count == kSingle) != (second.count == kSingle);
  const Entry& single = first.count == kSingle ? first : second;
  const Entry& family = first.count == kSingle ? second : first;
  Diag problem =
      is_member ? diag(DiagKind::Redeclared, "`{}` is declared twice in this block: it is in `{}`",
                       text_of(single), text_of(family))
                : diag(DiagKind::Redeclared, "`{}` is declared twice in this {}", text_of(second),
                       blocks_.empty() ? "module" : "block");
  return std::move(problem).with_span(span_of(second)).with_note("the first one", span_of(first));
}

// --- finding ------------------------------------------------------------------------------------

// `%r12` is number 12 of `%r<…>`, and so is `%r012`. All digits at the end are the number.
Scope::Member Scope::member_of(std::string_view text) const {
  constexpr std::size_t kMaxDigits = 9;  // of the largest family
  Member member{.is_known = true};
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

const Scope::Member& Scope::member_of(NameId name) const {
  Member& member = members_[index_of(name)];
  if (!member.is_known) member = member_of(module_.text(name));
  return member;
}

const Scope::Entry* Scope::exact(NameId name) const {
  const std::uint32_t at = exact_[index_of(name)];
  return at == kNone || entries_[at].item > item_ ? nullptr : &entries_[at];
}

const Scope::Entry* Scope::family_of(const Member& member) const {
  if (member.family == kNoName) return nullptr;
  std::uint32_t at = families_[index_of(member.family)];
  while (at != kNone && (member.index >= entries_[at].count || entries_[at].item > item_))
    at = entries_[at].below;
  return at == kNone ? nullptr : &entries_[at];
}

const Scope::Entry* Scope::visible(NameId name) const {
  const Entry* const own = exact(name);
  const Entry* const family = family_of(member_of(name));
  if (own == nullptr || family == nullptr) return own == nullptr ? family : own;
  return family->depth >= own->depth ? family : own;
}

Declared Scope::find(NameId name) const {
  const Entry* const entry = visible(name);
  if (entry == nullptr) {
    // Special registers are declared around the module.
    const bool may_be_label =
        is_label_[index_of(name)] && isa::find_special(module_.text(name)) == nullptr;
    return may_be_label ? find_label(name, nullptr) : find_component(name);
  }
  if (entry->what.kind == Declared::Kind::Label && entry->depth != blocks_.size())
    return find_label(name, entry);
  Declared what = entry->what;
  if (entry->count != kSingle) what.member = member_of(name).index;
  return what;
}

Declared Scope::find(std::string_view name) const {
  if (const auto id = module_.names.find(name)) return find(*id);
  const Member member = member_of(name);
  const Entry* const family = family_of(member);
  if (family == nullptr) return {};
  Declared what = family->what;
  what.member = member.index;
  return what;
}

// Where no label of the block itself stands above: one further down in it, then `outer`, which
// stands above in a block around it, then one further down in such a block.
Declared Scope::find_label(NameId name, const Entry* outer) const {
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    const auto found = block_names_.find(key_of(blocks_[b].id, name));
    if (found != block_names_.end() && found->second.statement > at_) {
      Declared what;
      if (found->second.is_label) what.kind = Declared::Kind::Label;
      what.statement = found->second.statement;
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
  const Member& member = member_of(name);
  std::uint32_t at = exact_[index_of(name)];
  if (at == kNone && member.family != kNoName) {
    at = families_[index_of(member.family)];
    if (at != kNone && member.index >= entries_[at].count) at = kNone;
  }
  if (at == kNone || entries_[at].item >= item) return {};
  Declared what = entries_[at].what;
  if (entries_[at].count != kSingle) what.member = member.index;
  return what;
}

// --- what is not seen ---------------------------------------------------------------------------

std::optional<Note> Scope::elsewhere_in_function(NameId name) const {
  const Member& member = member_of(name);
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
  const std::uint32_t at = exact_[index_of(name)];
  if (at == kNone || entries_[at].item <= item_) return std::nullopt;
  return Note{fmt::format("`{}` is declared further down", module_.text(name)),
              span_of(entries_[at])};
}

}  // namespace ww::ptx
