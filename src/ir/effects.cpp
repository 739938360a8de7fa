// SPDX-License-Identifier: Apache-2.0
#include "ir/effects.h"

#include "ir/below.h"

namespace ww::ir {

bool reads_memory(const Function& function, ExprId expr) {
  return any_below(function, expr, [](const Expr& e) {
    return e.op == ExprOp::Load ||
           (e.op == ExprOp::Call && facts_of(e.callee).effect != Effect::Pure);
  });
}

}  // namespace ww::ir
