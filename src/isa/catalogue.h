// SPDX-License-Identifier: Apache-2.0
// The catalogue: every PTX instruction that Warpwright knows, read once from the rows of families/.
// It looks up opcodes (`bind_opcode`) and lists instructions (`families`, `forms_of`). It never
// changes after it is built; all functions may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/form.h"
#include "isa/opcode.h"

namespace ww::isa {

struct Family {
  std::string_view name;
  std::string_view title;
  std::span<const Form> forms;
};

/// How far an opcode or instruction got against one form, least first. What is reported is the
/// problem of the form that got furthest.
enum class Stage : std::uint8_t {
  Words,
  Missing,
  Rules,
  OperandShape,
  OperandTypes,
  Gates,
  Passed
};

/// Why a form does not fit. `word` is the index of the modifier at fault (0 is the first word of
/// the opcode) or -1.
struct Misfit {
  Stage stage = Stage::Words;
  int word = -1;
  std::string text;
  const Form* form = nullptr;
};

/// What `bind_opcode` finds: the bindings of all forms whose modifiers fit, or why the nearest does
/// not.
struct Bindings {
  std::vector<Binding> fits;
  Misfit misfit;  // meaningful when fits is empty
};

std::span<const Family> families();
/// Reads the rows not yet used, while `goes_on` holds, so that later callers need not wait. Call it
/// from an idle thread.
void read_ahead(const std::function<bool()>& goes_on);
/// The family of that name, or nullptr.
const Family* find_family(std::string_view name);
/// All forms whose mnemonic starts with these dotted words: "cp.async" gives its bulk forms too.
std::vector<const Form*> forms_of(std::string_view mnemonic);

/// The forms an opcode may be of: "ld.global.v4.b32". Modifiers may stand in any order (ptxas takes
/// them so), but types and state spaces keep theirs.
Bindings bind_opcode(std::string_view opcode);

/// The words between the dots.
std::vector<std::string_view> opcode_words(std::string_view opcode);

/// Calls `visit` with every combination of modifiers that the form's rules allow, in a fixed order.
template <typename Visit>
void for_each_binding(const Form& form, Visit&& visit);

/// Whether the rules allow the binding; on refusal why.
std::optional<std::string> broken_rule(const Binding& binding);

// ---------------------------------------------------------------------------------------------------

namespace detail {
template <typename Visit>
void visit_slots(Binding& binding, std::size_t slot, Visit& visit) {
  const Form& form = binding.form();
  if (slot == form.slots.size()) {
    if (!broken_rule(binding)) visit(static_cast<const Binding&>(binding));
    return;
  }
  if (form.slots[slot].optional) {
    binding.clear(slot);
    visit_slots(binding, slot + 1, visit);
  }
  for (std::size_t w = 0; w < form.slots[slot].words.size(); ++w) {
    binding.set(slot, static_cast<std::uint8_t>(w));
    visit_slots(binding, slot + 1, visit);
  }
  binding.clear(slot);
}
}  // namespace detail

template <typename Visit>
void for_each_binding(const Form& form, Visit&& visit) {
  Binding binding(form);
  detail::visit_slots(binding, 0, visit);
}

}  // namespace ww::isa
