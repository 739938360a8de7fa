// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/common.h"

#include "ir/settings.h"
#include "lower/checks.h"

namespace ww::lower {

Match<void> check_global_to_shared(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  const auto scope = [&](std::size_t i) { return call.f()[call.region(i).buffer].scope; };
  if (scope(1) != ir::Scope::Global || !ir::is_shared(scope(0)))
    return decline("scope", "{} to {}, expected global to shared memory", ir::name_of(scope(1)),
                   ir::name_of(scope(0)));
  return check_workers(call);
}

std::string prefetch_modifier(const Call& call) {
  const std::string size = ir::word_of(call.setting("prefetch_size"));
  return size.empty() ? size : fmt::format(".L2::{}B", size);
}

bool is_direct(const Call& call) { return ir::is_true(call.setting("direct")); }

std::int64_t tensor_base_lane(const Call& call, const Side& tensor) {
  const ir::Expr& address = call.f()[call.f()[tensor.buffer].allocated_addr];
  const bool is_made = address.op == ir::ExprOp::Call && address.callee == ir::Intrinsic::TmemAddr;
  return is_made ? ir::const_int(call.f(), address.args[1]).value_or(0) : 0;
}

ir::ExprId tensor_address(const Call& call, Code& code, const Side& tensor, ir::ExprId base,
                          ir::ExprId lane, ir::ExprId column) {
  if (tensor.base.valid())
    column = code.add(column, code.div(code.mul(tensor.base, tensor.bits), 32));
  const ir::ExprId args[] = {base, lane, code.as_int32(code.simplify(column))};
  const auto made = ir::call(call.f(), ir::Intrinsic::TmemAddr, args, call.span);
  WW_CHECK(made.has_value(), "no address of tensor memory: {}", made.error().text);
  return *made;
}

}  // namespace ww::lower
