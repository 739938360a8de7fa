// SPDX-License-Identifier: Apache-2.0
// Checks whether the evaluator can execute a kernel before running it, so that it does not refuse
// half-way.
#pragma once

#include "base/result.h"
#include "ir/function.h"

namespace ww::eval {

/// Fails with NotEvaluated at the statement's place; says nothing about the statements inside it.
Result<void> require_evaluated(const ir::Function& function, const ir::Stmt& stmt);
/// Can it execute every statement of the kernel?
bool is_evaluated(const ir::Function& function);

}  // namespace ww::eval
