// SPDX-License-Identifier: Apache-2.0
// What names stand for: walks a function and knows, at each instruction, which registers,
// variables, labels and functions are in scope. Turns the operands of an instruction (text) into
// those of the catalogue (declared types, state spaces).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "isa/operand.h"
#include "ptx/module.h"

namespace ww::ptx {

/// What a name is.
struct Declared {
  enum class Kind : std::uint8_t { Nothing, Register, Variable, Label, Function, Prototype };

  Kind kind = Kind::Nothing;
  isa::Type type = isa::Type::B32;     // Register, Variable
  std::uint8_t lanes = 1;              // Register, Variable: of a `.v4`
  Space space = Space::Global;         // Variable
  const Variable* variable = nullptr;  // Variable
  const Function* function = nullptr;  // Function
  std::uint32_t count = kSingle;       // `%r<4>`: the name is the prefix of a family
};

/// The scopes of a module: its own names, and those of one function at a time. The module must
/// outlive it. For each function: `begin`, then `enter` for every statement in order, then `end`.
class Scope {
 public:
  explicit Scope(const Module& module);

  /// Adds the function's parameters and labels.
  void begin(const Function& function, std::vector<Diag>& errors);
  /// Enters and leaves blocks, and adds declarations. A name declared twice in one block is
  /// reported to `errors`.
  void enter(const Statement& statement, std::vector<Diag>& errors);
  /// Forgets what `begin` and `enter` added.
  void end();

  /// What the name stands for here: members of families (`%r3` of `%r<4>`) and components
  /// (`%v.x`) included; Nothing for special registers and unknown names.
  [[nodiscard]] Declared find(NameId name) const;

  /// The operands of an instruction, with every name looked up. They live until the next call.
  std::span<const isa::Operand> operands_of(const Instruction& instruction);

 private:
  struct Undo {
    NameId name;
    std::uint32_t depth;
    Declared before;
  };
  struct Member {  // `%r12` is number 12 of `%r`
    NameId family = kNoName;
    std::uint32_t index = 0;
  };

  void declare(NameId name, const Declared& what, std::uint32_t offset, std::vector<Diag>& errors);
  void declare_globals();
  void declare_labels();
  void leave_block();
  void declare_variable(const Variable& variable, std::vector<Diag>& errors);
  [[nodiscard]] const Declared* family_of(const Member& member) const;
  [[nodiscard]] Member find_member(NameId name) const;
  [[nodiscard]] Declared* slot(NameId name);
  isa::Operand resolve(const Operand& operand);
  isa::Operand resolve_name(const Operand& operand);
  void resolve_children(const Operand& operand, isa::Operand& result);
  [[nodiscard]] std::size_t count_nodes(std::span<const Operand> operands) const;

  const Module& module_;
  const Function* function_ = nullptr;
  std::vector<Declared> names_;          // by NameId
  std::vector<std::uint32_t> depth_of_;  // by NameId: the block that declared it
  mutable std::vector<Member> members_;  // by NameId: the family it was last found in
  std::vector<Undo> undo_;
  std::vector<std::size_t> blocks_;  // where each open block began in undo_
  std::vector<isa::Operand> arena_;
};

/// The catalogue's word for a declaration's state space.
isa::Space address_space(Space space);

}  // namespace ww::ptx
