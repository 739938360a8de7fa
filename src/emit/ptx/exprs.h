// SPDX-License-Identifier: Apache-2.0
// Expressions. A vector is computed lane by lane. A statement reuses its computed values until its
// end, or until a side effect.
#pragma once

#include <optional>
#include <string>

#include "emit/ptx/context.h"

namespace ww::emit::to_ptx {

Lanes lanes(Context& c, ExprId expr);
/// Of a scalar.
Value eval(Context& c, ExprId expr);
/// Converted.
Value eval_as(Context& c, ExprId expr, DType type);
/// Whether it is not 0.
Value predicate(Context& c, ExprId expr);

Value float_constant(DType type, double number);
/// An integer expression that has one value only.
std::optional<std::int64_t> constant_of(const Context& c, ExprId expr);

/// `condition ? yes : no` of values that are both computed.
Value choose(Context& c, Value condition, Value yes, Value no);

}  // namespace ww::emit::to_ptx
