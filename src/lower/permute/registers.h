// SPDX-License-Identifier: Apache-2.0
// permute_layout between registers.
#pragma once

#include "lower/lowered_op.h"

namespace ww::lower {

/// A copy; where both are in the same registers, through others. Nothing for other memories.
Match<std::optional<Expansion>> permuted_registers(const Call& call);

}  // namespace ww::lower
