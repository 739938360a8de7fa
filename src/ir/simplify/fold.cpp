// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/wide.h"
#include "num/float_format.h"

namespace ww::ir {
namespace {

using num::DType;
using num::DTypeKind;

bool is_unsigned(DType dtype) { return num::kind_of(dtype) == DTypeKind::Uint; }

Wide wide(DType dtype, std::int64_t value) {
  if (is_unsigned(dtype)) return static_cast<Wide>(static_cast<std::uint64_t>(value));
  return value;
}

std::int64_t narrow(DType dtype, Wide value) {
  return wrap(dtype, static_cast<std::int64_t>(static_cast<std::uint64_t>(value)));
}

bool compare(ExprOp op, int order) {
  switch (op) {
    case ExprOp::Eq:
      return order == 0;
    case ExprOp::Ne:
      return order != 0;
    case ExprOp::Lt:
      return order < 0;
    case ExprOp::Le:
      return order <= 0;
    case ExprOp::Gt:
      return order > 0;
    default:
      return order >= 0;
  }
}

template <typename T>
T divided(ExprOp op, T a, T b) {
  const bool is_modulo = op == ExprOp::FloorMod || op == ExprOp::TruncMod;
  if (b == 0) return is_modulo ? a : static_cast<T>(-1);
  // The least number by -1 is itself.
  if (std::is_signed_v<T> && b == static_cast<T>(-1))
    return is_modulo ? 0 : static_cast<T>(0 - static_cast<std::uint64_t>(a));
  switch (op) {
    case ExprOp::FloorDiv:
      return floor_div(a, b);
    case ExprOp::FloorMod:  // floor_mod would leave 64 bits on its way
      return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
    case ExprOp::TruncDiv:
      return a / b;
    default:
      return a % b;
  }
}

// Sums and products of unsigned numbers: their low bits are those of any type.
template <typename T>
std::optional<std::int64_t> int_result_of(ExprOp op, T a, T b, int bits) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  const bool shifts = y < static_cast<std::uint64_t>(bits);
  const auto result = [](auto value) { return static_cast<std::int64_t>(value); };
  switch (op) {
    case ExprOp::Add:
      return result(x + y);
    case ExprOp::Sub:
      return result(x - y);
    case ExprOp::Mul:
      return result(x * y);
    case ExprOp::BitAnd:
    case ExprOp::And:
      return result(x & y);
    case ExprOp::BitOr:
    case ExprOp::Or:
      return result(x | y);
    case ExprOp::BitXor:
      return result(x ^ y);
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
    case ExprOp::TruncDiv:
    case ExprOp::TruncMod:
      return result(divided(op, a, b));
    case ExprOp::Min:
      return result(std::min(a, b));
    case ExprOp::Max:
      return result(std::max(a, b));
    case ExprOp::Shl:
      return shifts ? result(x << y) : 0;
    case ExprOp::Shr:
      return shifts ? result(a >> b) : a < T{0} ? -1 : 0;
    case ExprOp::Eq:
    case ExprOp::Ne:
    case ExprOp::Lt:
    case ExprOp::Le:
    case ExprOp::Gt:
    case ExprOp::Ge:
      return compare(op, a < b ? -1 : a > b ? 1 : 0);
    default:
      return std::nullopt;
  }
}

double fold_float(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::Add:
      return a + b;
    case ExprOp::Sub:
      return a - b;
    case ExprOp::Mul:
      return a * b;
    case ExprOp::Div:
      return a / b;
    case ExprOp::Min:
      return std::fmin(a, b);
    case ExprOp::Max:
      return std::fmax(a, b);
    default:
      raise_bug(__FILE__, __LINE__, "operator of floats", std::string(name_of(op)));
  }
}

bool compare_floats(ExprOp op, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return op == ExprOp::Ne;
  return compare(op, a < b ? -1 : a > b ? 1 : 0);
}

Constant truth(bool value) { return {DType::Bool, value ? 1 : 0, 0}; }

// Wide enough for every integer type, and exact where it is compared.
Wide saturate(double value, DType to) {
  if (std::isnan(value)) return 0;
  const int bits = num::bits_of(to);
  const Wide one = 1;
  const Wide low = is_unsigned(to) ? 0 : -(one << (bits - 1));
  const Wide high = is_unsigned(to) ? (one << bits) - 1 : (one << (bits - 1)) - 1;
  if (value <= static_cast<double>(low)) return low;
  if (value >= static_cast<double>(high)) return high;
  return static_cast<Wide>(std::trunc(value));
}

}  // namespace

std::int64_t wrap(DType dtype, std::int64_t value) {
  if (dtype == DType::Bool) return value != 0 ? 1 : 0;
  const int bits = num::bits_of(dtype);
  if (bits >= 64) return value;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const std::uint64_t low = static_cast<std::uint64_t>(value) & mask;
  if (is_unsigned(dtype) || (low >> (bits - 1)) == 0) return static_cast<std::int64_t>(low);
  return static_cast<std::int64_t>(low | ~mask);
}

double round_to(DType dtype, double value) {
  if (dtype == DType::Float64) return value;
  return num::decode(dtype, num::encode(dtype, value));
}

bool fits(DType dtype, std::int64_t value, DType from) {
  if (dtype == DType::Bool) return value == 0 || value == 1;
  const Wide exact = wide(from, value);
  return wide(dtype, wrap(dtype, value)) == exact;
}

namespace {

bool holds_integer(DType dtype, double value) {
  const int bits = num::bits_of(dtype);
  const double end = std::ldexp(1.0, is_unsigned(dtype) ? bits : bits - 1);
  return value == std::trunc(value) && value < end && value >= (is_unsigned(dtype) ? 0 : -end);
}

bool holds_float(DType dtype, double value) {
  if (!std::isfinite(value)) return true;
  const num::FloatFormat& format = num::format_of(dtype);
  if (!format.has_sign && value < 0) return false;
  // Formats without NaN have nothing that would tell too large a number.
  return format.specials == num::Specials::None ? std::abs(value) <= num::largest(dtype)
                                                : std::isfinite(round_to(dtype, value));
}

}  // namespace

bool holds(DType dtype, const Constant& value) {
  if (num::is_float(dtype))
    return holds_float(dtype, num::is_float(value.dtype)
                                  ? value.real
                                  : static_cast<double>(wide(value.dtype, value.integer)));
  if (num::is_float(value.dtype)) return dtype != DType::Bool && holds_integer(dtype, value.real);
  return fits(dtype, value.integer, value.dtype);
}

bool holds_bits(DType dtype, const Constant& value) {
  if (holds(dtype, value)) return true;
  if (num::is_float(dtype) || num::is_float(value.dtype) || dtype == DType::Bool) return false;
  const int bits = num::bits_of(dtype);
  const Wide exact = wide(value.dtype, value.integer);
  return exact >= -(Wide{1} << (bits - 1)) && exact < Wide{1} << bits;
}

std::string int_text(DType dtype, std::int64_t value) {
  if (dtype == DType::Uint64) return fmt::format("{}", static_cast<std::uint64_t>(value));
  return fmt::format("{}", value);
}

namespace {

// Conversions to floats of 8 bits and fewer saturate, those of the hardware as well.
double rounded_in_conversion(DType to, double value) {
  if (num::bits_of(to) > 8) return round_to(to, value);
  return num::decode(to,
                     num::encode(to, value, num::Rounding::NearestEven, num::Overflow::Saturate));
}

}  // namespace

Constant convert(const Constant& value, DType to) {
  if (is_float(value.dtype)) {
    if (is_float(to)) return {to, 0, rounded_in_conversion(to, value.real)};
    if (to == DType::Bool) return truth(value.real != 0);
    return {to, narrow(to, saturate(value.real, to)), 0};
  }
  if (is_float(to)) {
    const Wide exact = wide(value.dtype, value.integer);
    return {to, 0, rounded_in_conversion(to, static_cast<double>(exact))};
  }
  return {to, wrap(to, value.integer), 0};
}

std::optional<std::int64_t> int_result(ExprOp op, std::int64_t a, std::int64_t b, Type type) {
  const int bits = num::bits_of(type.dtype);
  return type.dtype == DType::Uint64
             ? int_result_of(op, static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b), bits)
             : int_result_of(op, a, b, bits);
}

Result<Constant> fold(ExprOp op, const Constant& a, const Constant& b) {
  const bool compares = group_of(op) == ExprGroup::Compare;
  if (is_float(a.dtype)) {
    if (compares) return truth(compare_floats(op, a.real, b.real));
    return Constant{a.dtype, 0, round_to(a.dtype, fold_float(op, a.real, b.real))};
  }
  const bool divides = op == ExprOp::FloorDiv || op == ExprOp::FloorMod || op == ExprOp::TruncDiv ||
                       op == ExprOp::TruncMod;
  if (divides && b.integer == 0) return fail(DiagKind::HostError, "division by zero");
  const auto result = int_result(op, a.integer, b.integer, Type::of(a.dtype));
  WW_CHECK(result, "`{}` of integers", name_of(op));
  return Constant{compares ? DType::Bool : a.dtype, compares ? *result : wrap(a.dtype, *result), 0};
}

Constant fold(ExprOp op, const Constant& a) {
  switch (op) {
    case ExprOp::Not:
      return truth(a.integer == 0);
    case ExprOp::BitNot:
      return {a.dtype, wrap(a.dtype, a.dtype == DType::Bool ? 1 - a.integer : ~a.integer), 0};
    default:
      break;
  }
  if (is_float(a.dtype)) return {a.dtype, 0, -a.real};
  return {a.dtype,
          wrap(a.dtype, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a.integer))), 0};
}

}  // namespace ww::ir
