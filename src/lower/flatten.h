// SPDX-License-Identifier: Apache-2.0
// Layouts become address arithmetic: every buffer turns into a flat one without a layout, and every
// element access into an index of it.
#pragma once

#include "base/result.h"
#include "ir/function.h"

namespace ww::lower {

/// Rewrites all buffers and accesses, simplifies index expressions and conditions, and makes the
/// function a lowered one. Scope ids are resolved before (lower/launch_ids.h).
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
