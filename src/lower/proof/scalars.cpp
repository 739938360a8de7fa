// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/scalars.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/check.h"
#include "lower/proof/numbers.h"
#include "num/float_format.h"

namespace ww::lower::scalars {
namespace {

using ir::ExprOp;
using ir::Intrinsic;
using num::DType;

double real(Scalar value) { return std::bit_cast<double>(value); }
Scalar of_real(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<Scalar>(value);
}

bool has_operator(ExprOp op, bool is_real) {
  constexpr ExprOp kOfAll[] = {ExprOp::Add, ExprOp::Sub, ExprOp::Mul, ExprOp::Min, ExprOp::Max};
  const ir::ExprGroup group = ir::group_of(op);
  if (group == ir::ExprGroup::Compare || std::ranges::find(kOfAll, op) != std::end(kOfAll))
    return true;
  if (is_real || op == ExprOp::Div) return is_real && op == ExprOp::Div;
  return group == ir::ExprGroup::Infix || group == ir::ExprGroup::Logic || op == ExprOp::TruncDiv ||
         op == ExprOp::TruncMod;
}

// Any number, but one for all calls with these arguments.
Scalar some_result(Intrinsic callee, DType type, std::span<const Scalar> args) {
  std::uint64_t hash = static_cast<std::uint64_t>(callee);
  for (const Scalar arg : args) hash = mixed(hash, static_cast<std::uint64_t>(arg));
  return any_float(type, {}, hash);
}

Scalar float_function(Intrinsic callee, DType type, std::span<const Scalar> args) {
  const double x = real(args[0]);
  switch (callee) {
    case Intrinsic::Isnan:
      return std::isnan(x) ? 1 : 0;
    case Intrinsic::Isinf:
      return std::isinf(x) ? 1 : 0;
    case Intrinsic::Isfinite:
      return std::isfinite(x) ? 1 : 0;
    case Intrinsic::Abs:
      return of_real(std::fabs(x));
    case Intrinsic::Floor:
      return of_real(std::floor(x));
    case Intrinsic::Ceil:
      return of_real(std::ceil(x));
    case Intrinsic::Trunc:
      return of_real(std::trunc(x));
    case Intrinsic::Round:
      return of_real(std::round(x));
    case Intrinsic::Nearbyint:
      return of_real(std::nearbyint(x));
    case Intrinsic::Copysign:
      return of_real(std::copysign(x, real(args[1])));
    default:
      return some_result(callee, type, args);
  }
}

Scalar int_function(Intrinsic callee, DType type, std::span<const Scalar> args) {
  const int bits = num::bits_of(type);
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t low = static_cast<std::uint64_t>(args[0]) & mask;
  switch (callee) {
    case Intrinsic::Abs:
      return args[0] < 0 && num::kind_of(type) == num::DTypeKind::Int
                 ? operated(ExprOp::Neg, type, args[0])
                 : args[0];
    case Intrinsic::Popcount:
      return std::popcount(low);
    case Intrinsic::Clz:
      return std::countl_zero(low) - (64 - bits);
    case Intrinsic::Fma:
      return *operated(ExprOp::Add, type, *operated(ExprOp::Mul, type, args[0], args[1]), args[2]);
    case Intrinsic::Isnan:
    case Intrinsic::Isinf:
      return 0;
    case Intrinsic::Isfinite:
      return 1;
    default:  // rounding
      return args[0];
  }
}

std::uint64_t bits_of(DType type, Scalar value) {
  if (!num::is_float(type) || type == DType::Float64) return static_cast<std::uint64_t>(value);
  return num::encode(type, real(value));
}

}  // namespace

Scalar of(const ir::Constant& constant) {
  return num::is_float(constant.dtype) ? of_real(constant.real) : constant.integer;
}

ir::Constant constant_of(DType dtype, Scalar value) {
  return num::is_float(dtype) ? ir::Constant{dtype, 0, real(value)} : ir::Constant{dtype, value, 0};
}

std::optional<Scalar> operated(ExprOp op, DType type, Scalar a, Scalar b) {
  if (!has_operator(op, num::is_float(type))) return std::nullopt;
  const bool divides = op == ExprOp::FloorDiv || op == ExprOp::TruncDiv;
  const bool is_modulo = op == ExprOp::FloorMod || op == ExprOp::TruncMod;
  if ((divides || is_modulo) && b == 0) return is_modulo ? a : ir::wrap(type, -1);
  const auto out = ir::fold(op, constant_of(type, a), constant_of(type, b));
  return out ? std::optional(of(*out)) : std::nullopt;
}

Scalar operated(ExprOp op, DType type, Scalar a) { return of(ir::fold(op, constant_of(type, a))); }

Scalar cast(DType from, DType to, Scalar value) {
  return of(ir::convert(constant_of(from, value), to));
}

Scalar reinterpreted(DType from, DType to, Scalar value) {
  const std::uint64_t bits = bits_of(from, value);
  if (!num::is_float(to)) return ir::wrap(to, static_cast<std::int64_t>(bits));
  return to == DType::Float64 ? static_cast<Scalar>(bits) : of_real(num::decode(to, bits));
}

Scalar called(Intrinsic callee, DType type, std::span<const Scalar> args) {
  return num::is_float(type) ? float_function(callee, type, args)
                             : int_function(callee, type, args);
}

Scalar any_float(DType type, std::string_view key, std::uint64_t salt) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNumbers[] = {0,    1,     2,    -1,  0.5, 3,         -0.0,       7,
                                 -2.5, 100.0, 1e-3, -64, 240, kInfinity, -kInfinity, 1e4};
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  hash = mixed(hash, salt);
  const double number =
      hash >> 32U & 15U ? kNumbers[hash >> 40U & 15U] : std::numeric_limits<double>::quiet_NaN();
  return of(ir::convert({DType::Float64, 0, number}, type));
}

}  // namespace ww::lower::scalars
