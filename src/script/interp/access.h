// SPDX-License-Identifier: Apache-2.0
// Attributes and subscripts of every kind of value.
#pragma once

#include <string_view>

#include "script/interp/context.h"

namespace ww::script {

Result<Value> attribute(Context& in, const Value& object, std::string_view name, Span span,
                        Span name_span);
Result<Value> subscript(Context& in, const Value& object, const Value& index, Span span);

}  // namespace ww::script
