// SPDX-License-Identifier: Apache-2.0
// The last step of writing a kernel: from lines to statements of a PTX function.
#pragma once

#include "base/result.h"
#include "emit/ptx/declarations.h"
#include "emit/ptx/kernel_code.h"
#include "ptx/module.h"
#include "target/target.h"

namespace ww::emit::to_ptx {

/// Fills the function's body, with the arrays of the kernel: numbers the registers in the order in
/// which they appear, and leaves out what is not used. Fails with the first instruction that is not
/// one of the target's. All scopes of the code are closed.
Result<void> finish(const KernelCode& code, target::Target target, const Declarations& declared,
                    ptx::Module& module, ptx::Function& function);

}  // namespace ww::emit::to_ptx
