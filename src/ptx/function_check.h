// SPDX-License-Identifier: Apache-2.0
// What is checked about functions beside their instructions: directives that exclude each other,
// sizes of parameters and shared memory, and rules about a kernel as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/diag.h"
#include "isa/form.h"
#include "ptx/module.h"
#include "ptx/scope.h"
#include "target/target.h"

namespace ww::ptx {

/// What the instructions of a function show together.
struct FunctionFacts {
  std::unordered_set<const Variable*> shared;  // `.shared` variables it names
  std::uint64_t shared_bytes = 0;              // and their size together
  Span first_group[2];                         // the first cta_group::1 and ::2 instruction
  int most_registers = 0;                      // the most 32-bit registers in one instruction
  Span most_registers_at;

  void note(const Module& module, const Scope& scope, const isa::Binding& binding,
            std::span<const isa::Operand> operands, Span span);
};

std::vector<Diag> directive_problems(const Function& function, target::Target target);
std::vector<Diag> parameter_problems(const Module& module, const Function& function,
                                     target::Target target);
std::vector<Diag> whole_problems(const Module& module, const Function& function,
                                 const FunctionFacts& facts, target::Target target);

}  // namespace ww::ptx
