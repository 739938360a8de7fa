// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/value/arithmetic.h"
#include "ir/elementwise.h"

namespace ww::eval {

/// An element as `cast` converts it. Without settings: as `convert` does.
Word cast_as(num::DType from, num::DType to, Word bits, const ir::CastSettings& settings);

}  // namespace ww::eval
