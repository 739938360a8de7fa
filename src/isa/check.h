// SPDX-License-Identifier: Apache-2.0
// Whether an instruction is legal for a target: an opcode of the catalogue, operands of the right
// kind, count and type, and an architecture and PTX version that have it. The verdicts should agree
// with ptxas both ways; tests compare them with a stored table of its verdicts.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "isa/catalogue.h"
#include "target/target.h"

namespace ww::isa {

/// The form and modifiers of a legal instruction, and which operand stands for which of the form's
/// (-1: left out).
struct Legal {
  Binding binding;
  std::vector<int> operand_of;  // index into the instruction's operands, per operand of the form
};

/// Whether the instruction, whose opcode has been bound to these forms, is legal for the target: of
/// the first form that takes its operands, or what the form that got furthest says.
Result<Legal> check_forms(std::span<const Binding> forms, const Instruction& instruction,
                          target::Target target);

/// What keeps an opcode from every form, with the nearest one as a note; no place.
Diag to_diag(const Misfit& misfit);

/// Checks instructions and caches the result for each opcode, since modules repeat few of them.
class Checker {
 public:
  explicit Checker(target::Target target) : target_(target) {}

  /// The binding, or a diagnostic with the place: the modifier, the operand or the opcode.
  Result<Legal> check(const Instruction& instruction);
  [[nodiscard]] target::Target target() const { return target_; }

 private:
  const Bindings& bindings_of(std::string_view opcode);

  target::Target target_;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, Bindings, Hash, std::equal_to<>> known_;
};

/// "`what` needs …" if the target lacks the feature or its PTX version is too low.
std::optional<Diag> lacking(std::string_view what, Feature needs, int ptx, target::Target target);
/// Why the target does not have the bound form, or nothing.
std::optional<Diag> missing_on(const Binding& binding, target::Target target);
/// The lowest PTX version at which the architecture takes the bound form; nullopt: at none.
std::optional<int> lowest_ptx(const Binding& binding, target::Arch arch);
/// The architectures that have the bound form at the newest PTX version.
target::ArchSet archs_of(const Binding& binding);

}  // namespace ww::isa
