// SPDX-License-Identifier: Apache-2.0
#include "ir/effects.h"

#include <algorithm>

namespace ww::ir {

bool reads_memory(const Function& function, ExprId expr) {
  const Expr& e = function[expr];
  if (e.op == ExprOp::Load) return true;
  if (e.op == ExprOp::Call && facts_of(e.callee).effect != Effect::Pure) return true;
  return std::ranges::any_of(e.args, [&](ExprId arg) { return reads_memory(function, arg); });
}

}  // namespace ww::ir
