// SPDX-License-Identifier: Apache-2.0
// Mathematical functions. The result is computed in double and rounded once. Where num/approx.h has
// the function, it is used for everything up to single precision: it gives the same on every host.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numbers>

#include "base/check.h"
#include "eval/value/arithmetic.h"
#include "num/approx.h"

namespace ww::eval {
namespace {

using ir::Intrinsic;
using num::DType;
using num::DTypeKind;

// The same on every host, up to single precision.
struct SharedFunction {
  Intrinsic callee;
  double (*compute)(float);
};
constexpr SharedFunction kSharedFunctions[] = {
    {Intrinsic::Exp2, num::ex2},   {Intrinsic::Log2, num::lg2},     {Intrinsic::Sin, num::sin_of},
    {Intrinsic::Cos, num::cos_of}, {Intrinsic::Tanh, num::tanh_of},
};

struct HostFunction {
  Intrinsic callee;
  double (*compute)(double);
};
constexpr HostFunction kHostFunctions[] = {
    {Intrinsic::Exp, [](double x) { return std::exp(x); }},
    {Intrinsic::Exp2, [](double x) { return std::exp2(x); }},
    {Intrinsic::Exp10, [](double x) { return std::pow(10.0, x); }},
    {Intrinsic::Log, [](double x) { return std::log(x); }},
    {Intrinsic::Log2, [](double x) { return std::log2(x); }},
    {Intrinsic::Log10, [](double x) { return std::log10(x); }},
    {Intrinsic::Log1p, [](double x) { return std::log1p(x); }},
    {Intrinsic::Expm1, [](double x) { return std::expm1(x); }},
    {Intrinsic::Sqrt, [](double x) { return std::sqrt(x); }},
    {Intrinsic::Rsqrt, [](double x) { return 1.0 / std::sqrt(x); }},
    {Intrinsic::Sin, [](double x) { return std::sin(x); }},
    {Intrinsic::Cos, [](double x) { return std::cos(x); }},
    {Intrinsic::Tan, [](double x) { return std::tan(x); }},
    {Intrinsic::Tanh, [](double x) { return std::tanh(x); }},
    {Intrinsic::Sigmoid, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
    {Intrinsic::Erf, [](double x) { return std::erf(x); }},
    {Intrinsic::Gelu, [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }},
    {Intrinsic::GeluTanh,
     [](double x) {
       constexpr double kInner = 0.79788456080286535588;  // sqrt(2 / pi)
       return 0.5 * x * (1 + std::tanh(kInner * (x + 0.044715 * x * x * x)));
     }},
    {Intrinsic::Floor, [](double x) { return std::floor(x); }},
    {Intrinsic::Ceil, [](double x) { return std::ceil(x); }},
    {Intrinsic::Trunc, [](double x) { return std::trunc(x); }},
    {Intrinsic::Round, [](double x) { return std::round(x); }},
    {Intrinsic::Nearbyint, [](double x) { return std::nearbyint(x); }},
};

double function_of_one(Intrinsic callee, DType type, double x) {
  if (type != DType::Float64)
    for (const SharedFunction& row : kSharedFunctions)
      if (row.callee == callee) return row.compute(static_cast<float>(x));
  return host_function(callee, x);
}

double two_argument_function(Intrinsic callee, double x, double y) {
  if (callee == Intrinsic::Pow) return std::pow(x, y);
  if (callee == Intrinsic::Fmod) return std::fmod(x, y);
  return std::copysign(x, y);
}

Word float_call(Intrinsic callee, DType type, std::span<const Word> args) {
  const double x = as_real(type, args[0]);
  switch (callee) {
    case Intrinsic::Isnan:
      return std::isnan(x) ? 1 : 0;
    case Intrinsic::Isinf:
      return std::isinf(x) ? 1 : 0;
    case Intrinsic::Isfinite:
      return std::isfinite(x) ? 1 : 0;
    case Intrinsic::Fma:
      return fused(type, args[0], args[1], args[2]);
    case Intrinsic::Abs:
      return args[0] & low_mask(num::bits_of(type) - 1);
    case Intrinsic::Pow:
    case Intrinsic::Fmod:
    case Intrinsic::Copysign:
      return from_real(type, two_argument_function(callee, x, as_real(type, args[1])));
    default:
      return from_real(type, function_of_one(callee, type, x));
  }
}

Word int_call(Intrinsic callee, DType type, std::span<const Word> args) {
  const int bits = num::bits_of(type);
  switch (callee) {
    case Intrinsic::Abs:
      return as_int(type, args[0]) < 0 && num::kind_of(type) == DTypeKind::Int
                 ? (Word{0} - args[0]) & low_mask(bits)
                 : args[0];
    case Intrinsic::Popcount:
      return static_cast<Word>(std::popcount(args[0]));
    case Intrinsic::Clz:
      return static_cast<Word>(std::countl_zero(args[0]) - (64 - bits));
    case Intrinsic::Fma:
      return fused(type, args[0], args[1], args[2]);
    case Intrinsic::Isnan:
    case Intrinsic::Isinf:
      return 0;
    case Intrinsic::Isfinite:
      return 1;
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Trunc:
    case Intrinsic::Round:
    case Intrinsic::Nearbyint:
      return args[0];
    default:
      WW_CHECK(false, "`{}` on integers", ir::facts_of(callee).name);
  }
  return 0;
}

}  // namespace

double host_function(Intrinsic callee, double x) {
  const auto* row = std::ranges::find(kHostFunctions, callee, &HostFunction::callee);
  WW_CHECK(row != std::end(kHostFunctions), "`{}` is not a function of one float",
           ir::facts_of(callee).name);
  return row->compute(x);
}

Word pure_call(Intrinsic callee, DType type, std::span<const Word> args) {
  if (ir::is_its_argument(callee)) return args[0];
  if (num::kind_of(type) == DTypeKind::Float) return float_call(callee, type, args);
  return int_call(callee, type, args);
}

}  // namespace ww::eval
