// SPDX-License-Identifier: Apache-2.0
// Checks calls against the functions they call: the number and types of arguments and results.
#pragma once

#include <optional>
#include <span>

#include "base/diag.h"
#include "isa/operand.h"
#include "ptx/module.h"
#include "ptx/scope.h"

namespace ww::ptx {

/// The parts of a `call`: `call (results), target, (arguments), callees`.
struct CallParts {
  std::span<const Operand> results{}, arguments{};
  const Operand* target = nullptr;   // null: not a call at all
  const Operand* callees = nullptr;  // of an indirect one: the prototype or list of functions
};
CallParts call_parts(const Function& function, const Instruction& instruction);

/// Results and parameters of what is called.
struct Signature {
  const std::vector<Variable>* results = nullptr;
  const std::vector<Variable>* params = nullptr;
};
/// Of the function that the target names, or of the prototype, or of the first function of the
/// list; nullopt: the call names none.
std::optional<Signature> signature_of(const Scope& scope, const Function& function,
                                      const CallParts& parts);

/// What is wrong with a call, at the operand. `operands` are the instruction's as the scope has
/// them.
std::optional<Diag> call_problem(const Module& module, const Scope& scope, const Function& function,
                                 const Instruction& instruction,
                                 std::span<const isa::Operand> operands);

}  // namespace ww::ptx
