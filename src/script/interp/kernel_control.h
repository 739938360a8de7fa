// SPDX-License-Identifier: Apache-2.0
// Control in a kernel: branches, loops, blocks with attributes.
#pragma once

#include "script/interp/context.h"

namespace ww::script {

Result<void> kernel_if(Context& in, const Stmt& s, Env& env);
Result<void> kernel_while(Context& in, const Stmt& s, Env& env);
Result<void> kernel_for(Context& in, const Stmt& s, Env& env);
Result<void> kernel_with(Context& in, const Stmt& s, Env& env);

}  // namespace ww::script
