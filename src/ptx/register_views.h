// SPDX-License-Identifier: Apache-2.0
// A module in the style of views (ptx/register_class.h): registers that an instruction takes for
// floats are spelled %f and %fd, over the same numbers. That is for reading; nothing declares these
// names, and ptxas refuses them.
#pragma once

#include "base/result.h"
#include "ptx/module.h"

namespace ww::ptx {

/// The module with such names. Fails where it names no known target; an instruction that is not
/// legal stays as it is.
Result<Module> with_float_views(const Module& module);

}  // namespace ww::ptx
