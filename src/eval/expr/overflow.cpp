// SPDX-License-Identifier: Apache-2.0
#include "eval/expr/overflow.h"

#include <algorithm>

#include "base/wide.h"
#include "eval/cta/report.h"
#include "ir/print/print.h"
#include "ir/simplify/fold.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using num::DType;

Wide whole_number(DType type, Word bits) {
  return num::kind_of(type) == num::DTypeKind::Uint ? Wide{bits} : Wide{as_int(type, bits)};
}

bool fits(DType type, Wide number) {
  return whole_number(type, from_int(type, static_cast<std::int64_t>(number))) == number;
}

std::string bits_text(DType type, Word bits) { return ir::int_text(type, as_int(type, bits)); }

// The result as a whole number; a ramp is what its last lane is.
Wide result_of(const Expr& expr, Wide a, Wide b) {
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
      constexpr int kMax = 63;
      const bool is_far = b < 0 || b > kMax;
      return a * (Wide{1} << (is_far ? kMax : static_cast<int>(b)));
    }
  }
}

std::string operation_text(const Expr& expr, Word a, Word b) {
  const DType type = expr.type.dtype;
  switch (expr.op) {
    case ExprOp::Neg:
      return fmt::format("-({})", bits_text(type, b));
    case ExprOp::Ramp:
      return fmt::format("{} + {} * {}", bits_text(type, a), bits_text(type, b),
                         expr.type.lanes - 1);
    default:
      return fmt::format("{} {} {}", bits_text(type, a), ir::spelling_of(expr.op),
                         bits_text(type, b));
  }
}

// `numbers` are what does not fit into `type`.
void report_overflow(Cta& cta, ExprId id, Thread t, DType type, const std::string& numbers) {
  Finding* found = finding(cta, Check::Overflow);
  if (found == nullptr) return;
  if (cta.f[id].span.known) found->span = cta.f[id].span;
  found->text = fmt::format("`{}` overflows in {} of {}: {} is not in `{}`", ir::print(cta.f, id),
                            thread_text(t), cta_text(cta), numbers, num::name_of(type));
}

}  // namespace

void check_overflow(Cta& cta, ExprId id, const Words& a, const Words& b, Threads ts) {
  const Expr& expr = cta.f[id];
  const DType type = expr.type.dtype;
  if (expr.op == ExprOp::Broadcast) return;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (!fits(type, result_of(expr, whole_number(type, a[i]), whole_number(type, b[i]))))
      return report_overflow(cta, id, ts[i % ts.size()], type, operation_text(expr, a[i], b[i]));
}

void check_cast(Cta& cta, ExprId id, const Words& values, Threads ts) {
  const DType from = cta.type_of(cta.f[id].args[0]);
  const DType to = cta.f[id].type.dtype;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!fits(to, whole_number(from, values[i])))
      return report_overflow(cta, cta.f[id].args[0], ts[i % ts.size()], to,
                             bits_text(from, values[i]));
}

void check_last(Cta& cta, const ir::Stmt& loop, Thread t, Word first, std::int64_t trips) {
  const DType type = cta.f[loop.var].type.dtype;
  const bool has_step = loop.args.size() > 2 && loop.args[2].valid();
  const std::int64_t step = has_step ? ir::const_int(cta.f, loop.args[2]).value_or(1) : 1;
  const Wide rounds = std::max<std::int64_t>(trips, 1) - 1;
  if (fits(type, whole_number(type, first) + rounds * step)) return;
  Finding* found = finding(cta, Check::Overflow);
  if (found == nullptr) return;
  found->text = fmt::format("`{}` overflows in {} of {}: {} rounds of {} from {} on leave `{}`",
                            cta.f[loop.var].name, thread_text(t), cta_text(cta), trips, step,
                            bits_text(type, first), num::name_of(type));
}

}  // namespace ww::eval
