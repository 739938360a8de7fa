// SPDX-License-Identifier: Apache-2.0
// How finely the proof of a copy must look at memory.
#pragma once

#include "ir/function.h"

namespace ww::lower {

/// The least number of bits that the code moves at a time. Matrix rows are cut into single values.
int least_move(const ir::Function& f, const ir::Block& code, int element_bits);

}  // namespace ww::lower
