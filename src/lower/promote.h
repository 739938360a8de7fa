// SPDX-License-Identifier: Apache-2.0
// Names for values. A program writes `row = tid // 4`, which is a scalar in private memory that is
// stored once; as a T.let it can take part in index arithmetic.
#pragma once

#include "ir/function.h"

namespace ww::lower {

/// Turns scalars that are written once, before every use, into T.let bindings. Statements keep
/// their ids.
void promote_scalars(ir::Function& function);

}  // namespace ww::lower
