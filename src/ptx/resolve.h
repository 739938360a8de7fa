// SPDX-License-Identifier: Apache-2.0
// Turns the operands of an instruction (text) into those of the catalogue (declared types, state
// spaces).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isa/operand.h"
#include "ptx/module.h"
#include "ptx/scope.h"

namespace ww::ptx {

/// Looks up every name of an instruction's operands. Module and scope must outlive it.
class OperandResolver {
 public:
  OperandResolver(const Module& module, const Scope& scope) : module_(module), scope_(scope) {}

  /// The operands of an instruction of that function, as the scope sees them now. They live until
  /// the next call.
  std::span<const isa::Operand> operands_of(const Function& function,
                                            const Instruction& instruction);

 private:
  isa::Operand resolve(const Operand& operand);
  isa::Operand resolve_name(const Operand& operand);
  void resolve_children(const Operand& operand, isa::Operand& result);
  [[nodiscard]] std::size_t count_nodes(std::span<const Operand> operands) const;

  const Module& module_;
  const Scope& scope_;
  const Function* function_ = nullptr;
  std::vector<isa::Operand> arena_;
};

/// The catalogue's word for a declaration's state space.
isa::Space address_space(Space space);

}  // namespace ww::ptx
