// SPDX-License-Identifier: Apache-2.0
// An opcode, bound to the forms of the catalogue: what a PTX call of the IR holds. The text is read
// once, where the call is made; from then on the bound forms answer for mnemonic and modifiers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ww::isa {

class Binding;
struct Misfit;

/// A handle: copies cost nothing, and opcodes of the same text are equal. What it stands for lives
/// as long as the program.
class Opcode {
 public:
  Opcode() = default;  // none at all: no text, no forms

  [[nodiscard]] bool valid() const { return record_ != nullptr; }
  /// As it was written: "ldmatrix.sync.aligned.m8n8.x2.shared.b16".
  [[nodiscard]] const std::string& text() const;
  /// The forms that take its modifiers, in the order of the catalogue. Which of them an instruction
  /// is of, its operands say. None for a text that is no opcode: the verifier refuses it.
  [[nodiscard]] const std::vector<Binding>& forms() const;
  /// "ldmatrix", "cp.async.commit_group": that of all its forms; "" without forms.
  [[nodiscard]] std::string_view mnemonic() const;
  /// The first of the forms, of which there must be one: for questions about modifiers.
  [[nodiscard]] const Binding& binding() const;
  /// Why it has no forms.
  [[nodiscard]] const Misfit& misfit() const;

  friend bool operator==(const Opcode&, const Opcode&) = default;

 private:
  friend Opcode opcode_of(std::string_view text);
  explicit Opcode(const struct BoundOpcode& record) : record_(&record) {}

  const struct BoundOpcode* record_ = nullptr;
};

/// The opcode of that text. Modifiers may stand in any order, as `bind_opcode` takes them.
Opcode opcode_of(std::string_view text);

}  // namespace ww::isa
