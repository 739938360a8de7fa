// SPDX-License-Identifier: Apache-2.0
// Assignments in a kernel: what a name becomes, and stores.
#pragma once

#include "script/interp/context.h"

namespace ww::script {

/// Where an assignment stands: all of it, and its right side.
struct AssignSpans {
  Span all;
  Span value;
};

Result<void> kernel_assign(Context& in, const Stmt& s, Env& env);
Result<void> kernel_annotated(Context& in, const Stmt& s, Env& env);
Result<void> kernel_augmented(Context& in, const Stmt& s, Env& env);
/// Assigns to any target: a name, an element, or several of them.
Result<void> assign_in_kernel(Context& in, ExprId target, Value value, Env& env,
                              const AssignSpans& at);

}  // namespace ww::script
