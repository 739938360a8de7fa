// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/tensor_address.h"

namespace ww::lower {

std::int64_t tensor_base_lane(const Call& call, const OperandPlaces& tensor) {
  const ir::Expr& address = call.f()[call.f()[tensor.buffer].allocated_addr];
  const bool is_made = address.op == ir::ExprOp::Call && address.callee == ir::Intrinsic::TmemAddr;
  return is_made ? ir::const_int(call.f(), address.args[1]).value_or(0) : 0;
}

ir::ExprId tensor_address(CodeWriter& code, const OperandPlaces& tensor, ir::ExprId base,
                          ir::ExprId lane, ir::ExprId column) {
  if (tensor.base.valid())
    column = code.add(column, code.div(code.mul(tensor.base, tensor.bits), 32));
  return code.call(ir::Intrinsic::TmemAddr, {base, lane, code.as_int32(code.simplify(column))});
}

}  // namespace ww::lower
