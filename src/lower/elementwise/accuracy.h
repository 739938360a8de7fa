// SPDX-License-Identifier: Apache-2.0
// How near the functions come in float32: as emit/ptx/math.cpp computes them in PTX, and as
// elementwise/fast.h does where `fast=True`.
#pragma once

#include <string_view>

#include "ir/function.h"

namespace ww::lower {

/// What computes the function, and its error at most; empty for what is exact.
std::string_view accuracy_of(ir::TileOp op);
/// The same of the fast form; empty for what has none.
std::string_view fast_accuracy_of(ir::TileOp op);

}  // namespace ww::lower
