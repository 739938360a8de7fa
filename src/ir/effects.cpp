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

bool has_effect(const Function& function, ExprId expr, Effects& known) {
  const Expr& e = function[expr];
  if (e.args.empty() && e.op != ExprOp::Call) return false;
  if (const bool* const found = known.find(expr.index)) return *found;
  bool out = false;
  if (e.op == ExprOp::Call) {
    const Effect effect = facts_of(e.callee).effect;
    out = effect != Effect::Pure && effect != Effect::Reads;
  }
  for (const ExprId arg : e.args) out = has_effect(function, arg, known) || out;
  known.add(expr.index, out);
  return out;
}

}  // namespace ww::ir
