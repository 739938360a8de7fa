// SPDX-License-Identifier: Apache-2.0
// Reductions: `sum`, `max` and `min` along an axis of a region. Their meaning:
//
//     dst[i] = the elements of src that have i as their other coordinates, folded into one;
//              with accum=True what dst[i] was is folded in, last
//
// Elements are folded in `fold_type`, and the result is rounded to the type of dst once. `max` and
// `min` pass over NaN: the result is NaN only where all elements are. For floats the order of a sum
// matters. Of a source in registers it is
//
//   1. in each thread, the elements that it holds, one after the other in row-major order; an
//      element that several threads hold counts in the first of them,
//   2. in each warp, lanes whose numbers differ in bit 0, then those in bit 1, … up to bit 4,
//   3. the warps, one after the other.
#pragma once

#include <cstdint>

#include "ir/function.h"

namespace ww::ir {

/// sum, max, min.
bool is_reduction(TileOp op);
/// What folds two elements: Add, Max or Min.
ExprOp folding_operator(TileOp op);
/// float32 for narrower floats, int32 for narrower integers, otherwise the type itself.
num::DType fold_type(num::DType dtype);
/// The dimension of src that is folded, from 0 on; the verifier has seen that there is one.
std::size_t folded_dimension(const TileCall& call);

}  // namespace ww::ir
