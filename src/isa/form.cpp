// SPDX-License-Identifier: Apache-2.0
#include "isa/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/ascii.h"
#include "base/check.h"
#include "base/join.h"

namespace ww::isa {

// --- selector ------------------------------------------------------------------------------------

namespace {

// The digits behind `b` or `h` are so many, all below `end`.
bool counts(std::string_view digits, std::size_t least, std::size_t most, char end) {
  return digits.size() >= least && digits.size() <= most &&
         std::ranges::all_of(digits, [&](char c) { return c >= '0' && c < end; });
}

bool descends(std::string_view digits) {
  return std::ranges::adjacent_find(digits, std::less_equal<>{}) == digits.end();
}

}  // namespace

bool is_selection(std::string_view word) {
  return word.size() >= 2 && (word[0] == 'b' || word[0] == 'h') &&
         std::ranges::all_of(word.substr(1), [](char c) { return is_digit(c); });
}

bool allows_selection(Select select, bool is_result, std::string_view word) {
  if (!is_selection(word)) return false;
  const bool is_byte = word[0] == 'b';
  const std::string_view digits = word.substr(1);
  switch (select) {
    case Select::None:
      return false;
    case Select::One:
      return counts(digits, 1, 1, is_byte ? '4' : '2');
    case Select::Two:
      if (is_byte) return false;
      return is_result ? counts(digits, 1, 2, '2') && descends(digits) : counts(digits, 2, 2, '4');
    case Select::Four:
      if (!is_byte) return false;
      return is_result ? counts(digits, 1, 4, '4') && descends(digits) : counts(digits, 4, 4, '8');
  }
  return false;
}

std::string_view selection_text(Select select, bool is_result) {
  switch (select) {
    case Select::None:
      return "none";
    case Select::One:
      return "`.b0` to `.b3`, `.h0`, `.h1`";
    case Select::Two:
      return is_result ? "`.h0`, `.h1`, `.h10`" : "`.hXY` with digits from 0 to 3";
    case Select::Four:
      return is_result ? "`.b` and some of 3, 2, 1, 0 in this order"
                       : "`.bXYZW` with digits from 0 to 7";
  }
  return "";
}

std::uint8_t Slot::find(Word word) const {
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? Binding::kAbsent : static_cast<std::uint8_t>(found - words.begin());
}

SlotKind kind_of_word(Word word) {
  if (parse_type(word)) return SlotKind::Type;
  if (parse_space(word)) return SlotKind::Space;
  return SlotKind::Word;
}

bool OperandSpec::allows(std::int64_t value) const {
  if (!values.empty()) return std::ranges::find(values, value) != values.end();
  if (low > high) return true;
  return value >= low && value <= high && (value - low) % step == 0;
}

std::string OperandSpec::values_text() const {
  if (!values.empty()) return join(values, ", ");
  if (low > high) return "";
  return step == 1 ? fmt::format("{}..{}", low, high)
                   : fmt::format("{}..{} in steps of {}", low, high, step);
}

std::optional<std::size_t> Form::slot_index(SlotName name) const {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == name) return i;
  }
  return std::nullopt;
}

std::size_t Binding::given_count() const {
  return kMaxSlots - static_cast<std::size_t>(std::ranges::count(choice_, kAbsent));
}

bool Binding::has(SlotName slot) const {
  const auto index = form_->slot_index(slot);
  return index && has(*index);
}

Word Binding::word(std::size_t slot) const {
  return has(slot) ? form_->slots[slot].words[choice_[slot]] : Word();
}

Word Binding::word(SlotName slot) const {
  const auto index = form_->slot_index(slot);
  return index ? word(*index) : Word();
}

Type Binding::type(SlotName slot) const { return *parse_type(word(slot)); }

int Binding::number(SlotName slot) const { return number_in(word(slot)); }

bool Binding::holds(const Condition& condition) const {
  return std::ranges::all_of(condition.terms, [&](const Condition::Term& term) {
    const bool given = has(term.slot);
    const bool listed =
        given && (term.words.empty() ||
                  std::ranges::find(term.words, choice_[term.slot]) != term.words.end());
    return listed != term.negated;
  });
}

std::string Binding::opcode() const {
  std::string text(form_->mnemonic.text());
  for (std::size_t i = 0; i < form_->slots.size(); ++i) {
    if (has(i)) text.append(".").append(word(i).text());
  }
  return text;
}

int number_in(std::string_view word) {
  const auto last = word.find_last_of("0123456789");
  if (last == std::string_view::npos) return 0;
  std::size_t first = last;
  while (first > 0 && is_digit(word[first - 1])) --first;
  int number = 0;
  for (const char c : word.substr(first, last - first + 1)) number = number * 10 + (c - '0');
  return number;
}

int number_in(Word word) { return number_in(word.text()); }

// Two of the three come before a letter, so each is read from its own prefix.
ProductShape product_shape(Word word) {
  const std::string_view text = word.text();
  return {number_in(text.substr(0, text.find('n'))), number_in(text.substr(0, text.find('k'))),
          number_in(text)};
}

int element_bits(const Binding& binding, SlotName slot) {
  // Narrow floats have a byte each, but for the kinds that hold two of four bits in one.
  if (binding.word("kind").is_one_of({"kind::mxf4", "kind::mxf4nvf4"})) return 4;
  const Type type = parse_type(binding.word(slot)).value_or(Type::F16);
  if (type == Type::B1) return 1;
  return type == Type::E2m1 ? 8 : num::storage_bits(info(type).number);
}

namespace {

std::string term_text(const Condition::Term& term, const Slot& slot) {
  std::vector<std::string> words;
  if (term.words.empty() && !slot.is_fixed()) {
    return fmt::format("{} `.{}` modifier", term.negated ? "no" : "a", slot.name);
  }
  for (const std::uint8_t w : term.words) words.push_back(fmt::format("`.{}`", slot.words[w]));
  if (words.empty()) words.push_back(fmt::format("`.{}`", slot.name));
  return fmt::format("{}{}", term.negated ? "no " : "", join(words, " or "));
}

std::string slot_text(const Slot& slot) {
  std::string inner = slot.words.size() <= 4 ? fmt::format(".{}", join(slot.words, "|."))
                                             : fmt::format(".{}", slot.name);
  return slot.optional ? fmt::format("{{{}}}", inner) : inner;
}

std::string operand_text(const OperandSpec& spec) {
  std::string text(spec.name);
  if (spec.count != OperandSpec::Count::Scalar && spec.role != Role::Address) {
    text = fmt::format("{{{}…}}", spec.name);
  }
  if (spec.role == Role::Address) {
    text = spec.count == OperandSpec::Count::Scalar ? fmt::format("[{}]", spec.name)
                                                    : fmt::format("[{}, {{c…}}]", spec.name);
  }
  if (spec.pair == OperandSpec::Pair::Required) text += "|p";
  if (spec.pair == OperandSpec::Pair::Optional) text += "{|p}";
  return text;
}

}  // namespace

std::string to_text(const Condition& condition, const Form& form) {
  std::vector<std::string> terms;
  terms.reserve(condition.terms.size());
  for (const Condition::Term& term : condition.terms) {
    terms.push_back(term_text(term, form.slots[term.slot]));
  }
  return join(terms, " and ");
}

std::string syntax_line(const Form& form) {
  std::string text(form.mnemonic.text());
  for (const Slot& slot : form.slots) text += slot_text(slot);
  bool first = true;
  for (const OperandSpec& spec : form.operands) {
    const std::string comma = first ? " " : ", ";
    const bool may_lack = spec.optional || spec.present;
    const std::string part = comma + operand_text(spec);
    text += may_lack ? fmt::format("{{{}}}", part) : part;
    first = false;
  }
  return text;
}

std::optional<Type> type_of(const OperandSpec& spec, const Binding& binding) {
  std::optional<Type> type = spec.type;
  if (spec.type_slot) type = parse_type(binding.word(*spec.type_slot));
  if (!type || spec.widen == 1) return type;
  const std::string_view name = info(*type).name;
  const int bits = info(*type).bits * spec.widen;
  return parse_type(fmt::format("{}{}", name.front(), bits));
}

std::optional<int> count_of(const OperandSpec& spec, const Binding& binding) {
  switch (spec.count) {
    case OperandSpec::Count::Scalar:
      return std::nullopt;
    case OperandSpec::Count::Fixed:
      return spec.fixed_count;
    case OperandSpec::Count::BySlot:
      if (!binding.has(spec.count_slot)) return std::nullopt;  // `.v4` not given: one register
      return number_in(binding.word(spec.count_slot));
    case OperandSpec::Count::ByFunction:
      const int count = binding.form().row->count(binding, spec.name);
      return count < 0 ? std::nullopt : std::optional(count);
  }
  return std::nullopt;
}

Space space_of(const OperandSpec& spec, const Binding& binding) {
  if (!spec.space_slot) return spec.space;
  return parse_space(binding.word(*spec.space_slot)).value_or(Space::Generic);
}

}  // namespace ww::isa
