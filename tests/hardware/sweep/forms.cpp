// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/forms.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "isa/catalogue.h"
#include "isa/check.h"
#include "isa/example.h"

namespace ww::sweep {
namespace {

using isa::Binding;
using isa::Form;

// The modifiers that decide what happens; the others order and cache.
constexpr isa::SlotName kDecisive[] = {"space", "op", "noftz", "vec", "type"};

bool is_legal(const Binding& binding) {
  return isa::lowest_ptx(binding, target::Arch::Sm90a) && no_recipe(binding).empty() &&
         !isa::example(binding).empty();
}

/// The binding without the others.
std::string decisive_part(const Binding& binding) {
  std::string key(binding.form().mnemonic.text());
  for (const isa::SlotName slot : kDecisive) key.append(".").append(binding.word(slot).text());
  return key;
}

/// Of all bindings of a family that differ only in order and caching the one with the least hash.
std::vector<Binding> chosen_of(std::span<const Form> forms) {
  std::map<std::string, std::pair<std::uint64_t, Binding>> least;
  std::vector<std::string> order;
  const auto offer = [&](const Binding& binding) {
    const std::uint64_t hash = hash_of(binding.opcode());
    const std::string key = decisive_part(binding);
    const auto at = least.find(key);
    if ((at != least.end() && at->second.first <= hash) || !is_legal(binding)) return;
    if (at == least.end()) order.push_back(key);
    least.insert_or_assign(key, std::pair(hash, binding));
  };
  for (const Form& form : forms) isa::for_each_binding(form, offer);
  std::vector<Binding> chosen;
  for (const std::string& key : order) chosen.push_back(least.at(key).second);
  return chosen;
}

std::vector<Binding> all_of(std::span<const Form> forms) {
  std::vector<Binding> all;
  const auto keep = [&](const Binding& binding) {
    if (is_legal(binding)) all.push_back(binding);
  };
  for (const Form& form : forms) isa::for_each_binding(form, keep);
  return all;
}

}  // namespace

std::vector<Kernel> all_kernels(std::string_view only, bool every_modifier) {
  std::vector<Kernel> kernels;
  for (const isa::Family& family : isa::families()) {
    const bool choose = !every_modifier && (family.name == "atomic" || family.name == "load_store");
    for (const Binding& binding : choose ? chosen_of(family.forms) : all_of(family.forms)) {
      for (Kernel& kernel : kernels_of(binding))
        if (kernel.title().contains(only)) kernels.push_back(std::move(kernel));
    }
  }
  return kernels;
}

}  // namespace ww::sweep
