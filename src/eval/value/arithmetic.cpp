// SPDX-License-Identifier: Apache-2.0
#include "eval/value/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "num/approx.h"
#include "num/float_format.h"
#include "num/fma.h"

namespace ww::eval {
namespace {

using ir::ExprOp;
using num::DType;
using num::DTypeKind;

constexpr std::uint32_t kNan32 = 0x7fffffffU;
constexpr Word kNan64 = 0x7fffffffffffffffU;

Word bits_of_f32(float value) {
  return std::isnan(value) ? kNan32 : std::bit_cast<std::uint32_t>(value);
}
Word bits_of_f64(double value) { return std::isnan(value) ? kNan64 : std::bit_cast<Word>(value); }
float f32_of(Word bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
double f64_of(Word bits) { return std::bit_cast<double>(bits); }

// A magnitude as a double whose last bit says whether anything was cut off.
double round_to_odd(std::uint64_t magnitude) {
  const int extra =
      static_cast<int>(std::bit_width(magnitude)) - std::numeric_limits<double>::digits;
  if (extra <= 0) return static_cast<double>(magnitude);
  const std::uint64_t kept = magnitude >> extra;
  const bool is_inexact = (kept << extra) != magnitude;
  return std::ldexp(static_cast<double>(kept | (is_inexact ? 1U : 0U)), extra);
}

std::int64_t truncate(double value, double low, double high, std::int64_t min, std::int64_t max) {
  if (std::isnan(value)) return 0;
  if (value <= low) return min;
  if (value >= high) return max;
  return static_cast<std::int64_t>(value);
}

Word int_from_real(DType type, double value) {
  const int bits = num::bits_of(type);
  if (num::kind_of(type) == DTypeKind::Int) {
    const double high = std::ldexp(1.0, bits - 1);
    const auto max = static_cast<std::int64_t>(low_mask(bits - 1));
    return static_cast<Word>(truncate(value, -high, high, -max - 1, max)) & low_mask(bits);
  }
  if (std::isnan(value) || value <= 0) return 0;
  if (value >= std::ldexp(1.0, bits)) return low_mask(bits);
  return static_cast<Word>(value);
}

// --- integers ------------------------------------------------------------------------------------

template <typename Step>
void each(std::span<const Word> a, std::span<const Word> b, std::span<Word> out, Step step) {
  if (b.size() == 1) {
    const Word right = b[0];
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = step(a[i], right);
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = step(a[i], b[i]);
}

Word divide_signed(ExprOp op, std::int64_t a, std::int64_t b) {
  const bool is_modulo = op == ExprOp::FloorMod || op == ExprOp::TruncMod;
  if (b == 0) return is_modulo ? static_cast<Word>(a) : ~Word{0};
  if (b == -1) return is_modulo ? 0 : Word{0} - static_cast<Word>(a);  // INT_MIN / -1 wraps
  const bool is_floor = op == ExprOp::FloorDiv || op == ExprOp::FloorMod;
  const bool is_off = is_floor && a % b != 0 && (a < 0) != (b < 0);
  return static_cast<Word>(is_modulo ? a % b + (is_off ? b : 0) : a / b - (is_off ? 1 : 0));
}

Word divide_unsigned(ExprOp op, Word a, Word b) {
  const bool is_modulo = op == ExprOp::FloorMod || op == ExprOp::TruncMod;
  if (b == 0) return is_modulo ? a : ~Word{0};
  return is_modulo ? a % b : a / b;
}

Word shift(ExprOp op, int bits, bool is_signed, Word a, std::int64_t extended, Word by) {
  const bool is_beyond = by >= static_cast<Word>(bits);
  if (op == ExprOp::Shl) return is_beyond ? 0 : a << by;
  if (is_signed) return static_cast<Word>(extended >> (is_beyond ? 63 : by));
  return is_beyond ? 0 : a >> by;
}

bool compare(ExprOp op, auto a, auto b) {
  switch (op) {
    case ExprOp::Eq:
      return a == b;
    case ExprOp::Ne:
      return a != b;
    case ExprOp::Lt:
      return a < b;
    case ExprOp::Le:
      return a <= b;
    case ExprOp::Gt:
      return a > b;
    default:
      return a >= b;
  }
}

bool is_compare(ExprOp op) { return ir::group_of(op) == ir::ExprGroup::Compare; }

// Rare or slow operators, one element at a time.
inline Word int_step(ExprOp op, DType type, bool is_signed, IntReader read, Word a, Word b) {
  const std::int64_t x = read(a);
  const std::int64_t y = read(b);
  if (is_compare(op)) return is_signed ? compare(op, x, y) : compare(op, a, b);
  switch (op) {
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
    case ExprOp::TruncDiv:
    case ExprOp::TruncMod:
      return is_signed ? divide_signed(op, x, y) : divide_unsigned(op, a, b);
    case ExprOp::Min:
      return (is_signed ? x < y : a < b) ? a : b;
    case ExprOp::Max:
      return (is_signed ? x > y : a > b) ? a : b;
    case ExprOp::Shl:
    case ExprOp::Shr:
      return shift(op, num::bits_of(type), is_signed, a, x, b);
    default:
      WW_CHECK(false, "`{}` on integers", ir::name_of(op));
  }
  return 0;
}

void int_binary(ExprOp op, DType type, std::span<const Word> a, std::span<const Word> b,
                std::span<Word> out) {
  const Word mask = type == DType::Bool ? 1 : low_mask(num::bits_of(type));
  switch (op) {
    case ExprOp::Add:
      return each(a, b, out, [mask](Word x, Word y) { return (x + y) & mask; });
    case ExprOp::Sub:
      return each(a, b, out, [mask](Word x, Word y) { return (x - y) & mask; });
    case ExprOp::Mul:
      return each(a, b, out, [mask](Word x, Word y) { return (x * y) & mask; });
    case ExprOp::BitAnd:
    case ExprOp::And:
      return each(a, b, out, [](Word x, Word y) { return x & y; });
    case ExprOp::BitOr:
    case ExprOp::Or:
      return each(a, b, out, [](Word x, Word y) { return x | y; });
    case ExprOp::BitXor:
      return each(a, b, out, [](Word x, Word y) { return x ^ y; });
    case ExprOp::Eq:
      return each(a, b, out, [](Word x, Word y) { return Word{x == y}; });
    case ExprOp::Ne:
      return each(a, b, out, [](Word x, Word y) { return Word{x != y}; });
    default: {
      const IntReader read(type);
      const bool is_signed = num::kind_of(type) == DTypeKind::Int;
      return each(a, b, out,
                  [=](Word x, Word y) { return int_step(op, type, is_signed, read, x, y) & mask; });
    }
  }
}

// --- floats --------------------------------------------------------------------------------------

// The number that is not NaN wins, as in PTX; of two zeros the positive one is the greater.
template <typename T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T>
T greater(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

template <typename T>
T float_step(ExprOp op, T a, T b) {
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
      return smaller(a, b);
    case ExprOp::Max:
      return greater(a, b);
    case ExprOp::FloorDiv:
      return std::floor(a / b);
    case ExprOp::FloorMod:
      return a - std::floor(a / b) * b;
    case ExprOp::TruncDiv:
      return std::trunc(a / b);
    case ExprOp::TruncMod:
      return std::fmod(a, b);
    default:
      WW_CHECK(false, "`{}` on floats", ir::name_of(op));
  }
  return 0;
}

// A double holds sums and products of the narrow formats with so many bits to spare that rounding
// twice gives what rounding once would.
void float_binary(ExprOp op, DType type, std::span<const Word> a, std::span<const Word> b,
                  std::span<Word> out) {
  if (is_compare(op)) {
    each(a, b, out,
         [&](Word x, Word y) { return Word{compare(op, as_real(type, x), as_real(type, y))}; });
  } else if (type == DType::Float32) {
    each(a, b, out,
         [op](Word x, Word y) { return bits_of_f32(float_step(op, f32_of(x), f32_of(y))); });
  } else if (type == DType::Float64) {
    each(a, b, out,
         [op](Word x, Word y) { return bits_of_f64(float_step(op, f64_of(x), f64_of(y))); });
  } else {
    each(a, b, out, [&](Word x, Word y) {
      return from_real(type, float_step(op, num::decode(type, x), num::decode(type, y)));
    });
  }
}

}  // namespace

std::int64_t as_int(DType type, Word bits) { return IntReader(type)(bits); }

double as_real(DType type, Word bits) {
  switch (num::kind_of(type)) {
    case DTypeKind::Float:
      if (type == DType::Float32) return f32_of(bits);
      if (type == DType::Float64) return f64_of(bits);
      return num::decode(type, bits);
    case DTypeKind::Int: {
      const std::int64_t value = as_int(type, bits);
      const auto magnitude = static_cast<std::uint64_t>(value);
      return value < 0 ? -round_to_odd(std::uint64_t{0} - magnitude) : round_to_odd(magnitude);
    }
    case DTypeKind::Uint:
      return round_to_odd(bits);
    case DTypeKind::Bool:
      return bits != 0 ? 1 : 0;
  }
  return 0;
}

Word from_real(DType type, double value) {
  if (type == DType::Bool) return value != 0 ? 1 : 0;
  if (num::kind_of(type) != DTypeKind::Float) return int_from_real(type, value);
  if (type == DType::Float64) return bits_of_f64(value);
  const bool is_narrow = num::bits_of(type) <= 8;
  return num::encode(type, value, num::Rounding::NearestEven,
                     is_narrow ? num::Overflow::Saturate : num::Overflow::Ieee);
}

Word from_int(DType type, std::int64_t value) {
  if (type == DType::Bool) return value != 0 ? 1 : 0;
  if (num::kind_of(type) == DTypeKind::Float)
    return convert(DType::Int64, type, static_cast<Word>(value));
  return static_cast<Word>(value) & low_mask(num::bits_of(type));
}

Word convert(DType from, DType to, Word bits) {
  if (from == to) return bits;
  const bool from_float = num::kind_of(from) == DTypeKind::Float;
  if (!from_float && num::kind_of(to) != DTypeKind::Float) return from_int(to, as_int(from, bits));
  if (to == DType::Float64 && from == DType::Int64)
    return bits_of_f64(static_cast<double>(as_int(from, bits)));
  if (to == DType::Float64 && from == DType::Uint64) return bits_of_f64(static_cast<double>(bits));
  return from_real(to, as_real(from, bits));
}

void binary(ExprOp op, DType type, std::span<const Word> a, std::span<const Word> b,
            std::span<Word> out) {
  if (num::kind_of(type) == DTypeKind::Float)
    float_binary(op, type, a, b, out);
  else
    int_binary(op, type, a, b, out);
}

void unary(ExprOp op, DType type, std::span<const Word> a, std::span<Word> out) {
  const Word mask = low_mask(num::bits_of(type));
  const bool is_float = num::kind_of(type) == DTypeKind::Float;
  const Word sign = is_float ? Word{1} << (num::bits_of(type) - 1) : 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (op == ExprOp::Not)
      out[i] = a[i] == 0 ? 1 : 0;
    else if (op == ExprOp::BitNot)
      out[i] = type == DType::Bool ? (a[i] == 0 ? 1 : 0) : ~a[i] & mask;
    else
      out[i] = is_float ? a[i] ^ sign : (Word{0} - a[i]) & mask;
  }
}

Word fused(DType type, Word a, Word b, Word c) {
  if (num::kind_of(type) != DTypeKind::Float) return (a * b + c) & low_mask(num::bits_of(type));
  if (type == DType::Float32) return bits_of_f32(std::fma(f32_of(a), f32_of(b), f32_of(c)));
  if (type == DType::Float64) return bits_of_f64(num::fma_f64(f64_of(a), f64_of(b), f64_of(c)));
  // The product is exact; the sum is rounded to odd, so that rounding it again is harmless.
  const double product = num::decode(type, a) * num::decode(type, b);
  const double addend = num::decode(type, c);
  const double sum = product + addend;
  const double back = sum - product;
  const double rest = (product - (sum - back)) + (addend - back);
  if (rest == 0 || !std::isfinite(sum) || !std::isfinite(rest)) return from_real(type, sum);
  const bool is_even = (std::bit_cast<Word>(sum) & 1) == 0;
  if (!is_even) return from_real(type, sum);
  const double toward =
      rest > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  return from_real(type, std::nextafter(sum, toward));
}

// --- functions -----------------------------------------------------------------------------------
//
// Mathematical functions. The result is computed in double and rounded once. Where num/approx.h has
// the function, it is used for everything up to single precision: it gives the same on every host.

namespace {

using ir::Intrinsic;

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
