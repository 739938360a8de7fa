// SPDX-License-Identifier: Apache-2.0
// Matches the operands of an instruction with those of a form, and checks their kind, count and
// type.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/catalogue.h"

namespace ww::isa {

/// Why an operand does not fit.
struct OperandProblem {
  Stage stage = Stage::OperandShape;
  std::string text;
  Span span;
};

struct OperandMatch {
  std::vector<int> operand_of;  // per operand of the form: index of the instruction's, or -1
  std::optional<OperandProblem> problem;
};

/// Optional operands are left out where that makes the rest fit.
OperandMatch match_operands(const Binding& binding, std::span<const Operand> operands);

}  // namespace ww::isa
