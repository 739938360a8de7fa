// SPDX-License-Identifier: Apache-2.0
// Element types as values: Kind::DType.
#pragma once

#include <optional>

#include "script/interp/arguments.h"
#include "script/interp/context.h"

namespace ww::script {

Value dtype_value(ir::Type type);
ir::Type type_of(const Value& dtype);

/// `bits`, `lanes`, `itemsize`, `type_code` or `dtype` of an element type, or nothing.
std::optional<Value> dtype_attribute(Context& in, const Value& dtype, std::string_view name);

/// `T.float32(x)`: the value converted, or `T.int32()`, an extent that the launch gives.
Result<Value> call_dtype(Context& in, const Value& dtype, CallArgs& args);

}  // namespace ww::script
