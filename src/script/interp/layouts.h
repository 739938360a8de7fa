// SPDX-License-Identifier: Apache-2.0
// Layouts as values of the language: `4 @ laneid`, `S[(8, 4) : (4 @ laneid, 1)] + R[2 : 4 @
// warpid]`, and what can be asked of them.
#pragma once

#include <optional>

#include "layout/ready_made.h"
#include "script/interp/context.h"

namespace ww::script {

/// `@` and `+` where a layout, a specification or an axis takes part; nothing for other operands.
std::optional<Result<Value>> layout_binary(Context& in, Op op, const Value& a, const Value& b,
                                           Span span);

/// S[index] or R[index].
Result<Value> make_spec(Context& in, const Value& maker, const Value& index, Span span);

/// The layout a value stands for: a layout, or a specification as it is.
Result<layout::Layout> as_layout(Context& in, const Given& value, std::string_view what);

/// A layout that the library made as a value. Its error gets `span`.
Result<Value> layout_result(Context& in, Result<layout::Layout> layout, Span span);

/// A swizzle by name ("128B") or by its number of bits (0 to 3).
Result<layout::SwizzleMode> swizzle_mode_arg(Context& in, const Given& value);
/// The same for a tile of this shape, or "auto": the widest that it takes (layout/ready_made.h).
Result<layout::SwizzleMode> tile_swizzle_arg(Context& in, const Given& value,
                                             const layout::Shape& shape, int bits);

/// `SwizzleMode.SWIZZLE_128B_ATOM`: its number.
std::optional<Value> swizzle_mode_member(std::string_view name);

/// The places of an element, one value per axis: `layout.apply(i, j, shape=(8, 4))`. Coordinates
/// may be values of run time.
Result<Value> apply_layout(Context& in, const layout::Layout& layout,
                           const std::vector<Value>& coordinate,
                           const std::optional<std::vector<Value>>& shape, Span span);

/// An attribute of a layout, a swizzle, an iter or an axis that is no method (`shard`,
/// `per_element`, `stride`, `name` …), or nothing.
std::optional<Value> layout_attribute(Context& in, const Value& value, std::string_view name);

}  // namespace ww::script
