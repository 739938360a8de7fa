// SPDX-License-Identifier: Apache-2.0
// Operators and comparisons. Where an operand is a value of run time they build IR.
#pragma once

#include <string_view>

#include "script/interp/context.h"

namespace ww::script {

/// What `@` is for, said where it is used otherwise.
inline constexpr std::string_view kAxisNote =
    "`stride @ axis` places elements; axes are tx, laneid, warpid, wgid, tid_in_wg, wid_in_wg, "
    "TLane, TCol, of tvm.tirx.layout";

Result<Value> binary(Context& in, Op op, const Value& a, const Value& b, Span span);
Result<Value> unary(Context& in, Op op, const Value& a, Span span);
Result<Value> compare(Context& in, Op op, const Value& a, const Value& b, Span span);
Result<bool> same(Context& in, const Value& a, const Value& b, Span span);
/// Whether a condition that is known at compile time holds.
Result<bool> truth(Context& in, const Given& value);

}  // namespace ww::script
