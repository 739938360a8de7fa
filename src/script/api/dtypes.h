// SPDX-License-Identifier: Apache-2.0
// Element types as values: Kind::DType.
#pragma once

#include <optional>

#include "script/interp/interp.h"

namespace ww::script {

Value dtype_value(ir::Type type);
ir::Type type_of(const Value& dtype);

/// `bits`, `lanes`, `itemsize`, `type_code` or `dtype` of an element type, or nothing.
std::optional<Value> dtype_attribute(Interp& in, const Value& dtype, std::string_view name);

}  // namespace ww::script
