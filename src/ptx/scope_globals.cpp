// SPDX-License-Identifier: Apache-2.0
// The names of a module itself: what may be declared again, and what must agree then.
#include <algorithm>

#include "ptx/scope.h"

namespace ww::ptx {
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
