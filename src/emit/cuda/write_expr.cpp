// SPDX-License-Identifier: Apache-2.0
// Scalar expressions, and one lane of elementwise vector ones: `lane` says which, none for scalars.
#include <fmt/format.h>

#include <functional>
#include <limits>

#include "emit/cuda/types.h"
#include "emit/cuda/writer.h"

namespace ww::emit::cuda {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Range;
using num::DType;

}  // namespace

std::string Writer::expr(ExprId id, Precedence at_least) { return within(render(id), at_least); }

Text Writer::render(ExprId id) {
  if (f_[id].type.is_value() && f_[id].type.lanes > 1) return {vector(id)};
  return render_as(id, nullptr);
}

Text Writer::render_as(ExprId id, const Lane* at) {
  const Expr& e = f_[id];
  switch (e.op) {
    case ExprOp::IntImm: {
      std::string text = int_literal(e.type.dtype, e.integer);
      const bool is_negative = text.front() == '-';
      return {std::move(text), is_negative ? kUnary : kAtom};
    }
    case ExprOp::FloatImm: {
      std::string text = float_literal(e.type.dtype, e.real);
      const bool is_negative = text.front() == '-';
      return {std::move(text), is_negative ? kUnary : kAtom};
    }
    case ExprOp::TextImm:
      return {quoted(f_.texts[e.text])};
    case ExprOp::Var:
      return {names_.of(e.var)};
    case ExprOp::Load:
      return load(e);
    case ExprOp::AddressOf:
    case ExprOp::BufferData:
      return pointer(e);
    case ExprOp::Neg:
    case ExprOp::BitNot:
    case ExprOp::Not:
      if (!check_number(e.type.dtype, e.span)) return {"0"};
      return numbers_.unary(e.op, e.type.dtype, operand(e.args[0], at, {}), known(e, id));
    case ExprOp::Cast:
      return cast(e, at);
    case ExprOp::Reinterpret:
      return reinterpret(e);
    case ExprOp::Select:
    case ExprOp::IfThenElse:
      return choice(e, at);
    case ExprOp::Shuffle:
      return shuffled(e, Lane{"0", 0});
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return {refuse(e.span, fmt::format("a `{}` of one lane", ir::name_of(e.op)))};
    case ExprOp::Call:
      return call(e, at);
    default:
      return binary(e, id, at);
  }
}

// A constant beside a value of its type needs no type of its own.
Text Writer::operand(ExprId id, const Lane* at, ExprId beside) {
  const Expr& e = f_[id];
  const bool is_plain = e.op == ExprOp::IntImm && e.type.is_int() &&
                        e.type.dtype != DType::Uint32 &&
                        (e.integer >= 0 || e.type.dtype != DType::Uint64);
  const bool is_small = e.integer > std::numeric_limits<std::int32_t>::min() &&
                        e.integer <= std::numeric_limits<std::int32_t>::max();
  if (is_plain && is_small && beside.valid() && f_[beside].op != ExprOp::IntImm)
    return {fmt::format("{}", e.integer), e.integer < 0 ? kUnary : kAtom};
  if (at != nullptr && e.type.lanes > 1) return lane(id, *at);
  return render(id);
}

Text Writer::binary(const Expr& e, ExprId id, const Lane* at) {
  const ir::Type type = f_[e.args[0]].type;
  if (type.is_pointer()) return compare_pointers(e);
  if (!check_number(type.dtype, e.span)) return {"0"};
  const Known facts = at == nullptr ? known(e, id) : Known{.fits = e.no_wrap};
  const bool is_signed_int = is_signed(type.dtype) && num::bits_of(type.dtype) >= 32;
  const bool may_wrap = e.op == ExprOp::Add || e.op == ExprOp::Sub || e.op == ExprOp::Mul;
  if (may_wrap && is_signed_int && !facts.fits && at == nullptr)
    return {fmt::format("{}({})", value_type(type.dtype), without_sign(id, type.dtype).text)};
  const bool takes_plain = ir::group_of(e.op) != ir::ExprGroup::Function;
  const ExprId none = {};
  return numbers_.binary(e.op, type.dtype, operand(e.args[0], at, takes_plain ? e.args[1] : none),
                         operand(e.args[1], at, takes_plain ? e.args[0] : none), facts);
}

// Sums and products that may wrap around, all of them without a sign: one conversion at the end.
Text Writer::without_sign(ExprId id, DType dtype) {
  const Expr& e = f_[id];
  const DType unsigned_dtype = dtype == DType::Int32 ? DType::Uint32 : DType::Uint64;
  if (e.op == ExprOp::IntImm) {
    const std::int64_t mask = dtype == DType::Int32 ? std::int64_t{0xffffffff} : -1;
    return {int_literal(unsigned_dtype, e.integer & mask)};
  }
  if (e.op == ExprOp::Add || e.op == ExprOp::Sub || e.op == ExprOp::Mul)
    return numbers_.binary(e.op, unsigned_dtype, without_sign(e.args[0], dtype),
                           without_sign(e.args[1], dtype));
  return {fmt::format("{}({})", value_type(unsigned_dtype), expr(id))};
}

Text Writer::compare_pointers(const Expr& e) {
  const auto address = [&](ExprId id) {
    return Text{fmt::format("reinterpret_cast<uint64_t>({})", expr(id))};
  };
  return numbers_.binary(e.op, DType::Uint64, address(e.args[0]), address(e.args[1]));
}

Text Writer::cast(const Expr& e, const Lane* at) {
  const ir::Type from = f_[e.args[0]].type;
  const auto can_convert = [](DType dtype) { return is_number(dtype) || dtype == DType::Tfloat32; };
  for (const DType dtype : {from.dtype, e.type.dtype})
    if (!can_convert(dtype) && from.dtype != e.type.dtype)
      return {
          refuse(e.span, fmt::format("`{}` is converted to `{}`, which CUDA C++ has no function "
                                     "for",
                                     ir::to_text(from), ir::to_text(e.type)))};
  if (e.type.dtype == DType::Tfloat32 && from.dtype == DType::Float64)
    return {refuse(e.span, "`float64` is converted to `tfloat32`, which would be rounded twice")};
  return numbers_.cast(from.dtype, e.type.dtype, operand(e.args[0], at, {}));
}

Text Writer::choice(const Expr& e, const Lane* at) {
  const Text condition = operand(e.args[0], at, {});
  const Text yes = operand(e.args[1], at, {});
  const Text no = operand(e.args[2], at, {});
  return {
      fmt::format("{} ? {} : {}", within(condition, kOr), within(yes, kOr), within(no, kTernary)),
      kTernary};
}

Text Writer::reinterpret(const Expr& e) {
  const ir::Type from = f_[e.args[0]].type;
  if (from.is_pointer() || e.type.is_pointer())
    return {fmt::format("reinterpret_cast<{}>({})", type_text(e.type), expr(e.args[0]))};
  const auto bits = [](ir::Type type) { return bytes_of(type.dtype) * 8 * type.lanes; };
  if (bits(from) != bits(e.type) || is_packed(from.dtype) || is_packed(e.type.dtype))
    return {refuse(e.span, fmt::format("`{}` is read as `{}`, expected types of the same bytes",
                                       ir::to_text(from), ir::to_text(e.type)))};
  helpers_.use("ww_bitcast");
  if (e.type.is_bool())
    return {fmt::format("ww_bitcast<uint8_t>({}) != 0", expr(e.args[0])), kEqual};
  return {fmt::format("ww_bitcast<{}>({})", type_text(e.type), expr(e.args[0]))};
}

// --- what is known -------------------------------------------------------------------------------

std::optional<Range> Writer::range(ExprId id) {
  const Expr& e = f_[id];
  if (!e.type.is_int() || !e.type.is_scalar()) return std::nullopt;
  return ranges_.range(id);
}

// Whether the operation itself leaves its type; what its operands do is their business.
bool Writer::stays_in_type(ExprId id) { return f_[id].no_wrap || ranges_.stays_in_type(id); }

Known Writer::known(const Expr& e, ExprId id) {
  Known out;
  if (!e.type.is_int() || !e.type.is_scalar()) return out;
  out.fits = stays_in_type(id);
  if (e.args.size() < 2) return out;
  const std::optional<Range> a = range(e.args[0]);
  const std::optional<Range> b = range(e.args[1]);
  if (!b) return out;
  const bool is_unsigned = !is_signed(e.type.dtype);
  const bool is_trunc = e.op == ExprOp::TruncDiv || e.op == ExprOp::TruncMod;
  const bool is_positive = b->min > 0;
  out.divides_plainly = is_positive && (is_unsigned || is_trunc || (a && a->min >= 0));
  out.shifts_plainly = b->min >= 0 && b->max < num::bits_of(e.type.dtype);
  return out;
}

bool Writer::check_number(DType dtype, Span span) {
  if (is_number(dtype)) return true;
  refuse(span,
         fmt::format("`{}` is computed with, which CUDA C++ can only move", num::name_of(dtype)));
  return false;
}

}  // namespace ww::emit::cuda
