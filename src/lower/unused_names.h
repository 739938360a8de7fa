// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/function.h"

namespace ww::lower {

/// Drops T.let bindings of the body that nothing mentions but other such names. Values that read
/// memory stay.
void drop_unused_names(ir::Function& function);

}  // namespace ww::lower
