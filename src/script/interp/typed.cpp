// SPDX-License-Identifier: Apache-2.0
#include "script/interp/typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/simplify/fold.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

using num::DType;

Value with_type(Value number, DType type) {
  number.id = static_cast<std::uint32_t>(type) + 1;
  return number;
}

// What 64 bits hold; a number from 2^63 on is the bits of an unsigned one.
std::optional<ir::Constant> constant_of(const Value& value) {
  if (value.is(Kind::Float)) return ir::Constant{DType::Float64, 0, value.real};
  const Wide v = int_of(value);
  if (v < Wide{std::numeric_limits<std::int64_t>::min()} ||
      v > Wide{std::numeric_limits<std::uint64_t>::max()})
    return std::nullopt;
  const bool is_large = v > Wide{std::numeric_limits<std::int64_t>::max()};
  const auto bits = static_cast<std::int64_t>(static_cast<std::uint64_t>(v));
  return ir::Constant{is_large ? DType::Uint64 : DType::Int64, bits, 0};
}

Value from_constant(const ir::Constant& constant) {
  if (num::kind_of(constant.dtype) == num::DTypeKind::Bool) return of_bool(constant.integer != 0);
  if (num::is_float(constant.dtype)) return with_type(of_float(constant.real), constant.dtype);
  const bool is_unsigned = num::kind_of(constant.dtype) == num::DTypeKind::Uint;
  return with_type(of_int(is_unsigned ? Wide{static_cast<std::uint64_t>(constant.integer)}
                                      : Wide{constant.integer}),
                   constant.dtype);
}

std::optional<double> special_float(const Value& value) {
  if (!value.is(Kind::Str)) return std::nullopt;
  const std::string_view word = text_of(value);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (word == "inf") return kInf;
  if (word == "-inf") return -kInf;
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

// As in kernels: the float, or the wider one of a kind; nothing where only a cast can tell.
std::optional<DType> common_type(DType a, DType b) {
  if (a == b) return a;
  if (num::is_float(a) != num::is_float(b)) return num::is_float(a) ? a : b;
  const int width = num::bits_of(a) - num::bits_of(b);
  const int narrower = std::min(num::bits_of(a), num::bits_of(b));
  if (width == 0 || (num::is_float(a) && narrower < 16)) return std::nullopt;
  return width > 0 ? a : b;
}

}  // namespace

std::optional<DType> typed_as(const Value& value) {
  if ((!value.is(Kind::Int) && !value.is(Kind::Float)) || value.id == 0) return std::nullopt;
  return static_cast<DType>(value.id - 1);
}

Value untyped(const Value& value) {
  Value out = value;
  if (typed_as(value)) out.id = 0;
  return out;
}

Result<Value> typed_constant(Context&, const Value& value, ir::Type type, Conversion how,
                             Span span) {
  if (value.is(Kind::Opaque) || value.is(Kind::Poison)) return value;
  const std::optional<double> special = type.is_float() ? special_float(value) : std::nullopt;
  const Value number = special ? of_float(*special) : value;
  if (!is_number(number) || !type.is_value() || type.lanes != 1)
    return fail_at(span, DiagKind::BadType, "{} as `{}` outside of a kernel, expected a number",
                   type_name(value), ir::to_text(type));
  const auto constant = constant_of(number);
  if (!constant || (how == Conversion::Exact && !ir::holds(type.dtype, *constant)))
    return fail_at(span, DiagKind::BadType, "the constant {} does not fit `{}`", repr(number),
                   num::name_of(type.dtype));
  return from_constant(ir::convert(*constant, type.dtype));
}

Result<Value> typed_result(Context& in, const Value& a, const Value& b, const Value& result,
                           Span span) {
  const auto left = typed_as(a);
  const auto right = typed_as(b);
  if (!left && !right) return result;
  const auto common = left && right ? common_type(*left, *right) : left ? left : right;
  if (!common)
    return fail(diag_at(span, DiagKind::BadType, "constants of types `{}` and `{}` meet",
                        num::name_of(*left), num::name_of(*right))
                    .with_note(fmt::format("`T.cast(x, \"{}\")` converts one of them",
                                           num::name_of(*left))));
  const DType type = *common;
  // 2.5 · T.int32(3): a fraction is no int32, and not rounded to one behind the program's back.
  if (result.is(Kind::Float) && !num::is_float(type)) return result;
  return typed_constant(in, result, ir::Type::of(type), Conversion::Cast, span);
}

}  // namespace ww::script
