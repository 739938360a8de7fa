// SPDX-License-Identifier: Apache-2.0
// Indices of buffers: elements, regions, and the views that buffers give.
#pragma once

#include <vector>

#include "script/interp/context.h"

namespace ww::script {

/// An index of a buffer: one expression per dimension, or a range per dimension.
struct BufferIndex {
  bool is_element = false;
  std::vector<ir::ExprId> indices;    // is_element; the last may be a vector (a slice with a step)
  std::vector<ir::RangeExpr> ranges;  // otherwise; missing dimensions whole
  ir::BufferId buffer = {};  // of the ranges: the buffer, or a view where a slice has a step
};

/// Reads `B[i, j]`, `B[a:b, :]`, `B[full]` with a tuple of slices. Fewer indices than dimensions
/// give a region with the rest whole. `B[a:b:s, :]` is a region of a view with every s-th element. Checks rank and constant bounds; with `may_leave` not those
/// of slices.
Result<BufferIndex> buffer_index(Context& in, ir::BufferId buffer, const Value& index, Span span,
                                 bool may_leave = false);

/// The element (a load) or region; where that ends is checked when it is used.
Result<Value> index_buffer(Context& in, ir::BufferId buffer, const Value& index, Span span);

/// A region from what a tile primitive got: a region, a buffer as a whole, or one element of one.
/// Only with `may_leave` it may leave its buffer.
Result<ir::Region> as_region(Context& in, const Value& value, std::string_view what, Span span,
                             bool may_leave = false);

/// end - begin, a constant where everything else cancels.
Result<ir::ExprId> region_extent(Context& in, ir::ExprId begin, ir::ExprId end, Span span);
Result<ir::ExprId> linear_difference(Context& in, ir::ExprId a, ir::ExprId b, Span span);

/// `x: T.float32[8]`.
Result<Value> alloc_local(Context& in, const std::vector<Value>& shape, num::DType dtype,
                          Span span);
/// A new scalar register, as the element that an instruction writes and the program reads.
Result<ir::ExprId> alloc_register(Context& in, num::DType dtype, Span span);

/// A method or attribute of a buffer, or nothing.
std::optional<Result<Value>> buffer_attribute(Context& in, const Value& buffer,
                                              std::string_view name, Span span);

/// Of a region: `.buffer`, `.source` and `.region`, a slice for each dimension; of such a slice
/// `.min` and `.extent`. Or nothing.
std::optional<Result<Value>> region_attribute(Context& in, const Value& region,
                                              std::string_view name, Span span);

/// Every `step`-th element of a dimension, from `first` on.
struct Every {
  std::int64_t step = 1;
  std::int64_t first = 0;
};
/// A view of these elements, one entry for each dimension. Steps divide the extents.
Result<ir::BufferId> every_nth(Context& in, ir::BufferId buffer, const std::vector<Every>& dims,
                               Span span);

/// B.sub[…]: a view of a region; integers drop their dimension.
Result<Value> sub_view(Context& in, ir::BufferId buffer, const Value& index, Span span);

}  // namespace ww::script
