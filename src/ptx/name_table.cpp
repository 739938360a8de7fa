// SPDX-License-Identifier: Apache-2.0
#include "ptx/name_table.h"

#include <fmt/format.h>

#include <string>

#include "base/ascii.h"

namespace ww::ptx {

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

}  // namespace ww::ptx
