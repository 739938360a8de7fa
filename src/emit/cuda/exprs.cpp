// SPDX-License-Identifier: Apache-2.0
// Scalar expressions, and one lane of elementwise vector ones: `lane` says which, none for scalars.
#include "emit/cuda/exprs.h"

#include <limits>

#include "emit/cuda/calls.h"
#include "emit/cuda/memory.h"
#include "emit/cuda/types.h"
#include "ir/tensor_map.h"

namespace ww::emit::cuda {
namespace {

Text compare_pointers(Context& c, const Expr& e) {
  const auto address = [&](ExprId id) {
    return Text{fmt::format("reinterpret_cast<uint64_t>({})", expr(c, id))};
  };
  return c.numbers.binary(e.op, DType::Uint64, address(e.args[0]), address(e.args[1]));
}

std::optional<ir::Range> range(const Context& c, ExprId id) {
  const Expr& e = c.f[id];
  if (!e.type.is_int() || !e.type.is_scalar()) return std::nullopt;
  return c.ranges.range(id);
}

Known known(const Context& c, const Expr& e, ExprId id) {
  Known out;
  if (!e.type.is_int() || !e.type.is_scalar()) return out;
  // The operation itself; what its operands do does not matter.
  out.fits = e.no_wrap || c.ranges.stays_in_type(id);
  if (e.args.size() < 2) return out;
  const std::optional<ir::Range> a = range(c, e.args[0]);
  const std::optional<ir::Range> b = range(c, e.args[1]);
  if (!b) return out;
  const bool is_unsigned = !is_signed(e.type.dtype);
  const bool is_trunc = e.op == ExprOp::TruncDiv || e.op == ExprOp::TruncMod;
  const bool is_positive = b->min > 0;
  out.divides_plainly = is_positive && (is_unsigned || is_trunc || (a && a->min >= 0));
  out.shifts_plainly = b->min >= 0 && b->max < num::bits_of(e.type.dtype);
  return out;
}

// Sums and products that may wrap around, all of them without a sign: one conversion at the end.
Text without_sign(Context& c, ExprId id, DType dtype) {
  const Expr& e = c.f[id];
  const DType unsigned_dtype = dtype == DType::Int32 ? DType::Uint32 : DType::Uint64;
  if (e.op == ExprOp::IntImm) {
    const std::int64_t mask = dtype == DType::Int32 ? std::int64_t{0xffffffff} : -1;
    return {int_literal(unsigned_dtype, e.integer & mask)};
  }
  if (e.op == ExprOp::Add || e.op == ExprOp::Sub || e.op == ExprOp::Mul)
    return c.numbers.binary(e.op, unsigned_dtype, without_sign(c, e.args[0], dtype),
                            without_sign(c, e.args[1], dtype));
  return {fmt::format("{}({})", value_type(unsigned_dtype), expr(c, id))};
}

Text binary(Context& c, const Expr& e, ExprId id, const Lane* at) {
  const ir::Type type = c.f[e.args[0]].type;
  if (type.is_pointer()) return compare_pointers(c, e);
  if (!check_number(c, type.dtype, e.span)) return {"0"};
  const Known facts = at == nullptr ? known(c, e, id) : Known{.fits = e.no_wrap};
  const bool is_signed_int = is_signed(type.dtype) && num::bits_of(type.dtype) >= 32;
  const bool may_wrap = e.op == ExprOp::Add || e.op == ExprOp::Sub || e.op == ExprOp::Mul;
  if (may_wrap && is_signed_int && !facts.fits && at == nullptr)
    return {fmt::format("{}({})", value_type(type.dtype), without_sign(c, id, type.dtype).text)};
  const bool takes_plain = ir::group_of(e.op) != ir::ExprGroup::Function;
  const ExprId none = {};
  return c.numbers.binary(e.op, type.dtype,
                          operand(c, e.args[0], at, takes_plain ? e.args[1] : none),
                          operand(c, e.args[1], at, takes_plain ? e.args[0] : none), facts);
}

Text cast(Context& c, const Expr& e, const Lane* at) {
  const ir::Type from = c.f[e.args[0]].type;
  const auto can_convert = [](DType dtype) { return is_number(dtype) || dtype == DType::Tfloat32; };
  const bool is_power = from.dtype == DType::Float8E8M0;
  for (const DType dtype : {is_power ? DType::Float32 : from.dtype, e.type.dtype})
    if (!can_convert(dtype) && from.dtype != e.type.dtype)
      return {refuse(c, e.span, "`{}` is converted to `{}`, which CUDA C++ has no function for",
                     ir::to_text(from), ir::to_text(e.type))};
  return c.numbers.cast(from.dtype, e.type.dtype, operand(c, e.args[0], at));
}

Text choice(Context& c, const Expr& e, const Lane* at) {
  const Text condition = operand(c, e.args[0], at);
  const Text yes = operand(c, e.args[1], at);
  const Text no = operand(c, e.args[2], at);
  return {
      fmt::format("{} ? {} : {}", within(condition, kOr), within(yes, kOr), within(no, kTernary)),
      kTernary};
}

}  // namespace

std::string expr(Context& c, ExprId id, Precedence at_least) {
  return within(render(c, id), at_least);
}

Text render(Context& c, ExprId id) {
  if (c.f[id].type.is_value() && c.f[id].type.lanes > 1) return {vector_text(c, id)};
  return render_as(c, id, nullptr);
}

Text render_as(Context& c, ExprId id, const Lane* at) {
  const Expr& e = c.f[id];
  switch (e.op) {
    case ExprOp::IntImm:
    case ExprOp::FloatImm: {
      std::string text = e.op == ExprOp::IntImm ? int_literal(e.type.dtype, e.integer)
                                                : float_literal(e.type.dtype, e.real);
      const bool is_negative = text.front() == '-';
      return {std::move(text), is_negative ? kUnary : kAtom};
    }
    case ExprOp::TextImm:
      return {quoted(c.f.texts[e.text])};
    case ExprOp::Var:
      if (e.type.is_pointer() && ir::find_tensor_map(c.f, id))
        return {fmt::format("const_cast<CUtensorMap*>(&{})", c.names.of(e.var))};
      return {c.names.of(e.var)};
    case ExprOp::Load:
      return load(c, e);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return pointer(c, e);
    case ExprOp::Neg:
    case ExprOp::BitNot:
    case ExprOp::Not:
      if (!check_number(c, e.type.dtype, e.span)) return {"0"};
      return c.numbers.unary(e.op, e.type.dtype, operand(c, e.args[0], at), known(c, e, id));
    case ExprOp::Cast:
      return cast(c, e, at);
    case ExprOp::Reinterpret:
      return reinterpret(c, e);
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return choice(c, e, at);
    case ExprOp::Shuffle:
      return shuffled(c, e, Lane{"0", 0});
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return {refuse(c, e.span, "a `{}` of one lane", ir::name_of(e.op))};
    case ExprOp::Call:
      return call(c, e, at);
    default:
      return binary(c, e, id, at);
  }
}

Text operand(Context& c, ExprId id, const Lane* at, ExprId beside) {
  const Expr& e = c.f[id];
  const bool is_plain = e.op == ExprOp::IntImm && e.type.is_int() &&
                        e.type.dtype != DType::Uint32 &&
                        (e.integer >= 0 || e.type.dtype != DType::Uint64);
  const bool is_small = e.integer > std::numeric_limits<std::int32_t>::min() &&
                        e.integer <= std::numeric_limits<std::int32_t>::max();
  if (is_plain && is_small && beside.valid() && c.f[beside].op != ExprOp::IntImm)
    return {fmt::format("{}", e.integer), e.integer < 0 ? kUnary : kAtom};
  if (at != nullptr && e.type.lanes > 1) return lane(c, id, *at);
  return render(c, id);
}

Text reinterpret(Context& c, const Expr& e) {
  const ir::Type from = c.f[e.args[0]].type;
  if (from.is_pointer() || e.type.is_pointer())
    return {fmt::format("reinterpret_cast<{}>({})", type_text(e.type), expr(c, e.args[0]))};
  const auto bits = [](ir::Type type) { return bytes_of(type.dtype) * 8 * type.lanes; };
  if (bits(from) != bits(e.type) || is_packed(from.dtype) || is_packed(e.type.dtype))
    return {refuse(c, e.span, "`{}` is read as `{}`, expected types of the same bytes",
                   ir::to_text(from), ir::to_text(e.type))};
  c.helpers.use("ww_bitcast");
  if (e.type.is_bool())
    return {fmt::format("ww_bitcast<uint8_t>({}) != 0", expr(c, e.args[0])), kEqual};
  return {fmt::format("ww_bitcast<{}>({})", type_text(e.type), expr(c, e.args[0]))};
}

bool check_number(Context& c, DType dtype, Span span) {
  if (is_number(dtype)) return true;
  refuse(c, span, "`{}` is computed with, which CUDA C++ can only move", num::name_of(dtype));
  return false;
}

}  // namespace ww::emit::cuda
