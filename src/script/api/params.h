// SPDX-License-Identifier: Apache-2.0
// Parameters of kernels, and extents that are known at launch only.
#pragma once

#include <string_view>

#include "script/interp/interp.h"

namespace ww::script {

/// The extent of that name: the same variable wherever the name stands in a shape.
Result<ir::ExprId> named_extent(Interp& in, std::string_view name, Span span);
/// A new extent variable, named when it is bound: `n = T.int32()`.
ir::ExprId new_extent(Interp& in, ir::Type type, std::string_view name, Span span);
/// The extent that `n = T.int32()` outside of the kernel is in it, by the name it is used under.
ir::ExprId host_extent(Interp& in, const OpaqueObject& declared, std::string_view name);

/// The value as an expression whose place is where it is used: a variable's is where it is bound.
Result<ir::ExprId> used_here(Interp& in, const Value& value, Span span);

/// The buffer of a parameter annotated as T.Buffer(…).
Result<Value> buffer_param(Interp& in, const AnnotationObject& annotation, ir::VarId var,
                           Span span);

/// Emits the declaration of a view.
Result<Value> declare_view(Interp& in, ir::Buffer view);

}  // namespace ww::script
