// SPDX-License-Identifier: Apache-2.0
// Index arithmetic that leaves its type (ir/indices.h), found with the numbers that did it.
#include <algorithm>

#include "base/wide.h"
#include "eval/cta.h"
#include "ir/print/print.h"
#include "ir/simplify/fold.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using num::DType;

Wide whole(DType type, Word bits) {
  return num::kind_of(type) == num::DTypeKind::Uint ? Wide{bits} : Wide{as_int(type, bits)};
}

bool is_in(DType type, Wide number) {
  return whole(type, from_int(type, static_cast<std::int64_t>(number))) == number;
}

std::string text(DType type, Word bits) { return ir::int_text(type, as_int(type, bits)); }

// The result as a whole number; a ramp is what its last lane is.
Wide result(const Expr& expr, Wide a, Wide b) {
  switch (expr.op) {
    case ExprOp::Add:
      return a + b;
    case ExprOp::Sub:
    case ExprOp::Neg:
      return a - b;
    case ExprOp::Mul:
      return a * b;
    case ExprOp::Ramp:
      return a + b * (expr.type.lanes - 1);
    default: {  // a << b: of what is shifted out, only 0 is not missed
      constexpr int kMost = 63;
      const bool is_far = b < 0 || b > kMost;
      return a * (Wide{1} << (is_far ? kMost : static_cast<int>(b)));
    }
  }
}

std::string operation_text(const Expr& expr, Word a, Word b) {
  const DType type = expr.type.dtype;
  switch (expr.op) {
    case ExprOp::Neg:
      return fmt::format("-({})", text(type, b));
    case ExprOp::Ramp:
      return fmt::format("{} + {} * {}", text(type, a), text(type, b), expr.type.lanes - 1);
    default:
      return fmt::format("{} {} {}", text(type, a), ir::spelling_of(expr.op), text(type, b));
  }
}

}  // namespace

// `numbers` are what does not fit into `type`.
void Cta::report_overflow(ExprId id, Thread t, DType type, const std::string& numbers) {
  Finding* found = finding(Check::Overflow);
  if (found == nullptr) return;
  if ((*f_)[id].span.known) found->span = (*f_)[id].span;
  found->text = fmt::format("`{}` overflows in {} of {}: {} is not in `{}`", ir::print(*f_, id),
                            thread_text(t), cta_text(), numbers, num::name_of(type));
}

void Cta::check_overflow(ExprId id, const Words& a, const Words& b, Threads ts) {
  const Expr& expr = (*f_)[id];
  const DType type = expr.type.dtype;
  if (expr.op == ExprOp::Broadcast) return;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!is_in(type, result(expr, whole(type, a[i]), whole(type, b[i]))))
      return report_overflow(id, ts[i % ts.size()], type, operation_text(expr, a[i], b[i]));
}

// A bound that is converted must be the same number afterwards.
void Cta::check_cast(ExprId id, const Words& values, Threads ts) {
  const DType from = type_of((*f_)[id].args[0]);
  const DType to = (*f_)[id].type.dtype;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_in(to, whole(from, values[i])))
      return report_overflow((*f_)[id].args[0], ts[i % ts.size()], to, text(from, values[i]));
}

// The last value of a loop's variable must be in its type.
void Cta::check_last(const ir::Stmt& stmt, Thread t, Word first, std::int64_t trips) {
  const DType type = (*f_)[stmt.var].type.dtype;
  const bool has_step = stmt.args.size() > 2 && stmt.args[2].valid();
  const std::int64_t step = has_step ? ir::const_int(*f_, stmt.args[2]).value_or(1) : 1;
  const Wide rounds = std::max<std::int64_t>(trips, 1) - 1;
  if (is_in(type, whole(type, first) + rounds * step)) return;
  Finding* found = finding(Check::Overflow);
  if (found == nullptr) return;
  found->text = fmt::format("`{}` overflows in {} of {}: {} rounds of {} from {} on leave `{}`",
                            (*f_)[stmt.var].name, thread_text(t), cta_text(), trips, step,
                            text(type, first), num::name_of(type));
}

}  // namespace ww::eval
