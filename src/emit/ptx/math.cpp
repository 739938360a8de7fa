// SPDX-License-Identifier: Apache-2.0
// Mathematics in float32; float16 and bfloat16 go through it. Where PTX has an approximation, the
// error is that of the instruction on the hardware (ulp: units in the last place of the result):
//
//   exp2                 ex2.approx                               2 ulp
//   exp, exp10           2^j times ex2.approx of the rest         3 ulp
//   log2, log, log10     lg2.approx                               absolute 2^-22 near 1, else 2 ulp
//   log1p                log with Kahan's correction              as log
//   expm1                from tanh(x / 2) up to 1, else from exp  6 ulp
//   sqrt                 sqrt.rn                                  exact rounding
//   rsqrt                rsqrt.approx                             2 ulp
//   sin, cos             angle reduced to ±π, then .approx        absolute 2^-20.5, |x| < 10^5
//   tan                  sin / cos                                as those
//   tanh                 polynomial below 0.55, else from exp     2 ulp
//   sigmoid              1 / (1 + exp(-x))                        4 ulp
//   erf                  two polynomials, the outer one with exp  2 ulp
//   gelu                 x / 2 · (1 + erf(x / √2))                absolute |x| · 2^-22
//   gelu_tanh            x · sigmoid of twice the argument        absolute |x| · 2^-21
//   pow                  ex2(y · lg2 |x|)                         relative 2^-22 · |y · log2 x|
//   fmod                 in float64                               exact
//   floor … nearbyint, copysign, abs, isnan …                     exact
//
// float64 has those of them that need no approximation.
#include "emit/ptx/math.h"

#include <array>
#include <limits>
#include <numbers>

#include "emit/ptx/casts.h"
#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"

namespace ww::emit::to_ptx {
namespace {

constexpr float kLog2E = std::numbers::log2e_v<float>;
constexpr float kLn2 = std::numbers::ln2_v<float>;

constexpr float kLog2Of10 = 3.32192809F;
constexpr float kLog10Of2 = 0.30102999F;

std::string_view rounding_word(Intrinsic callee) {
  return word_for(callee,
                  {{Intrinsic::Floor, "rmi"}, {Intrinsic::Ceil, "rpi"}, {Intrinsic::Trunc, "rzi"}},
                  "rni");
}

// --- instructions --------------------------------------------------------------------------------

Value f32(Context& c, std::string_view opcode, std::vector<Arg> args) {
  return c.code.pure(opcode, Class::R, std::move(args));
}
Value f64(Context& c, std::string_view opcode, std::vector<Arg> args) {
  return c.code.pure(opcode, Class::Rd, std::move(args));
}
Value test(Context& c, std::string_view opcode, Value a, Value b) {
  return c.code.pure(opcode, Class::P, {a, b});
}
Value add32(Context& c, Value a, Value b) { return f32(c, "add.rn.f32", {a, b}); }
Value mul32(Context& c, Value a, Value b) { return f32(c, "mul.rn.f32", {a, b}); }
Value fma32(Context& c, Value a, Value b, Value addend) {
  return f32(c, "fma.rn.f32", {a, b, addend});
}

// Horner's rule, highest power first.
Value polynomial(Context& c, Value x, std::span<const float> coefficients) {
  Value out = c.code.in_register(f32_value(coefficients[0]));
  for (const float factor : coefficients.subspan(1)) out = fma32(c, out, x, f32_value(factor));
  return out;
}

// --- functions of float32 ------------------------------------------------------------------------

// base^x is 2^j · base^(x - j · log_base 2) with j the whole number nearest to x · log2 base. The
// power of two is applied in two halves, since all of it may overflow where the result does not.
Value exponential(Context& c, Value x, float log2_base, float high, float low) {
  const Value product32 = mul32(c, x, f32_value(log2_base));
  const Value bounded =
      f32(c, "max.f32", {f32(c, "min.f32", {product32, f32_value(160)}), f32_value(-160)});
  const Value j = f32(c, "cvt.rni.f32.f32", {bounded});
  const Value rest = fma32(c, j, f32_value(-low), fma32(c, j, f32_value(-high), x));
  const Value power = f32(c, "ex2.approx.f32", {mul32(c, rest, f32_value(log2_base))});
  const Value half = f32(c, "cvt.rzi.f32.f32", {mul32(c, j, f32_value(0.5F))});
  const Value other = f32(c, "sub.rn.f32", {j, half});
  // One after the other: compilers choose the order of arguments.
  const Value scaled = mul32(c, power, f32(c, "ex2.approx.f32", {half}));
  const Value rest_of_scale = f32(c, "ex2.approx.f32", {other});
  return mul32(c, scaled, rest_of_scale);
}

Value exp32(Context& c, Value x) { return exponential(c, x, kLog2E, 0.693145752F, 1.42860677e-6F); }

// log(1 + x): the error of 1 + x is made up for by x / ((1 + x) - 1).
Value log1p32(Context& c, Value x) {
  const Value u = add32(c, x, f32_value(1));
  const Value log = mul32(c, f32(c, "lg2.approx.f32", {u}), f32_value(kLn2));
  const Value back = f32(c, "sub.rn.f32", {u, f32_value(1)});
  const Value fixed = mul32(c, log, f32(c, "div.rn.f32", {x, back}));
  const Value is_tiny = test(c, "setp.eq.f32", u, f32_value(1));
  const Value is_far = test(c, "setp.equ.f32", back, x);
  return choose(c, is_tiny, x, choose(c, is_far, log, fixed));
}

// x - 2πk, 2π in three parts of which the first two have few enough bits that k times them is
// exact.
Value reduced_angle(Context& c, Value x) {
  const Value k = f32(c, "cvt.rni.f32.f32", {mul32(c, x, f32_value(0.159154943F))});
  const Value first = fma32(c, k, f32_value(-6.28125F), x);
  const Value second = fma32(c, k, f32_value(-0.00193500519F), first);
  return fma32(c, k, f32_value(-3.01991605e-7F), second);
}

// tanh of what is less than 0.55.
Value small_tanh(Context& c, Value x) {
  constexpr std::array kInner = {1.57394409e-2F, -5.23025580e-2F, 1.33152977e-1F, -3.33327681e-1F};
  const Value square = mul32(c, x, x);
  return fma32(c, mul32(c, polynomial(c, square, kInner), square), x, x);
}

Value tanh32(Context& c, Value x) {
  const Value size = f32(c, "abs.f32", {x});
  const Value power = exp32(c, mul32(c, size, f32_value(2)));
  const Value part = f32(c, "rcp.rn.f32", {add32(c, power, f32_value(1))});
  const Value outer = f32(c, "copysign.f32", {x, fma32(c, part, f32_value(-2), f32_value(1))});
  const Value inner = small_tanh(c, x);
  const Value is_inner = test(c, "setp.lt.f32", size, f32_value(0.55F));
  return choose(c, is_inner, inner, outer);
}

// exp(x) - 1 is 2t / (1 - t) with t = tanh(x / 2): nothing cancels near 0.
Value expm1_32(Context& c, Value x) {
  const Value t = small_tanh(c, mul32(c, x, f32_value(0.5F)));
  const Value below = f32(c, "sub.rn.f32", {f32_value(1), t});
  const Value inner = f32(c, "div.rn.f32", {add32(c, t, t), below});
  const Value outer = add32(c, exp32(c, x), f32_value(-1));
  const Value size = f32(c, "abs.f32", {x});
  return choose(c, test(c, "setp.lt.f32", size, f32_value(1)), inner, outer);
}

Value erf32(Context& c, Value x) {
  const Value size = f32(c, "abs.f32", {x});
  const Value square = mul32(c, x, x);
  const Value even = fma32(c, size, f32_value(-1.72853470e-5F), f32_value(3.83197126e-4F));
  const Value odd = fma32(c, size, f32_value(-3.88396438e-3F), f32_value(2.42546219e-2F));
  Value log = fma32(c, even, square, odd);
  for (const float factor : {-1.06777877e-1F, -6.34846687e-1F, -1.28717512e-1F})
    log = fma32(c, log, size, f32_value(factor));
  log = fma32(c, log, size, f32(c, "neg.f32", {size}));
  const Value tail = exp32(c, log);
  const Value outer = f32(c, "copysign.f32", {x, f32(c, "sub.rn.f32", {f32_value(1), tail})});
  constexpr std::array kInner = {-5.96761703e-4F, 4.99119423e-3F,  -2.67681349e-2F,
                                 1.12819925e-1F,  -3.76125336e-1F, 1.28379166e-1F};
  const Value inner = fma32(c, polynomial(c, square, kInner), x, x);
  const Value is_outer = test(c, "setp.gt.f32", size, f32_value(0.927734375F));
  return choose(c, is_outer, outer, inner);
}

Value gelu32(Context& c, Value x) {
  const Value half = mul32(c, x, f32_value(0.5F));
  return fma32(c, half, erf32(c, mul32(c, x, f32_value(0.707106781F))), half);
}

// 1 + tanh(u) is 2 / (1 + exp(-2u)), with u = √(2/π) · (x + 0.044715 x³).
Value gelu_tanh32(Context& c, Value x) {
  const Value square = mul32(c, x, x);
  const Value factor = fma32(c, square, f32_value(-0.0713548163F), f32_value(-1.59576912F));
  const Value power = exp32(c, mul32(c, x, factor));
  return f32(c, "div.rn.f32", {x, add32(c, power, f32_value(1))});
}

// |x|^y, with the sign of x where y is odd; NaN where x is negative and y no whole number.
Value pow32(Context& c, Value x, Value y) {
  const Value zero = f32_value(0);
  const Value size = f32(c, "abs.f32", {x});
  const Value power = f32(c, "ex2.approx.f32", {mul32(c, y, f32(c, "lg2.approx.f32", {size}))});
  const Value half = mul32(c, y, f32_value(0.5F));
  const Value whole = test(c, "setp.eq.f32", f32(c, "cvt.rzi.f32.f32", {y}), y);
  const Value even = test(c, "setp.eq.f32", f32(c, "cvt.rzi.f32.f32", {half}), half);
  const Value odd = bool_op(c, ExprOp::And, whole, negated(c, even));
  const Value is_negative = test(c, "setp.lt.f32", x, zero);
  const Value with_sign = choose(c, odd, f32(c, "copysign.f32", {x, power}), power);
  const Value is_bad = bool_op(c, ExprOp::And, is_negative, negated(c, whole));
  const Value result = choose(c, is_bad, int_value(0x7fffffff), with_sign);
  const Value is_no_power = test(c, "setp.eq.f32", y, zero);
  const Value is_of_one = test(c, "setp.eq.f32", x, f32_value(1));
  return choose(c, bool_op(c, ExprOp::Or, is_no_power, is_of_one), f32_value(1), result);
}

// --- remainders ---------------------------------------------------------------------------------

// The field of a float64, with its bias.
Value exponent64(Context& c, Value of) {
  const Value high = c.code.pure_vector("mov.b64", Class::R, 2, {of})[1];
  return c.code.pure("bfe.u32", Class::R, {high, int_value(20), int_value(11)});
}

// 2^k · x for k from 0 to 2046, in two factors.
Value scaled64(Context& c, Value x, Value k, Value zero) {
  const auto power_of_two = [&](Value exponent) {
    const Value biased = c.code.pure("add.s32", Class::R, {exponent, int_value(1023)});
    const Value high = c.code.pure("shl.b32", Class::R, {biased, int_value(20)});
    return f64(c, "mov.b64", {vector_arg({zero, high})});
  };
  const Value half = c.code.pure("shr.s32", Class::R, {k, int_value(1)});
  const Value other = c.code.pure("sub.s32", Class::R, {k, half});
  return f64(c, "mul.rn.f64", {f64(c, "mul.rn.f64", {x, power_of_two(half)}), power_of_two(other)});
}

// The exponent of y, which is scaled up first where it is subnormal.
Value divisor_exponent(Context& c, Value y) {
  constexpr std::int64_t kUp = 54;
  const Value field = exponent64(c, y);
  const Value scaled_up = f64(c, "mul.rn.f64", {y, f64_value(0x1p54)});
  const Value below = c.code.pure("sub.s32", Class::R, {exponent64(c, scaled_up), int_value(kUp)});
  return choose(c, test(c, "setp.eq.s32", field, int_value(0)), below, field);
}

// What is left of x when y is taken away as often as it goes: by 2^k · y at a time, with k such
// that the quotient has no more bits than a float64. It is cut, so that the rest is never below
// zero, and the rest has no bits below those of y, so that it is exact. NaN ends the loop as well.
Value fmod64(Context& c, Value x, Value y) {
  constexpr std::int64_t kBits = 51;  // of a quotient, one to spare
  constexpr std::int64_t kMax = 2046;
  const Value by = f64(c, "abs.f64", {y});
  const Value by_exponent = divisor_exponent(c, by);
  const Value rest = c.code.new_variable(Class::Rd);
  c.code.add("abs.f64", {rest, x});
  c.code.touch(rest);
  // Before the loop, which not all threads enter: the next fmod finds it there.
  const Value zero = c.code.in_register(int_value(0));
  const std::string again = c.code.new_label("again");
  const std::string end = c.code.new_label("end");
  c.code.add_label(again);
  const Value is_less = c.code.new_register(Class::P);
  c.code.add("setp.ltu.f64", {is_less, rest, by});
  c.code.jump(end, {is_less});
  const Value apart = c.code.pure("sub.s32", Class::R, {exponent64(c, rest), by_exponent});
  Value k = c.code.pure("sub.s32", Class::R, {apart, int_value(kBits)});
  k = c.code.pure("min.s32", Class::R, {k, int_value(kMax)});
  k = c.code.pure("max.s32", Class::R, {k, int_value(0)});
  const Value step = scaled64(c, by, k, zero);
  const Value times = f64(c, "cvt.rzi.f64.f64", {f64(c, "div.rz.f64", {rest, step})});
  c.code.add("fma.rn.f64", {rest, f64(c, "neg.f64", {times}), step, rest});
  c.code.touch(rest);
  c.code.jump(again);
  c.code.add_label(end);
  const Value is_nan = test(c, "setp.nan.f64", rest, y);
  const Value nan = int_value(std::numeric_limits<std::int64_t>::max(), Class::Rd);
  return choose(c, is_nan, nan, f64(c, "copysign.f64", {x, rest}));
}

// --- rounding -----------------------------------------------------------------------------------

// Halves go away from zero: the greatest number below a half is added before cutting.
Value round_away(Context& c, DType type, Value x) {
  const bool is_double = type == DType::Float64;
  const std::string suffix = is_double ? "f64" : "f32";
  const Class cls = is_double ? Class::Rd : Class::R;
  const Value half =
      c.code.in_register(is_double ? f64_value(0.49999999999999994) : f32_value(0.49999997F));
  const Value signed_half = c.code.pure("copysign." + suffix, cls, {x, half});
  const Value moved = c.code.pure("add.rn." + suffix, cls, {x, signed_half});
  return c.code.pure(fmt::format("cvt.rzi.{}.{}", suffix, suffix), cls, {moved});
}

// --- choice --------------------------------------------------------------------------------------

Value without_sign(Context& c, DType type, Value x) {
  const std::int64_t mask = (std::int64_t{1} << (num::bits_of(type) - 1)) - 1;
  return c.code.pure(fmt::format("and.{}", type_of(class_of(type))), class_of(type),
                     {c.code.in_register(x), int_value(mask, class_of(type))});
}

Value classify(Context& c, Intrinsic callee, DType type, Value x) {
  const std::string_view what = callee == Intrinsic::Isnan   ? "notanumber"
                                : callee == Intrinsic::Isinf ? "infinite"
                                                             : "finite";
  const bool is_double = type == DType::Float64;
  return c.code.pure(fmt::format("testp.{}.{}", what, is_double ? "f64" : "f32"), Class::P,
                     {is_double ? c.code.in_register(x) : to_f32(c, x, type)});
}

Value refuse_function(Context& c, Intrinsic callee, DType type, Value x) {
  refuse(c, "`T.{}` of `{}` has no PTX instruction (use `--emit cuda`)", ir::facts_of(callee).name,
         num::name_of(type));
  return x;
}

Value math32(Context& c, Intrinsic callee, std::span<const Value> args) {
  const Value x = args[0];
  switch (callee) {
    case Intrinsic::Exp:
      return exp32(c, x);
    case Intrinsic::Exp10:
      return exponential(c, x, kLog2Of10, 0.301029205F, 7.90341716e-7F);
    case Intrinsic::Exp2:
      return f32(c, "ex2.approx.f32", {x});
    case Intrinsic::Log2:
      return f32(c, "lg2.approx.f32", {x});
    case Intrinsic::Log:
      return mul32(c, f32(c, "lg2.approx.f32", {x}), f32_value(kLn2));
    case Intrinsic::Log10:
      return mul32(c, f32(c, "lg2.approx.f32", {x}), f32_value(kLog10Of2));
    case Intrinsic::Log1p:
      return log1p32(c, x);
    case Intrinsic::Expm1:
      return expm1_32(c, x);
    case Intrinsic::Sqrt:
      return f32(c, "sqrt.rn.f32", {x});
    case Intrinsic::Rsqrt:
      return f32(c, "rsqrt.approx.f32", {x});
    case Intrinsic::Sin:
      return f32(c, "sin.approx.f32", {reduced_angle(c, x)});
    case Intrinsic::Cos:
      return f32(c, "cos.approx.f32", {reduced_angle(c, x)});
    case Intrinsic::Tan: {
      const Value angle = reduced_angle(c, x);
      return f32(c, "div.rn.f32",
                 {f32(c, "sin.approx.f32", {angle}), f32(c, "cos.approx.f32", {angle})});
    }
    case Intrinsic::Tanh:
      return tanh32(c, x);
    case Intrinsic::Sigmoid: {
      const Value minus = f32(c, "neg.f32", {x});
      const Value power = exp32(c, minus);
      return f32(c, "rcp.rn.f32", {add32(c, power, f32_value(1))});
    }
    case Intrinsic::Erf:
      return erf32(c, x);
    case Intrinsic::Gelu:
      return gelu32(c, x);
    case Intrinsic::GeluTanh:
      return gelu_tanh32(c, x);
    case Intrinsic::Pow:
      return pow32(c, x, args[1]);
    case Intrinsic::Fmod: {
      const Value a = c.code.pure("cvt.f64.f32", Class::Rd, {x});
      const Value b = c.code.pure("cvt.f64.f32", Class::Rd, {args[1]});
      return f32(c, "cvt.rn.f32.f64", {fmod64(c, a, b)});
    }
    case Intrinsic::Copysign:
      return f32(c, "copysign.f32", {args[1], x});
    case Intrinsic::Abs:
      return f32(c, "abs.f32", {x});
    case Intrinsic::Round:
      return round_away(c, DType::Float32, x);
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Trunc:
    case Intrinsic::Nearbyint:
      return f32(c, fmt::format("cvt.{}.f32.f32", rounding_word(callee)), {x});
    default:
      return refuse_function(c, callee, DType::Float32, x);
  }
}

Value math64(Context& c, Intrinsic callee, std::span<const Value> args) {
  const Value x = args[0];
  switch (callee) {
    case Intrinsic::Sqrt:
      return f64(c, "sqrt.rn.f64", {x});
    case Intrinsic::Rsqrt:
      return f64(c, "rcp.rn.f64", {f64(c, "sqrt.rn.f64", {x})});
    case Intrinsic::Abs:
      return f64(c, "abs.f64", {x});
    case Intrinsic::Copysign:
      return f64(c, "copysign.f64", {args[1], x});
    case Intrinsic::Fmod:
      return fmod64(c, x, args[1]);
    case Intrinsic::Round:
      return round_away(c, DType::Float64, x);
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Trunc:
    case Intrinsic::Nearbyint:
      return f64(c, fmt::format("cvt.{}.f64.f64", rounding_word(callee)), {x});
    default:
      return refuse_function(c, callee, DType::Float64, x);
  }
}

}  // namespace

Value float_call(Context& c, Intrinsic callee, DType type, std::span<const Value> args) {
  if (callee == Intrinsic::Isnan || callee == Intrinsic::Isinf || callee == Intrinsic::Isfinite)
    return classify(c, callee, type, args[0]);
  if (callee == Intrinsic::Fma) return fused(c, type, args[0], args[1], args[2]);
  const bool is_narrow = num::bits_of(type) < 32;
  if (is_narrow && callee == Intrinsic::Abs) return without_sign(c, type, args[0]);
  if (is_narrow && callee == Intrinsic::Copysign) {
    const std::int64_t sign = std::int64_t{1} << (num::bits_of(type) - 1);
    const std::string word(type_of(class_of(type)));
    return c.code.pure(
        "or." + word, class_of(type),
        {without_sign(c, type, args[0]),
         c.code.pure("and." + word, class_of(type),
                     {c.code.in_register(args[1]), int_value(sign, class_of(type))})});
  }
  std::vector<Value> own;
  for (const Value& arg : args)
    own.push_back(type == DType::Float64 ? c.code.in_register(arg) : to_f32(c, arg, type));
  if (type == DType::Float64) return math64(c, callee, own);
  return from_f32(c, math32(c, callee, own), type);
}

}  // namespace ww::emit::to_ptx
