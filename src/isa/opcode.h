// SPDX-License-Identifier: Apache-2.0
// An opcode bound to the forms of the catalogue, as PTX calls of the IR hold it. The text is parsed
// once, when the call is built; from then on the bound forms give mnemonic and modifiers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/words.h"

namespace ww::isa {

class Binding;
struct Misfit;

/// A handle: copies share its data, and opcodes of the same text are equal.
class Opcode {
 public:
  Opcode() = default;  // none at all: no text, no forms

  [[nodiscard]] bool valid() const { return record_ != nullptr; }
  /// As it was written: "ldmatrix.sync.aligned.m8n8.x2.shared.b16".
  [[nodiscard]] const std::string& text() const;
  /// The forms that take its modifiers, in the order of the catalogue. The operands of an
  /// instruction decide between them. Empty for a text that is not an opcode: the verifier refuses
  /// it.
  [[nodiscard]] const std::vector<Binding>& forms() const;
  /// That of all its forms; Mnemonic() without forms.
  [[nodiscard]] Mnemonic mnemonic() const;
  /// The first of the forms, of which there must be one: for questions about modifiers.
  [[nodiscard]] const Binding& binding() const;
  /// Why it has no forms.
  [[nodiscard]] const Misfit& misfit() const;

  friend bool operator==(const Opcode& a, const Opcode& b) {
    return a.record_ == b.record_ || (a.valid() && b.valid() && a.text() == b.text());
  }

 private:
  friend Opcode opcode_of(std::string_view text);
  explicit Opcode(std::shared_ptr<const struct BoundOpcode> record) : record_(std::move(record)) {}

  std::shared_ptr<const struct BoundOpcode> record_;
};

/// The opcode of that text. Modifiers may stand in any order, as `bind_opcode` takes them.
Opcode opcode_of(std::string_view text);

}  // namespace ww::isa
