// SPDX-License-Identifier: Apache-2.0
// A `Form` is a row of the catalogue read into structure; a `Binding` is one opcode of that form:
// for each modifier slot, which of its words was given. Parser-free users (checker, simulator,
// emitters, listing) work with these two.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/row.h"

namespace ww::isa {

// --- selector ------------------------------------------------------------------------------------
//
// Parts of registers that video instructions name: `%r1.b2` is a byte, `%r1.h0` a half. Instructions of
// two halves or four bytes take a list instead, the last one first: of sources from both words,
// where b's parts are numbered after a's (`.h20`, `.b7610`); the result lists the parts it writes
// (`.b20`).

/// What an operand may select.
enum class Select : std::uint8_t {
  None,
  One,   // b0 to b3, h0, h1
  Two,   // two of the halves 0 to 3; of a result h0, h1 or h10
  Four,  // four of the bytes 0 to 7; of a result some of 0 to 3, in descending order
};

/// Whether a word after the dot looks like a selection: `b2`, `h10`, `b7654`.
bool is_selection(std::string_view word);
/// Whether an operand may have it.
bool allows_selection(Select select, bool is_result, std::string_view word);
/// The words that it may have, for messages.
std::string_view selection_text(Select select, bool is_result);

struct Form;

/// What kind of words a slot holds. ptxas takes modifiers in any order, but types among themselves
/// and state spaces among themselves keep theirs.
enum class SlotKind : std::uint8_t { Word, Type, Space };

struct Slot {
  SlotName name;
  std::vector<Word> words;
  bool optional = false;
  SlotKind kind = SlotKind::Word;

  /// The index of a word, or Binding::kAbsent.
  [[nodiscard]] std::uint8_t find(Word word) const;
  /// One word that is also its name: `.sync`.
  [[nodiscard]] bool is_fixed() const {
    return words.size() == 1 && words[0].text() == name.text();
  }
};

/// One condition: terms that must all hold for a binding.
struct Condition {
  struct Term {
    std::size_t slot = 0;
    bool negated = false;
    std::vector<std::uint8_t> words;  // indices into the slot's words; empty: any
  };
  std::vector<Term> terms;

  [[nodiscard]] bool empty() const { return terms.empty(); }
};

enum class Role : std::uint8_t { Write, Read, Immediate, Address, Label, Targets, Rest };

struct OperandSpec {
  enum class Count : std::uint8_t { Scalar, Fixed, BySlot, ByFunction };
  enum class Pair : std::uint8_t { None, Optional, Required };

  std::string_view name;
  Role role = Role::Read;
  bool optional = false;
  std::optional<Condition> present;  // there exactly if this holds

  Count count = Count::Scalar;
  int fixed_count = 0;
  std::size_t count_slot = 0;

  std::optional<Type> type;              // fixed, or
  std::optional<std::size_t> type_slot;  // the slot whose word it is
  int widen = 1;
  Pair pair = Pair::None;

  Space space = Space::Generic;           // Address: fixed, or
  std::optional<std::size_t> space_slot;  // the slot whose word it is; not given: generic

  bool register_only = false;
  bool wider = false;
  bool special = false;
  bool symbol = false;
  bool sink = false;
  bool braces = false;  // one register may stand in braces, too
  Select select = Select::None;

  std::vector<std::int64_t> values;           // an immediate must be one of these, or
  std::int64_t low = 0, high = -1, step = 1;  // in low..high by step, when low <= high

  [[nodiscard]] bool allows(std::int64_t value) const;
  /// The allowed values in words: "0..15", "4, 8 or 16"; "" when all are.
  [[nodiscard]] std::string values_text() const;
};

struct GateInfo {
  Condition when;
  Feature needs;
  int ptx;
  int until;  // 0: all versions
  Gate::Early early;

  /// The first version that has it on this target.
  [[nodiscard]] int ptx_on(target::Target target) const {
    return early.ptx != 0 && target.has(early.on) ? early.ptx : ptx;
  }
};
struct RuleInfo {
  Condition when;
  std::optional<Condition> then;  // none: forbidden
  std::string reason;
};

struct Form {
  std::string_view family;
  Mnemonic mnemonic;
  std::vector<Slot> slots;
  std::vector<OperandSpec> operands;
  std::vector<GateInfo> gates;
  std::vector<RuleInfo> rules;
  const Row* row = nullptr;

  [[nodiscard]] std::optional<std::size_t> slot_index(SlotName name) const;
};

/// The words an opcode gives to the slots of a form.
class Binding {
 public:
  static constexpr std::size_t kMaxSlots = 20;
  static constexpr std::uint8_t kAbsent = 0xFF;

  explicit Binding(const Form& form) : form_(&form) { choice_.fill(kAbsent); }

  [[nodiscard]] const Form& form() const { return *form_; }
  [[nodiscard]] bool has(std::size_t slot) const { return choice_[slot] != kAbsent; }
  [[nodiscard]] std::uint8_t choice(std::size_t slot) const { return choice_[slot]; }
  void set(std::size_t slot, std::uint8_t word) { choice_[slot] = word; }
  void clear(std::size_t slot) { choice_[slot] = kAbsent; }

  /// How many of the slots are given.
  [[nodiscard]] std::size_t given_count() const;
  /// By the slot's name; a slot the form does not have is never given.
  [[nodiscard]] bool has(SlotName slot) const;
  /// The word given; Word() if none.
  [[nodiscard]] Word word(SlotName slot) const;
  [[nodiscard]] Word word(std::size_t slot) const;
  /// The type that the slot's word names; the slot must have been given.
  [[nodiscard]] Type type(SlotName slot) const;
  /// The number in the word: 4 for `x4` and `v4`, 16 for `m8n16`'s last part; 0 if none.
  [[nodiscard]] int number(SlotName slot) const;
  [[nodiscard]] bool holds(const Condition& condition) const;
  /// The full opcode, modifiers in the manual's order.
  [[nodiscard]] std::string opcode() const;

 private:
  const Form* form_;
  std::array<std::uint8_t, kMaxSlots> choice_{};
};

/// What kind of slot a modifier word goes to.
SlotKind kind_of_word(Word word);

/// The last run of digits in a word: 4 for "x4", 16 for "m8n16"; 0 without digits.
int number_in(std::string_view word);
int number_in(Word word);

/// The three numbers of a shape: 16, 8 and 32 of "m16n8k32".
struct ProductShape {
  int m, n, k;
};
ProductShape product_shape(Word word);

/// Bits of an element in the fragments of a matrix product, of the type in that slot. A slot that is
/// not given means halves.
int element_bits(const Binding& binding, SlotName slot);

/// Reads a row. A row that does not follow the notation of row.h is a bug of ours.
Form read_row(std::string_view family, const Row& row);

/// The condition in words, for messages: "`.m8n16` or `.m16n16`, without `.trans`".
std::string to_text(const Condition& condition, const Form& form);
/// The syntax line as the manual would print it: `ldmatrix.sync.aligned.m8n8.num{.trans}… d, [p]`.
std::string syntax_line(const Form& form);
/// The type of an operand under a binding; nullopt for labels and addresses.
std::optional<Type> type_of(const OperandSpec& spec, const Binding& binding);
/// How many registers in braces; nullopt for a scalar.
std::optional<int> count_of(const OperandSpec& spec, const Binding& binding);
/// The state space of an address operand under a binding.
Space space_of(const OperandSpec& spec, const Binding& binding);

}  // namespace ww::isa
