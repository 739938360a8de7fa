// SPDX-License-Identifier: Apache-2.0
#include "script/interp/implicit.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/simplify/fold.h"
#include "num/float_format.h"
#include "script/interp/conversions.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

std::optional<ir::Constant> constant_of(const ir::Function& f, ir::ExprId id) {
  const ir::Expr& e = f[id];
  if (e.op != ir::ExprOp::IntImm && e.op != ir::ExprOp::FloatImm) return std::nullopt;
  return ir::Constant{e.type.dtype, e.integer, e.real};
}

Diag not_held(const ir::Constant& constant, ir::Type type, Span span) {
  const bool is_real = num::is_float(constant.dtype);
  Diag out = diag_at(
      span, DiagKind::BadType, "the constant {} does not fit `{}`",
      is_real ? fmt::format("{}", constant.real) : ir::int_text(constant.dtype, constant.integer),
      num::name_of(type.dtype));
  if (is_real && type.is_float())
    return std::move(out).with_note(
        fmt::format("the largest `{}` is {}", num::name_of(type.dtype), num::largest(type.dtype)));
  return is_real ? std::move(out).with_note(
                       fmt::format("`T.cast(x, \"{}\")` drops the fraction", ir::to_text(type)))
                 : out;
}

bool drops_fraction(ir::Type from, ir::Type to) { return from.is_float() && !to.is_float(); }

// Has the type no room for all values of the other, which is of its kind?
bool is_narrower(ir::Type to, ir::Type from) {
  if (to.is_float() != from.is_float() || to.is_bool() || from.is_bool()) return false;
  const int room = num::bits_of(to.dtype) - num::bits_of(from.dtype);
  return room < 0 || (room == 0 && to.is_float() && to.dtype != from.dtype);
}

Diag refused(const Assigned& to, ir::Type type, ir::Type from, Span span) {
  const bool is_fraction = drops_fraction(from, type);
  Diag out =
      diag_at(span, DiagKind::BadType, "`{}` {} `{}` and gets `{}`, {}", to.name,
              to.is_name ? "is" : "holds", num::name_of(type.dtype), num::name_of(from.dtype),
              is_fraction ? "whose fraction would be lost" : "which does not fit");
  if (to.is_inferred)
    out.notes.push_back({fmt::format("it has the type of its first value; write `{}: T.{} = …`",
                                     to.name, num::name_of(from.dtype)),
                         to.declared});
  else if (to.declared.known)
    out.notes.push_back({"declared here", to.declared});
  out.notes.push_back(
      {type.is_bool() ? std::string("`x != 0` makes a condition of it")
                      : fmt::format("`T.cast(x, \"{}\")` converts {}", num::name_of(type.dtype),
                                    is_fraction ? "it, toward 0" : "it all the same"),
       {}});
  return out;
}

Result<ir::ExprId> exact(Context& in, ir::ExprId given, ir::Type type, Span span) {
  const auto constant = constant_of(in.fn(), given);
  if (constant && type.is_value() && !ir::holds(type.dtype, *constant))
    return fail(not_held(*constant, type, span));
  return ir::cast(in.fn(), given, type, span);
}

}  // namespace

Result<ir::ExprId> expression_as(Context& in, const Value& value, ir::Type type, Span where) {
  const ir::Operand given = WW_TRY(operand(in, value, where));
  const ir::Type from = in.fn()[given.expr].type;
  if (from.is_value() && type.is_value()) {
    const auto constant = constant_of(in.fn(), given.expr);
    if (constant && !ir::holds_bits(type.dtype, *constant))
      return fail(not_held(*constant, type, where));
    if (!constant && drops_fraction(from, type))
      return fail(diag_at(where, DiagKind::BadType, "`{}` where `{}` is needed", ir::to_text(from),
                          ir::to_text(type))
                      .with_note(fmt::format("`T.cast(x, \"{}\")` converts it, toward 0",
                                             num::name_of(type.dtype))));
  }
  return ir::cast(in.fn(), given.expr, type, where);
}

Result<ir::ExprId> exact_value(Context& in, const Value& value, ir::Type type, Span span) {
  return exact(in, WW_TRY(operand(in, value, span)).expr, type, span);
}

Result<ir::ExprId> assigned_value(Context& in, const Value& value, ir::Type type,
                                  const Assigned& to, Span span) {
  const ir::ExprId given = WW_TRY(operand(in, value, span)).expr;
  const ir::Type from = in.fn()[given].type;
  const bool is_computed = !constant_of(in.fn(), given) && from.is_value() && type.is_value();
  if (is_computed && (drops_fraction(from, type) || (to.is_inferred && is_narrower(type, from))))
    return fail(refused(to, type, from, span));
  return exact(in, given, type, span);
}

}  // namespace ww::script
