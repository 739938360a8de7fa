// SPDX-License-Identifier: Apache-2.0
// The place of an element as an expression of its indices.
//
// A layout sends the index of a dimension, split into digits, to a sum of digit · stride. With the
// layout grouped by the buffer's shape each index is split by itself: index 5 of a dimension that
// is laid out as (2,4):(64,1) is 5 // 4 · 64 + 5 % 4. The outermost digit of a dimension needs no
// reduction, because an index inside the shape has none beyond it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::lower {

/// How the elements of a buffer lie in its storage, made ready for many accesses.
struct FlatPlan {
  /// Iters per dimension, outermost first; one list for the row-major number of the element when
  /// the layout is no sum over dimensions. Empty where extents are runtime values: row-major.
  std::vector<layout::Iters> dims;
  bool is_grouped = true;
  bool is_row_major = false;      // by `shape`, whatever its extents
  std::vector<ir::ExprId> shape;  // of the buffer
  std::int64_t tile_offset = 0;   // before the swizzle
  layout::Swizzle swizzle;
  std::int64_t offset = 0;            // elements behind the swizzle, the constant part
  ir::ExprId runtime_offset = {};     // and the rest
  ir::ExprId rest_bytes = {};         // a byte offset that is no whole number of elements
  std::optional<std::int64_t> reach;  // no element lies at this place or beyond it
};

/// Elements of storage that a buffer of its own storage needs; in elements of its type, offsets
/// included. Nothing when that is known at launch only.
Result<std::optional<std::int64_t>> storage_size(const ir::Function& function,
                                                 const ir::Buffer& buffer);

/// BadBuffer for a buffer that has no flat storage (thread axes, tensor memory); NotLowered for an
/// offset of its layout that is a runtime value.
Result<FlatPlan> flat_plan(ir::Function& function, ir::BufferId buffer, const ir::Facts& facts);

/// The place of an element, simplified by `simplifier`, which has these facts: int32 where that is known to suffice, else int64.
ir::ExprId place_of(ir::Function& function, const FlatPlan& plan,
                    std::span<const ir::ExprId> indices, ir::Simplifier& simplifier,
                    const ir::Facts& facts);

/// Do `lanes` elements from these indices on, along the last dimension, follow each other in
/// storage?
bool is_contiguous(ir::Function& function, const FlatPlan& plan,
                   std::span<const ir::ExprId> indices, int lanes, const ir::Facts& facts);

}  // namespace ww::lower
