// SPDX-License-Identifier: Apache-2.0
// What the evaluator executes. Asked before anything runs, so that a kernel is refused at once and
// not in its middle.
#pragma once

#include "base/result.h"
#include "ir/function.h"

namespace ww::eval {

/// Fails with NotEvaluated at the statement's place; says nothing about the statements inside it.
Result<void> require_evaluated(const ir::Function& function, const ir::Stmt& stmt);
/// Does that hold for every statement of the kernel?
bool is_evaluated(const ir::Function& function);

}  // namespace ww::eval
