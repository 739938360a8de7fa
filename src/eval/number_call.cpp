// SPDX-License-Identifier: Apache-2.0
// Mathematical functions. The result is computed in double and rounded once. Where num/approx.h has
// the function, it is used for everything up to single precision: it gives the same on every host.
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "eval/number.h"
#include "num/approx.h"
#include "num/float_format.h"

namespace ww::eval {
namespace {

using ir::Intrinsic;
using num::DType;
using num::DTypeKind;

double shared_function(Intrinsic callee, float x) {
  switch (callee) {
    case Intrinsic::Exp2:
      return num::ex2(x);
    case Intrinsic::Log2:
      return num::lg2(x);
    case Intrinsic::Sin:
      return num::sin_of(x);
    case Intrinsic::Cos:
      return num::cos_of(x);
    default:
      return num::tanh_of(x);
  }
}

bool has_shared_function(Intrinsic callee) {
  return callee == Intrinsic::Exp2 || callee == Intrinsic::Log2 || callee == Intrinsic::Sin ||
         callee == Intrinsic::Cos || callee == Intrinsic::Tanh;
}

double host_function(Intrinsic callee, double x) {
  switch (callee) {
    case Intrinsic::Exp:
      return std::exp(x);
    case Intrinsic::Exp2:
      return std::exp2(x);
    case Intrinsic::Exp10:
      return std::pow(10.0, x);
    case Intrinsic::Log:
      return std::log(x);
    case Intrinsic::Log2:
      return std::log2(x);
    case Intrinsic::Log10:
      return std::log10(x);
    case Intrinsic::Log1p:
      return std::log1p(x);
    case Intrinsic::Sqrt:
      return std::sqrt(x);
    case Intrinsic::Rsqrt:
      return 1.0 / std::sqrt(x);
    case Intrinsic::Sin:
      return std::sin(x);
    case Intrinsic::Cos:
      return std::cos(x);
    case Intrinsic::Tan:
      return std::tan(x);
    case Intrinsic::Tanh:
      return std::tanh(x);
    case Intrinsic::Sigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case Intrinsic::Erf:
      return std::erf(x);
    case Intrinsic::Floor:
      return std::floor(x);
    case Intrinsic::Ceil:
      return std::ceil(x);
    case Intrinsic::Trunc:
      return std::trunc(x);
    case Intrinsic::Round:
      return std::round(x);
    case Intrinsic::Nearbyint:
      return std::nearbyint(x);
    default:
      WW_CHECK(false, "`{}` is no function of one float", ir::facts_of(callee).name);
  }
  return 0;
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
      break;
  }
  if (type != DType::Float64 && has_shared_function(callee))
    return from_real(type, shared_function(callee, static_cast<float>(x)));
  return from_real(type, host_function(callee, x));
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

Word pure_call(Intrinsic callee, DType type, std::span<const Word> args) {
  if (callee == Intrinsic::Likely) return args[0];
  if (num::kind_of(type) == DTypeKind::Float) return float_call(callee, type, args);
  return int_call(callee, type, args);
}

}  // namespace ww::eval
