// SPDX-License-Identifier: Apache-2.0
// What `argmax` and `argmin` fold, in numbers of the proof: a key of an element and its index.
#pragma once

#include "lower/proof/meaning.h"

namespace ww::lower {

/// `x`: the number of an element in float32, int32 or uint32.
Number key_number(ir::TileOp op, num::DType type, Number x, std::int64_t index);
/// The index in a key, as int32.
Number index_number(Number key);

}  // namespace ww::lower
