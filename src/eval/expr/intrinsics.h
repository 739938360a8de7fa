// SPDX-License-Identifier: Apache-2.0
// Calls of intrinsics, other than barriers (sync/barriers.h).
#pragma once

#include <string_view>

#include "eval/cta/cta.h"

namespace ww::eval {

Words call_intrinsic(Cta& cta, const ir::Expr& expr, Threads ts);
/// printf: adds to run.printed.
void print_text(Cta& cta, const ir::Expr& expr, Threads ts);

/// The text of a literal; empty for any other expression.
inline std::string_view literal_text(const Cta& cta, ir::ExprId id) {
  const ir::Expr& expr = cta.f[id];
  return expr.op == ir::ExprOp::TextImm ? std::string_view(cta.f.texts[expr.text]) : "";
}

}  // namespace ww::eval
