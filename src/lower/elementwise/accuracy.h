// SPDX-License-Identifier: Apache-2.0
// How near the functions come in PTX, as emit/ptx/math.cpp computes them in float32.
#pragma once

#include <string_view>

#include "ir/function.h"

namespace ww::lower {

/// What computes the function, and its error at most; empty for what is exact.
std::string_view accuracy_of(ir::TileOp op);

}  // namespace ww::lower
