// SPDX-License-Identifier: Apache-2.0
// Vectors taken apart and put together, for accesses whose elements do not follow each other.
#pragma once

#include <span>

#include "ir/function.h"

namespace ww::lower {

/// Element `lane` of a vector: what it was made of where that is known, else a T.Shuffle.
ir::ExprId lane_of(ir::Function& function, ir::ExprId vector, int lane);

/// A vector of scalars of one type.
ir::ExprId vector_of(ir::Function& function, std::span<const ir::ExprId> scalars);

}  // namespace ww::lower
