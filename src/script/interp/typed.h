// SPDX-License-Identifier: Apache-2.0
// Numbers of the host that have an element type: what `T.float16(1.5)`, `T.cast(x, "int8")`,
// `T.FloatImm(dtype, x)` and `T.IntImm(dtype, x)` give outside of kernels. They count as the
// numbers they are; arithmetic rounds or wraps as the type does, and a kernel takes them with their
// type, not as literals that adapt.
#pragma once

#include <optional>

#include "script/interp/context.h"

namespace ww::script {

/// The type of such a number; nothing for plain ones and all other values.
std::optional<num::DType> typed_as(const Value& value);

/// The number without its type.
Value untyped(const Value& value);

enum class Conversion : std::uint8_t { Cast, Exact };
/// The number as one of the type. `Exact` refuses what the type does not hold, as in a kernel;
/// `Cast` wraps and drops fractions. Opaque values stay as they are.
Result<Value> typed_constant(Context& in, const Value& value, ir::Type type, Conversion how,
                             Span span);

/// The result of an operator as a number of the type that its operands have: where both have one,
/// the float, or the wider one. BadType for others, as for float16 and bfloat16.
Result<Value> typed_result(Context& in, const Value& a, const Value& b, const Value& result,
                           Span span);

}  // namespace ww::script
