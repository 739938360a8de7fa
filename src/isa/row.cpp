// SPDX-License-Identifier: Apache-2.0
#include "isa/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/split.h"
#include "isa/form.h"

namespace ww::isa {

namespace {

std::string_view word_list(std::string_view name) {
#define WW_WORDS(list, words) \
  if (name == #list) return words;
#include "isa/word_lists.def"
#undef WW_WORDS
  WW_CHECK(false, "no word list `${}`", name);
  return {};
}

template <typename Listed>
Listed listed(std::string_view text) {
  const auto name = Listed::find(text);
  WW_CHECK(name.has_value(), "words.h does not list `{}`", text);
  return *name;
}

std::vector<Word> read_words(std::string_view text) {
  std::vector<Word> words;
  for (const std::string_view part : split_words(text, '|')) {
    const bool is_list = part.starts_with('$');
    for (const std::string_view word : split_words(is_list ? word_list(part.substr(1)) : part, '|'))
      words.push_back(listed<Word>(word));
  }
  return words;
}

Slot read_slot(std::string_view text) {
  Slot slot;
  const auto equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  slot.optional = name.ends_with('?');
  if (slot.optional) name.remove_suffix(1);
  slot.name = listed<SlotName>(name);
  slot.words = read_words(equals == std::string_view::npos ? name : text.substr(equals + 1));
  WW_CHECK(!slot.words.empty() && slot.words.size() < Binding::kAbsent, "slot `{}`", text);
  slot.kind = kind_of_word(slot.words.front());
  return slot;
}

std::uint8_t word_index(const Slot& slot, Word word) {
  const std::uint8_t index = slot.find(word);
  WW_CHECK(index != Binding::kAbsent, "slot `{}` has no word `{}`", slot.name, word);
  return index;
}

std::optional<std::size_t> find_slot(const Form& form, std::string_view text) {
  const auto name = SlotName::find(text);
  return name ? form.slot_index(*name) : std::nullopt;
}

std::size_t slot_named(const Form& form, std::string_view name) {
  const auto index = find_slot(form, name);
  WW_CHECK(index.has_value(), "`{}` has no slot `{}`", form.mnemonic, name);
  return *index;
}

Condition::Term read_term(const Form& form, std::string_view text) {
  Condition::Term term;
  const auto equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  if (name.starts_with('!')) {
    term.negated = true;
    name.remove_prefix(1);
  }
  if (name.ends_with('!')) {  // a!=b
    term.negated = true;
    name.remove_suffix(1);
  }
  term.slot = slot_named(form, name);
  if (equals == std::string_view::npos) return term;
  for (const Word word : read_words(text.substr(equals + 1))) {
    term.words.push_back(word_index(form.slots[term.slot], word));
  }
  return term;
}

Condition read_condition(const Form& form, std::string_view text) {
  Condition condition;
  for (const std::string_view part : split_words(text, text.contains('&') ? '&' : ' ')) {
    condition.terms.push_back(read_term(form, part));
  }
  return condition;
}

// Walks over one operand's text.
class OperandReader {
 public:
  OperandReader(const Form& form, std::string_view text) : form_(form), text_(text) {}

  OperandSpec read() {
    if (text_ == "*") {
      spec_.name = "…";
      spec_.role = Role::Rest;
      return spec_;
    }
    read_role();
    spec_.name = take_name();
    while (!text_.empty()) read_suffix();
    return spec_;
  }

 private:
  void read_role() {
    static constexpr std::pair<char, Role> kRoles[] = {{'>', Role::Write},
                                                       {'#', Role::Immediate},
                                                       {'^', Role::Label},
                                                       {'~', Role::Targets},
                                                       {'[', Role::Address}};
    const auto* found = std::ranges::find(kRoles, text_.front(), &std::pair<char, Role>::first);
    if (found == std::end(kRoles)) return;
    spec_.role = found->second;
    text_.remove_prefix(1);
    if (spec_.role == Role::Address && text_.ends_with(']')) text_.remove_suffix(1);
  }

  std::string_view take_name() {
    std::size_t n = 0;
    while (n < text_.size() && (is_name_char(text_[n]) || text_[n] == ':') &&
           (text_[n] != ':' || (n + 1 < text_.size() && text_[n + 1] == ':'))) {
      n += text_[n] == ':' ? 2U : 1U;
    }
    WW_CHECK(n > 0, "`{}`: a name is missing at `{}`", form_.mnemonic, text_);
    return take(n);
  }

  std::string_view take(std::size_t n) {
    const std::string_view part = text_.substr(0, n);
    text_.remove_prefix(n);
    return part;
  }

  std::string_view take_until(char end) {
    const auto n = text_.find(end);
    WW_CHECK(n != std::string_view::npos, "`{}`: `{}` is missing", form_.mnemonic, end);
    const std::string_view part = take(n);
    text_.remove_prefix(1);
    return part;
  }

  void read_suffix() {
    const char c = text_.front();
    text_.remove_prefix(1);
    switch (c) {
      case '?':
        spec_.optional = true;
        return;
      case '{':
        return read_count(take_until('}'));
      case '|':
        return read_pair();
      case '@':
        return read_presence();
      case ':':
        return spec_.role == Role::Address ? read_space() : read_type();
      case '*':
        spec_.widen = 2;
        text_.remove_prefix(1);
        return;
      case '(':
        return read_values(take_until(')'));
      case '/':
        return read_flags();
      case ']':
        return;
      default:
        WW_CHECK(false, "`{}`: unexpected `{}` in an operand", form_.mnemonic, c);
    }
  }

  void read_count(std::string_view text) {
    if (text == "*") {
      spec_.count = OperandSpec::Count::ByFunction;
      WW_CHECK(form_.row->count != nullptr, "`{}` has no count function", form_.mnemonic);
    } else if (is_digit(text.front())) {
      spec_.count = OperandSpec::Count::Fixed;
      spec_.fixed_count = number_in(text);
    } else {
      spec_.count = OperandSpec::Count::BySlot;
      spec_.count_slot = slot_named(form_, text);
    }
  }

  void read_pair() {
    take_name();
    spec_.pair = OperandSpec::Pair::Required;
    if (!text_.empty() && text_.front() == '?') {
      spec_.pair = OperandSpec::Pair::Optional;
      text_.remove_prefix(1);
    }
  }

  void read_presence() {
    std::size_t n = 0;
    const auto ends = [&](std::size_t at) {
      const char c = text_[at];
      return c == '{' || c == '(' || c == ']' || c == '/' || c == ':';
    };
    while (n < text_.size() && (!ends(n) || text_.substr(n, 2) == "::")) {
      n += text_[n] == ':' ? 2U : 1U;
    }
    spec_.present = read_condition(form_, take(n));
  }

  void read_type() {
    const std::string_view name = take_name();
    if (const auto slot = find_slot(form_, name)) {
      spec_.type_slot = slot;
      return;
    }
    spec_.type = parse_type(name);
    WW_CHECK(spec_.type.has_value(), "`{}`: no type `{}`", form_.mnemonic, name);
  }

  void read_space() {
    const std::string_view name = take_name();
    if (const auto slot = find_slot(form_, name)) {
      spec_.space_slot = slot;
      return;
    }
    const auto space = parse_space(name);
    WW_CHECK(space.has_value(), "`{}`: no state space `{}`", form_.mnemonic, name);
    spec_.space = *space;
  }

  static std::int64_t read_int(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    WW_CHECK(error == std::errc() && end == text.data() + text.size(), "no number: `{}`", text);
    return value;
  }

  void read_values(std::string_view text) {
    const auto dots = text.find("..");
    if (dots == std::string_view::npos) {
      for (const std::string_view part : split_words(text, '|'))
        spec_.values.push_back(read_int(part));
      return;
    }
    std::string_view high = text.substr(dots + 2);
    if (const auto slash = high.find('/'); slash != std::string_view::npos) {
      spec_.step = read_int(high.substr(slash + 1));
      high = high.substr(0, slash);
    }
    spec_.low = read_int(text.substr(0, dots));
    spec_.high = read_int(high);
  }

  void read_flags() {
    static constexpr std::pair<char, bool OperandSpec::*> kFlags[] = {
        {'r', &OperandSpec::register_only}, {'w', &OperandSpec::wider},
        {'s', &OperandSpec::special},       {'y', &OperandSpec::symbol},
        {'_', &OperandSpec::sink},          {'b', &OperandSpec::braces}};
    static constexpr std::pair<char, Select> kSelects[] = {
        {'p', Select::One}, {'2', Select::Two}, {'4', Select::Four}};
    while (!text_.empty() && text_.front() != '(' && text_.front() != '@') {
      const char c = take(1).front();
      bool is_known = false;
      for (const auto& [letter, flag] : kFlags)
        if (letter == c) is_known = spec_.*flag = true;
      for (const auto& [letter, select] : kSelects) {
        if (letter != c) continue;
        spec_.select = select;
        is_known = true;
      }
      WW_CHECK(is_known, "`{}`: unknown flag before `{}`", form_.mnemonic, text_);
    }
  }

  const Form& form_;
  std::string_view text_;
  OperandSpec spec_;
};

void read_conditions(Form& form, const Row& row) {
  for (const Gate& gate : row.gates.view()) {
    form.gates.push_back(
        {read_condition(form, gate.when), gate.needs, gate.ptx, gate.until, gate.early});
  }
  for (const Rule& rule : row.rules.view()) {
    RuleInfo info{read_condition(form, rule.when), std::nullopt, std::string(rule.reason)};
    if (!rule.then.empty()) info.then = read_condition(form, rule.then);
    form.rules.push_back(std::move(info));
  }
}

}  // namespace

Form read_row(std::string_view family, const Row& row) {
  Form form;
  form.family = family;
  form.mnemonic = row.mnemonic;
  form.row = &row;
  for (const std::string_view part : split_words(row.slots, ' '))
    form.slots.push_back(read_slot(part));
  WW_CHECK(form.slots.size() <= Binding::kMaxSlots, "`{}` has too many slots", row.mnemonic);
  for (const std::string_view part : split_words(row.operands, ' ')) {
    form.operands.push_back(OperandReader(form, part).read());
  }
  read_conditions(form, row);
  return form;
}

}  // namespace ww::isa
