// SPDX-License-Identifier: Apache-2.0
// Layouts become address arithmetic: every buffer turns into a flat one without a layout, and every
// element access into an index of it.
#pragma once

#include <span>

#include "base/result.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::lower {

/// The place of an element in the buffer's storage, counted in elements of the buffer's type from
/// where the buffer's own storage begins (offsets of a view included as far as they are whole
/// elements), as a simplified int32 or int64 expression. `indices` has one index per dimension.
/// Buffers with thread axes have no such place: BadBuffer.
Result<ir::ExprId> flat_index(ir::Function& function, ir::BufferId buffer,
                              std::span<const ir::ExprId> indices, const ir::Facts& facts);

/// Rewrites all buffers and accesses, turns Vectorized loops into Unroll ones, simplifies index
/// expressions and conditions, and makes the function a lowered one. Scope ids are resolved before
/// (lower/launch_ids.h).
///
/// Views of the same element type vanish into their base; tmem buffers vanish. Offsets of buffers
/// become part of their indices, so that flat buffers have none, but for a byte offset of a view
/// that is no whole number of its elements. Vector accesses whose elements do not follow each other
/// are taken apart. Names that nothing uses any more go.
///
/// NotLowered: a tile call that is left, a layout with a runtime offset, a pointer into tensor
/// memory, storage that begins inside an element, a PTX operand that would have to be taken apart.
/// The function is of no use then.
Result<void> flatten(ir::Function& function);

}  // namespace ww::lower
