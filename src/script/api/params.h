// SPDX-License-Identifier: Apache-2.0
// Parameters of kernels, and extents that are known at launch only.
#pragma once

#include <string_view>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

/// The extent of that name: the same variable wherever the name stands in a shape.
Result<ir::ExprId> named_extent(Context& in, std::string_view name, Span span);
/// A new extent variable, named when it is bound: `n = T.int32()`.
ir::ExprId new_extent(Context& in, ir::Type type, std::string_view name, Span span);
/// The extent that `n = T.int32()` outside of the kernel is in it, by the name it is used under.
ir::ExprId host_extent(Context& in, const OpaqueObject& declared, std::string_view name);

/// The value as an expression whose place is where it is used: a variable's is where it is bound.
Result<ir::ExprId> used_here(Context& in, const Given& value);

/// The buffer of a parameter annotated as T.Buffer(…).
Result<Value> buffer_param(Context& in, const AnnotationObject& annotation, ir::VarId var,
                           Span span);

/// `T.Buffer(…)`, `T.handle(…)` …: an annotation with arguments.
Result<Value> call_annotation(Context& in, const Value& annotation, CallArgs& args);
/// Emits the declaration of a view.
Result<Value> declare_view(Context& in, ir::Buffer view);

}  // namespace ww::script
