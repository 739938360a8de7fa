// SPDX-License-Identifier: Apache-2.0
// `argmax` and `argmin` fold keys of 64 bits, of which the greatest wins: above a word that grows
// with the element (for `argmin`, as it falls), below 2^31 - 1 less the index, so that of equal
// elements the first wins. The word of NaN is 0, and that of every number is greater.
#pragma once

#include "lower/code_writer.h"

namespace ww::lower {

/// Of an element in float32, int32 or uint32.
ir::ExprId index_key(CodeWriter& code, ir::TileOp op, ir::ExprId element, ir::ExprId index);
/// An int32.
ir::ExprId index_of_key(CodeWriter& code, ir::ExprId key);

}  // namespace ww::lower
