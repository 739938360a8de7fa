// SPDX-License-Identifier: Apache-2.0
// Operators: host numbers and texts as in Python, kernel expressions through ir/build.h, and `@`,
// `+` for the parts of layouts.
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <cmath>

#include "base/fail_at.h"

namespace ww::script {
namespace {

// Host integers are exact up to here; Python's have no end, but no kernel needs more.
constexpr Wide kMaxInt = Wide{1} << 100;

Diag too_large(Span span) { return diag_at(span, DiagKind::Overflow, "an integer beyond 2^100"); }
Diag zero_division(Span span) { return diag_at(span, DiagKind::HostError, "division by zero"); }

Result<Value> checked(Wide value, Span span) {
  if (value > kMaxInt || value < -kMaxInt) return fail(too_large(span));
  return of_int(value);
}

// a · b without leaving 128 bits.
Result<Value> checked_product(Wide a, Wide b, Span span) {
  Wide out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return fail(too_large(span));
  return checked(out, span);
}

Result<Value> power(Wide base, Wide exponent, Span span) {
  if (exponent < 0 && base == 0) return fail(zero_division(span));
  if (exponent < 0)
    return of_float(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  if (base == 0 || base == 1) return of_int(exponent == 0 ? 1 : base);
  if (base == -1) return of_int(exponent % 2 == 0 ? 1 : -1);
  Value out = of_int(1);
  for (Wide i = 0; i < exponent; ++i) out = WW_TRY(checked_product(out.integer, base, span));
  return out;
}

Result<Value> shift(Op op, Wide a, Wide by, Span span) {
  if (by < 0)
    return fail_at(span, DiagKind::HostError, "a shift by {}", static_cast<std::int64_t>(by));
  if (op == Op::Shr)
    return of_int(by > 126 ? (a < 0 ? Wide{-1} : Wide{0}) : a >> static_cast<int>(by));
  if (a == 0) return of_int(0);
  if (by > 100) return fail(too_large(span));
  return checked_product(a, Wide{1} << static_cast<int>(by), span);
}

Result<Value> int_binary(Op op, Wide a, Wide b, Span span) {
  switch (op) {
    case Op::Add:
      return checked(a + b, span);
    case Op::Sub:
      return checked(a - b, span);
    case Op::Mul:
      return checked_product(a, b, span);
    case Op::Div:
      if (b == 0) return fail(zero_division(span));
      return of_float(static_cast<double>(a) / static_cast<double>(b));
    case Op::FloorDiv:
      if (b == 0) return fail(zero_division(span));
      return of_int(floor_div(a, b));
    case Op::Mod:
      if (b == 0) return fail(zero_division(span));
      return of_int(floor_mod(a, b));
    case Op::Pow:
      return power(a, b, span);
    case Op::Shl:
    case Op::Shr:
      return shift(op, a, b, span);
    case Op::BitAnd:
      return of_int(a & b);
    case Op::BitOr:
      return of_int(a | b);
    case Op::BitXor:
      return of_int(a ^ b);
    default:
      return fail(diag_at(span, DiagKind::BadType, "`{}` of int and int", text_of(op))
                      .with_note(std::string(kAxisNote)));
  }
}

Result<Value> float_power(double a, double b, Span span) {
  if (a == 0 && b < 0) return fail(zero_division(span));
  const double out = std::pow(a, b);
  if (std::isfinite(out) || !std::isfinite(a) || !std::isfinite(b)) return of_float(out);
  return fail_at(span, DiagKind::Opaque, "{} to the power of {} is not a float", a, b);
}

Result<Value> float_binary(Op op, double a, double b, Span span) {
  const bool divides = op == Op::Div || op == Op::FloorDiv || op == Op::Mod;
  if (divides && b == 0) return fail(zero_division(span));
  switch (op) {
    case Op::Add:
      return of_float(a + b);
    case Op::Sub:
      return of_float(a - b);
    case Op::Mul:
      return of_float(a * b);
    case Op::Div:
      return of_float(a / b);
    case Op::FloorDiv:
      return of_float(std::floor(a / b));
    case Op::Mod: {
      const double rest = std::fmod(a, b);
      return of_float(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    case Op::Pow:
      return float_power(a, b, span);
    default:
      return fail_at(span, DiagKind::BadType, "`{}` of float", text_of(op));
  }
}

constexpr std::pair<Op, ir::ExprOp> kIrOps[] = {{Op::Add, ir::ExprOp::Add},
                                                {Op::Sub, ir::ExprOp::Sub},
                                                {Op::Mul, ir::ExprOp::Mul},
                                                {Op::Div, ir::ExprOp::Div},
                                                {Op::FloorDiv, ir::ExprOp::FloorDiv},
                                                {Op::Mod, ir::ExprOp::FloorMod},
                                                {Op::Shl, ir::ExprOp::Shl},
                                                {Op::Shr, ir::ExprOp::Shr},
                                                {Op::BitAnd, ir::ExprOp::BitAnd},
                                                {Op::BitOr, ir::ExprOp::BitOr},
                                                {Op::BitXor, ir::ExprOp::BitXor},
                                                {Op::Eq, ir::ExprOp::Eq},
                                                {Op::Ne, ir::ExprOp::Ne},
                                                {Op::Lt, ir::ExprOp::Lt},
                                                {Op::Le, ir::ExprOp::Le},
                                                {Op::Gt, ir::ExprOp::Gt},
                                                {Op::Ge, ir::ExprOp::Ge}};
std::optional<ir::ExprOp> ir_op(Op op) {
  for (const auto& [host, ir] : kIrOps)
    if (host == op) return ir;
  return std::nullopt;
}

// `(warp == 0) & T.cuda.elect_sync()`: who is elected is a condition; beside any other integer a
// condition is 0 or 1.
Result<void> join_condition(ir::Function& f, ir::Operand& condition, ir::Operand& number,
                            Span span) {
  const ir::Type type = f[number.expr].type;
  if (f[condition.expr].type != ir::Type::of(num::DType::Bool) || !type.is_int() ||
      number.is_weak || type.lanes != 1)
    return {};
  const ir::Expr& e = f[number.expr];
  if (e.op == ir::ExprOp::Call && e.callee == ir::Intrinsic::ElectSync)
    number.expr = WW_TRY(ir::condition(f, number.expr, span));
  else
    condition.expr = WW_TRY(ir::cast(f, condition.expr, type, span));
  return {};
}

// `is`: numbers and texts by content, for which Python promises nothing else; lists by identity.
bool is_identical(const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  const bool by_identity =
      is_sequence(a) || a.is(Kind::Dict) || a.is(Kind::Set) || a.is(Kind::Instance);
  return by_identity ? a.object == b.object : Comparison().same(a, b);
}

// What says that two values differ, or that one is not in the other; it is not known where a part of
// them is opaque.
Value unless_opaque(bool value, const Value& a, const Value& b) {
  const Value* unknown = opaque_in(a);
  if (unknown == nullptr) unknown = opaque_in(b);
  return unknown == nullptr ? of_bool(value) : *unknown;
}

}  // namespace

Result<Value> binary(Context& in, Op op, const Value& a, const Value& b, Span where) {
  if (a.is(Kind::Poison) || b.is(Kind::Poison)) return poison();
  if (a.is(Kind::Opaque)) return a;
  if (b.is(Kind::Opaque)) return b;
  if (is_number(a) && is_number(b)) {
    const Value out = is_intlike(a) && is_intlike(b)
                          ? WW_TRY(int_binary(op, int_of(a), int_of(b), where))
                          : WW_TRY(float_binary(op, float_of(a), float_of(b), where));
    return typed_result(in, a, b, out, where);
  }
  if (is_kernel_value(a) || is_kernel_value(b)) {
    const std::optional<ir::ExprOp> ir = ir_op(op);
    if (!ir) return fail_at(where, DiagKind::BadType, "`{}` of a value of run time", text_of(op));
    ir::Operand left = WW_TRY(operand(in, {a, where}));
    ir::Operand right = WW_TRY(operand(in, {b, where}));
    if (op == Op::BitAnd || op == Op::BitOr || op == Op::BitXor) {
      WW_TRY_VOID(join_condition(in.fn(), left, right, where));
      WW_TRY_VOID(join_condition(in.fn(), right, left, where));
    }
    return of_expr(ir::binary(in.fn(), *ir, left, right, where));
  }
  if (std::optional<Result<Value>> out = collection_binary(in, op, a, b, where))
    return *std::move(out);
  if (std::optional<Result<Value>> out = layout_binary(in, op, a, b, where)) return *std::move(out);
  if (op == Op::Mod && a.is(Kind::Str))
    return opaque_value(in, where, "`%` of a text is not modelled");
  Diag out = diag_at(where, DiagKind::BadType, "`{}` of {} and {}", text_of(op), type_name(a),
                     type_name(b));
  if (op == Op::MatMul) out.notes.push_back({std::string(kAxisNote), {}});
  return fail(std::move(out));
}

Result<Value> unary(Context& in, Op op, const Value& a, Span where) {
  if (a.is(Kind::Poison) || a.is(Kind::Opaque)) return a;
  if (is_kernel_value(a)) {
    if (op == Op::Pos) return of_expr(expression(in, {a, where}));
    const ir::ExprOp ir = op == Op::Neg      ? ir::ExprOp::Neg
                          : op == Op::Invert ? ir::ExprOp::BitNot
                                             : ir::ExprOp::Not;
    return of_expr(ir::unary(in.fn(), ir, WW_TRY(operand(in, {a, where})), where));
  }
  if (op == Op::Not) return of_bool(!WW_TRY(truth(in, {a, where})));
  if (is_intlike(a)) {
    const Wide value = int_of(a);
    const Value out = of_int(op == Op::Neg ? -value : op == Op::Invert ? ~value : value);
    return typed_result(in, a, a, out, where);
  }
  if (a.is(Kind::Float) && op != Op::Invert)
    return typed_result(in, a, a, of_float(op == Op::Neg ? -a.real : a.real), where);
  return fail_at(where, DiagKind::BadType, "`{}` of {}", text_of(op), type_name(a));
}

Result<bool> same(Context& in, const Value& a, const Value& b, Span where) {
  Comparison comparison;
  const bool out = comparison.same(a, b);
  WW_TRY_VOID(spend(in, comparison, a, b, where));
  return out;
}

Result<Value> compare(Context& in, Op op, const Value& a, const Value& b, Span where) {
  if (a.is(Kind::Poison) || b.is(Kind::Poison)) return poison();
  if (a.is(Kind::Opaque)) return a;
  if (b.is(Kind::Opaque)) return b;
  if (op == Op::Is || op == Op::IsNot) return of_bool(is_identical(a, b) == (op == Op::Is));
  if (op == Op::In || op == Op::NotIn)
    return WW_TRY(contains(in, a, b, where)) ? of_bool(op == Op::In)
                                             : unless_opaque(op == Op::NotIn, a, b);
  if (is_kernel_value(a) || is_kernel_value(b)) {
    const bool comparable =
        (is_kernel_value(a) || is_number(a)) && (is_kernel_value(b) || is_number(b));
    if (!comparable && (op == Op::Eq || op == Op::Ne)) return of_bool(op == Op::Ne);
    const ir::Operand left = WW_TRY(operand(in, {a, where}));
    const ir::Operand right = WW_TRY(operand(in, {b, where}));
    return of_expr(ir::binary(in.fn(), *ir_op(op), left, right, where));
  }
  if (op == Op::Eq || op == Op::Ne)
    return WW_TRY(same(in, a, b, where)) ? of_bool(op == Op::Eq)
                                         : unless_opaque(op == Op::Ne, a, b);
  Comparison comparison;
  const std::optional<int> c = comparison.order(a, b);
  WW_TRY_VOID(spend(in, comparison, a, b, where));
  if (!c) {
    if (is_number(a) && is_number(b)) return of_bool(false);
    return fail_at(where, DiagKind::BadType, "`{}` of {} and {}", text_of(op), type_name(a),
                   type_name(b));
  }
  const bool holds = op == Op::Lt   ? *c < 0
                     : op == Op::Le ? *c <= 0
                     : op == Op::Gt ? *c > 0
                                    : *c >= 0;
  return unless_opaque(holds, a, b);
}

Result<bool> truth(Context& in, const Given& value) {
  switch (value.kind) {
    case Kind::None:
      return false;
    case Kind::Bool:
      return value.truth;
    case Kind::Int:
      return value.integer != 0;
    case Kind::Float:
      return value.real != 0;
    case Kind::Str:
      return !text_of(value).empty();
    case Kind::Tuple:
    case Kind::List:
    case Kind::Set:
      return !value.as<SeqObject>().items.empty();
    case Kind::Dict:
      return !value.as<DictObject>().items.empty();
    case Kind::Range:
      return value.as<RangeObject>().size() != 0;
    case Kind::Opaque:
      return fail(needs_opaque(in, value));
    case Kind::Ir: {
      if (const auto constant = ir::const_int(in.fn(), value.expr())) return *constant != 0;
      return fail_at(value.span, DiagKind::BadType,
                     "a value of run time, expected one that is known when the kernel is compiled");
    }
    default:
      return true;
  }
}

}  // namespace ww::script
