// SPDX-License-Identifier: Apache-2.0
// Mathematics in float32; float16 and bfloat16 go through it. Where PTX has an approximation, the
// error is that of the instruction on the hardware (ulp: units in the last place of the result):
//
//   exp2                 ex2.approx                               2 ulp
//   exp, exp10           2^j times ex2.approx of the rest         3 ulp
//   log2, log, log10     lg2.approx                               absolute 2^-22 near 1, else 2 ulp
//   log1p                log with Kahan's correction              as log
//   sqrt                 sqrt.rn                                  exact rounding
//   rsqrt                rsqrt.approx                             2 ulp
//   sin, cos             angle reduced to ±π, then .approx        absolute 2^-20.5, |x| < 10^5
//   tan                  sin / cos                                as those
//   tanh                 polynomial below 0.55, else from exp     2 ulp
//   sigmoid              1 / (1 + exp(-x))                        4 ulp
//   erf                  two polynomials, the outer one with exp  2 ulp
//   pow                  ex2(y · lg2 |x|)                         relative 2^-22 · |y · log2 x|
//   fmod                 in float64                               exact
//   floor … nearbyint, copysign, abs, isnan …                     exact
//
// float64 has those of them that need no approximation.
#include <array>
#include <limits>
#include <numbers>

#include "emit/ptx/emitter.h"

namespace ww::emit::to_ptx {
namespace {

constexpr float kLog2E = std::numbers::log2e_v<float>;
constexpr float kLn2 = std::numbers::ln2_v<float>;
constexpr float kLog2Of10 = 3.32192809F;
constexpr float kLog10Of2 = 0.30102999F;

std::string_view rounding_word(Intrinsic callee) {
  switch (callee) {
    case Intrinsic::Floor:
      return "rmi";
    case Intrinsic::Ceil:
      return "rpi";
    case Intrinsic::Trunc:
      return "rzi";
    default:
      return "rni";
  }
}

}  // namespace

// --- instructions --------------------------------------------------------------------------------

Value Emitter::f32(std::string_view opcode, std::vector<Arg> args) {
  return code_.pure(std::string(opcode), Class::R, std::move(args));
}
Value Emitter::add32(Value a, Value b) { return f32("add.rn.f32", {a, b}); }
Value Emitter::mul32(Value a, Value b) { return f32("mul.rn.f32", {a, b}); }
Value Emitter::fma32(Value a, Value b, Value c) { return f32("fma.rn.f32", {a, b, c}); }

// Horner's rule, highest power first.
Value Emitter::polynomial(Value x, std::span<const float> coefficients) {
  Value out = code_.in_register(f32_value(coefficients[0]));
  for (const float c : coefficients.subspan(1)) out = fma32(out, x, f32_value(c));
  return out;
}

// --- choice --------------------------------------------------------------------------------------

Value Emitter::float_call(Intrinsic callee, DType type, std::span<const Value> args) {
  if (callee == Intrinsic::Isnan || callee == Intrinsic::Isinf || callee == Intrinsic::Isfinite)
    return classify(callee, type, args[0]);
  if (callee == Intrinsic::Fma) return fused(type, args[0], args[1], args[2]);
  const bool is_narrow = num::bits_of(type) < 32;
  if (is_narrow && callee == Intrinsic::Abs) return without_sign(type, args[0]);
  if (is_narrow && callee == Intrinsic::Copysign) {
    const std::int64_t sign = std::int64_t{1} << (num::bits_of(type) - 1);
    const std::string word(type_of(class_of(type)));
    return code_.pure("or." + word, class_of(type),
                      {without_sign(type, args[0]),
                       code_.pure("and." + word, class_of(type),
                                  {code_.in_register(args[1]), int_value(sign, class_of(type))})});
  }
  std::vector<Value> own;
  for (const Value& arg : args)
    own.push_back(type == DType::Float64 ? code_.in_register(arg) : to_f32(arg, type));
  if (type == DType::Float64) return math64(callee, own);
  return from_f32(math32(callee, own), type);
}

Value Emitter::without_sign(DType type, Value x) {
  const std::int64_t mask = (std::int64_t{1} << (num::bits_of(type) - 1)) - 1;
  return code_.pure(fmt::format("and.{}", type_of(class_of(type))), class_of(type),
                    {code_.in_register(x), int_value(mask, class_of(type))});
}

Value Emitter::math32(Intrinsic callee, std::span<const Value> args) {
  const Value x = args[0];
  switch (callee) {
    case Intrinsic::Exp:
      return exponential(x, kLog2E, 0.693145752F, 1.42860677e-6F);
    case Intrinsic::Exp10:
      return exponential(x, kLog2Of10, 0.301029205F, 7.90341716e-7F);
    case Intrinsic::Exp2:
      return f32("ex2.approx.f32", {x});
    case Intrinsic::Log2:
      return f32("lg2.approx.f32", {x});
    case Intrinsic::Log:
      return mul32(f32("lg2.approx.f32", {x}), f32_value(kLn2));
    case Intrinsic::Log10:
      return mul32(f32("lg2.approx.f32", {x}), f32_value(kLog10Of2));
    case Intrinsic::Log1p:
      return log1p32(x);
    case Intrinsic::Sqrt:
      return f32("sqrt.rn.f32", {x});
    case Intrinsic::Rsqrt:
      return f32("rsqrt.approx.f32", {x});
    case Intrinsic::Sin:
      return f32("sin.approx.f32", {reduced_angle(x)});
    case Intrinsic::Cos:
      return f32("cos.approx.f32", {reduced_angle(x)});
    case Intrinsic::Tan: {
      const Value angle = reduced_angle(x);
      return f32("div.rn.f32", {f32("sin.approx.f32", {angle}), f32("cos.approx.f32", {angle})});
    }
    case Intrinsic::Tanh:
      return tanh32(x);
    case Intrinsic::Sigmoid: {
      const Value minus = f32("neg.f32", {x});
      const Value power = exponential(minus, kLog2E, 0.693145752F, 1.42860677e-6F);
      return f32("rcp.rn.f32", {add32(power, f32_value(1))});
    }
    case Intrinsic::Erf:
      return erf32(x);
    case Intrinsic::Pow:
      return pow32(x, args[1]);
    case Intrinsic::Fmod: {
      const Value a = code_.pure("cvt.f64.f32", Class::Rd, {x});
      const Value b = code_.pure("cvt.f64.f32", Class::Rd, {args[1]});
      return f32("cvt.rn.f32.f64", {fmod64(a, b)});
    }
    case Intrinsic::Copysign:
      return f32("copysign.f32", {args[1], x});
    case Intrinsic::Abs:
      return f32("abs.f32", {x});
    case Intrinsic::Round:
      return round_away(DType::Float32, x);
    default:
      return f32(fmt::format("cvt.{}.f32.f32", rounding_word(callee)), {x});
  }
}

Value Emitter::math64(Intrinsic callee, std::span<const Value> args) {
  const Value x = args[0];
  const auto f64 = [&](std::string opcode, std::vector<Arg> operands) {
    return code_.pure(std::move(opcode), Class::Rd, std::move(operands));
  };
  switch (callee) {
    case Intrinsic::Sqrt:
      return f64("sqrt.rn.f64", {x});
    case Intrinsic::Rsqrt:
      return f64("rcp.rn.f64", {f64("sqrt.rn.f64", {x})});
    case Intrinsic::Abs:
      return f64("abs.f64", {x});
    case Intrinsic::Copysign:
      return f64("copysign.f64", {args[1], x});
    case Intrinsic::Fmod:
      return fmod64(x, args[1]);
    case Intrinsic::Round:
      return round_away(DType::Float64, x);
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Trunc:
    case Intrinsic::Nearbyint:
      return f64(fmt::format("cvt.{}.f64.f64", rounding_word(callee)), {x});
    default:
      refuse(DiagKind::NotEmitted, "`T.{}` of `float64` has no PTX instruction (use `--emit cuda`)",
             ir::facts_of(callee).name);
      return x;
  }
}

Value Emitter::classify(Intrinsic callee, DType type, Value x) {
  const std::string_view what = callee == Intrinsic::Isnan   ? "notanumber"
                                : callee == Intrinsic::Isinf ? "infinite"
                                                             : "finite";
  const bool is_double = type == DType::Float64;
  return code_.pure(fmt::format("testp.{}.{}", what, is_double ? "f64" : "f32"), Class::P,
                    {is_double ? code_.in_register(x) : to_f32(x, type)});
}

// --- functions of float32 ------------------------------------------------------------------------

// base^x is 2^j · base^(x - j · log_base 2) with j the whole number nearest to x · log2 base. The
// power of two is applied in two halves, since all of it may overflow where the result does not.
Value Emitter::exponential(Value x, float log2_base, float high, float low) {
  const Value product32 = mul32(x, f32_value(log2_base));
  const Value bounded =
      f32("max.f32", {f32("min.f32", {product32, f32_value(160)}), f32_value(-160)});
  const Value j = f32("cvt.rni.f32.f32", {bounded});
  const Value rest = fma32(j, f32_value(-low), fma32(j, f32_value(-high), x));
  const Value power = f32("ex2.approx.f32", {mul32(rest, f32_value(log2_base))});
  const Value half = f32("cvt.rzi.f32.f32", {mul32(j, f32_value(0.5F))});
  const Value other = f32("sub.rn.f32", {j, half});
  return mul32(mul32(power, f32("ex2.approx.f32", {half})), f32("ex2.approx.f32", {other}));
}

// x - 2πk, 2π in three parts of which the first two have few enough bits that k times them is
// exact.
Value Emitter::reduced_angle(Value x) {
  const Value k = f32("cvt.rni.f32.f32", {mul32(x, f32_value(0.159154943F))});
  const Value first = fma32(k, f32_value(-6.28125F), x);
  const Value second = fma32(k, f32_value(-0.00193500519F), first);
  return fma32(k, f32_value(-3.01991605e-7F), second);
}

// log(1 + x): the error of 1 + x is made up for by x / ((1 + x) - 1).
Value Emitter::log1p32(Value x) {
  const Value u = add32(x, f32_value(1));
  const Value log = mul32(f32("lg2.approx.f32", {u}), f32_value(kLn2));
  const Value back = f32("sub.rn.f32", {u, f32_value(1)});
  const Value fixed = mul32(log, f32("div.rn.f32", {x, back}));
  const Value is_tiny = code_.pure("setp.eq.f32", Class::P, {u, f32_value(1)});
  const Value is_far = code_.pure("setp.equ.f32", Class::P, {back, x});
  return choose(is_tiny, x, choose(is_far, log, fixed));
}

Value Emitter::tanh32(Value x) {
  const Value size = f32("abs.f32", {x});
  const Value power = exponential(mul32(size, f32_value(2)), kLog2E, 0.693145752F, 1.42860677e-6F);
  const Value part = f32("rcp.rn.f32", {add32(power, f32_value(1))});
  const Value outer = f32("copysign.f32", {x, fma32(part, f32_value(-2), f32_value(1))});
  constexpr std::array kInner = {1.57394409e-2F, -5.23025580e-2F, 1.33152977e-1F, -3.33327681e-1F};
  const Value square = mul32(x, x);
  const Value inner = fma32(mul32(polynomial(square, kInner), square), x, x);
  const Value is_inner = code_.pure("setp.lt.f32", Class::P, {size, f32_value(0.55F)});
  return choose(is_inner, inner, outer);
}

Value Emitter::erf32(Value x) {
  const Value size = f32("abs.f32", {x});
  const Value square = mul32(x, x);
  const Value even = fma32(size, f32_value(-1.72853470e-5F), f32_value(3.83197126e-4F));
  const Value odd = fma32(size, f32_value(-3.88396438e-3F), f32_value(2.42546219e-2F));
  Value log = fma32(even, square, odd);
  for (const float c : {-1.06777877e-1F, -6.34846687e-1F, -1.28717512e-1F})
    log = fma32(log, size, f32_value(c));
  log = fma32(log, size, f32("neg.f32", {size}));
  const Value tail = exponential(log, kLog2E, 0.693145752F, 1.42860677e-6F);
  const Value outer = f32("copysign.f32", {x, f32("sub.rn.f32", {f32_value(1), tail})});
  constexpr std::array kInner = {-5.96761703e-4F, 4.99119423e-3F,  -2.67681349e-2F,
                                 1.12819925e-1F,  -3.76125336e-1F, 1.28379166e-1F};
  const Value inner = fma32(polynomial(square, kInner), x, x);
  const Value is_outer = code_.pure("setp.gt.f32", Class::P, {size, f32_value(0.927734375F)});
  return choose(is_outer, outer, inner);
}

// |x|^y, with the sign of x where y is odd; NaN where x is negative and y no whole number.
Value Emitter::pow32(Value x, Value y) {
  const Value zero = f32_value(0);
  const Value size = f32("abs.f32", {x});
  const Value power = f32("ex2.approx.f32", {mul32(y, f32("lg2.approx.f32", {size}))});
  const Value half = mul32(y, f32_value(0.5F));
  const Value whole = code_.pure("setp.eq.f32", Class::P, {f32("cvt.rzi.f32.f32", {y}), y});
  const Value even = code_.pure("setp.eq.f32", Class::P, {f32("cvt.rzi.f32.f32", {half}), half});
  const Value odd = bool_op(ExprOp::And, whole, negated(even));
  const Value is_negative = code_.pure("setp.lt.f32", Class::P, {x, zero});
  const Value with_sign = choose(odd, f32("copysign.f32", {x, power}), power);
  const Value is_bad = bool_op(ExprOp::And, is_negative, negated(whole));
  const Value result = choose(is_bad, int_value(0x7fffffff), with_sign);
  const Value is_no_power = code_.pure("setp.eq.f32", Class::P, {y, zero});
  const Value is_of_one = code_.pure("setp.eq.f32", Class::P, {x, f32_value(1)});
  return choose(bool_op(ExprOp::Or, is_no_power, is_of_one), f32_value(1), result);
}

// What is left of x when y is taken away as often as it goes: by 2^k · y at a time, with k such
// that the quotient has no more bits than a float64. It is cut, so that the rest is never below
// zero, and the rest has no bits below those of y, so that it is exact. NaN ends the loop as well.
// A subnormal y is scaled up before its exponent is taken; the last k is 2046, two factors' worth.
Value Emitter::fmod64(Value x, Value y) {
  const auto f64 = [&](std::string opcode, std::vector<Arg> operands) {
    return code_.pure(std::move(opcode), Class::Rd, std::move(operands));
  };
  const auto exponent = [&](Value of) {
    const Value high = code_.pure_vector("mov.b64", Class::R, 2, {of})[1];
    return code_.pure("bfe.u32", Class::R, {high, int_value(20), int_value(11)});
  };
  const auto power_of_two = [&](Value k, Value zero) {
    const Value biased = code_.pure("add.s32", Class::R, {k, int_value(1023)});
    const Value high = code_.pure("shl.b32", Class::R, {biased, int_value(20)});
    return f64("mov.b64", {vector_arg({zero, high})});
  };
  constexpr std::int64_t kBits = 51;  // of a quotient, one to spare
  constexpr std::int64_t kMost = 2046;
  constexpr std::int64_t kUp = 54;
  const Value by = f64("abs.f64", {y});
  const Value field = exponent(by);
  const Value scaled_up = f64("mul.rn.f64", {by, f64_value(0x1p54)});
  const Value below = code_.pure("sub.s32", Class::R, {exponent(scaled_up), int_value(kUp)});
  const Value is_subnormal = code_.pure("setp.eq.s32", Class::P, {field, int_value(0)});
  const Value by_exponent = choose(is_subnormal, below, field);
  const Value rest = code_.new_variable(Class::Rd);
  code_.add("abs.f64", {rest, x});
  code_.touch(rest);
  // Before the loop, which not all threads enter: the next fmod finds it there.
  const Value zero = code_.in_register(int_value(0));
  const std::string again = code_.new_label("again");
  const std::string end = code_.new_label("end");
  code_.add_label(again);
  const Value is_less = code_.new_register(Class::P);
  code_.add("setp.ltu.f64", {is_less, rest, by});
  code_.add("bra", {label_arg(end)}, {is_less});
  const Value apart = code_.pure("sub.s32", Class::R, {exponent(rest), by_exponent});
  Value k = code_.pure("sub.s32", Class::R, {apart, int_value(kBits)});
  k = code_.pure("min.s32", Class::R, {k, int_value(kMost)});
  k = code_.pure("max.s32", Class::R, {k, int_value(0)});
  const Value half = code_.pure("shr.s32", Class::R, {k, int_value(1)});
  const Value other = code_.pure("sub.s32", Class::R, {k, half});
  const Value step = f64(
      "mul.rn.f64", {f64("mul.rn.f64", {by, power_of_two(half, zero)}), power_of_two(other, zero)});
  const Value times = f64("cvt.rzi.f64.f64", {f64("div.rz.f64", {rest, step})});
  code_.add("fma.rn.f64", {rest, f64("neg.f64", {times}), step, rest});
  code_.touch(rest);
  code_.add("bra", {label_arg(again)});
  code_.add_label(end);
  const Value is_nan = code_.pure("setp.nan.f64", Class::P, {rest, y});
  const Value nan = int_value(std::numeric_limits<std::int64_t>::max(), Class::Rd);
  return choose(is_nan, nan, f64("copysign.f64", {x, rest}));
}

// Halves go away from zero: the greatest number below a half is added before cutting.
Value Emitter::round_away(DType type, Value x) {
  const bool is_double = type == DType::Float64;
  const std::string suffix = is_double ? "f64" : "f32";
  const Class cls = is_double ? Class::Rd : Class::R;
  const Value half =
      code_.in_register(is_double ? f64_value(0.49999999999999994) : f32_value(0.49999997F));
  const Value signed_half = code_.pure("copysign." + suffix, cls, {x, half});
  const Value moved = code_.pure("add.rn." + suffix, cls, {x, signed_half});
  return code_.pure(fmt::format("cvt.rzi.{}.{}", suffix, suffix), cls, {moved});
}

}  // namespace ww::emit::to_ptx
