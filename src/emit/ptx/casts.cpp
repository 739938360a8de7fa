// SPDX-License-Identifier: Apache-2.0
// Conversions. By value: integers wrap; floats become integers by dropping the fraction and
// saturating, NaN becomes 0; floats round to nearest even once, those of 8 bits and fewer saturate.
// And the same bits as another type.
#include "emit/ptx/casts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <string>

#include "emit/ptx/context.h"
#include "emit/ptx/exprs.h"
#include "emit/ptx/integers.h"
#include "emit/ptx/math.h"
#include "ir/simplify/fold.h"
#include "num/float_format.h"

namespace ww::emit::to_ptx {

// --- narrow floats -------------------------------------------------------------------------------
//
// Floats of 8, 6 and 4 bits to and from float32: by `cvt` where the target has it, else by integer
// arithmetic that gives the same bits. Powers of two (float8_e8m0fnu) are not among them.
//
// With m bits of mantissa and a bias b, the code of a number without its sign, moved up by 23 - m,
// is a float32 with the same mantissa and an exponent that is too small by 127 - b: a multiplication
// by a power of two gives the number, and subnormal numbers need no case of their own. The other way
// a number is rounded at the last bit of its mantissa, or, where it is subnormal in the narrow
// format, by adding a power of two whose last bit is worth as much as that of the format.

namespace {

bool is_narrow_float(num::DType type);
/// Can `cvt` convert it for this target?
bool has_narrow_cvt(const Context& c, num::DType type);

/// An element, whose code is in the low bits of `code`, as float16 by `cvt`.
Value narrow_to_f16(Context& c, Value code, num::DType from);
Value narrow_to_f32(Context& c, Value code, num::DType from);
/// The code: rounds to nearest even and saturates; NaN becomes the format's NaN, or its largest
/// number where it has none.
Value narrow_from_f32(Context& c, Value value, num::DType to);

constexpr int kMantissa = 23, kBias = 127;  // of float32

// The name of a pair in `cvt`; empty for other types.
std::string_view pair_word(DType type) {
  return word_for(type,
                  {{DType::Float8E4M3fn, "e4m3x2"},
                   {DType::Float8E5M2, "e5m2x2"},
                   {DType::Float6E2M3fn, "e2m3x2"},
                   {DType::Float6E3M2fn, "e3m2x2"},
                   {DType::Float4E2M1fn, "e2m1x2"}},
                  "");
}

// The register of a pair.
Class pair_class(DType type) { return num::bits_of(type) == 4 ? Class::B : Class::Rs; }

std::int64_t low_bits(int count) { return (std::int64_t{1} << count) - 1; }
float power(int exponent) { return static_cast<float>(std::ldexp(1, exponent)); }

Value with(Context& c, const std::string& opcode, Value a, Value b) {
  return c.code.pure(opcode, Class::R, {a, b});
}

// Infinity and NaN are those of float16, whose upper byte the code is.
Value e5m2_to_f32(Context& c, Value code) {
  const Value bits = with(c, "shl.b32", code, int_value(8));
  return c.code.pure("cvt.f32.f16", Class::R, {c.code.pure("cvt.u16.u32", Class::Rs, {bits})});
}

// Adds half of bit `cut`, or a little less where that bit is 0: cutting off the bits below then rounds
// to even.
Value plus_half(Context& c, Value value, int cut) {
  const Value last = c.code.pure("bfe.u32", Class::R, {value, int_value(cut), int_value(1)});
  const Value more = with(c, "add.s32", last, int_value(low_bits(cut - 1)));
  return with(c, "add.s32", value, more);
}

// The size of a number, at most the largest one, as a code.
Value size_code(Context& c, Value size, const num::FloatFormat& format) {
  const int cut = kMantissa - format.mantissa_bits;
  const Value high = with(c, "shr.u32", plus_half(c, size, cut), int_value(cut));
  const std::int64_t rebias = static_cast<std::int64_t>(kBias - format.bias)
                              << format.mantissa_bits;
  const Value code = with(c, "sub.s32", high, int_value(rebias));
  const float unit = power(kMantissa + 1 - format.bias - format.mantissa_bits);
  const Value sum = with(c, "add.rn.f32", size, f32_value(unit));
  const Value small = with(c, "sub.s32", sum, int_value(std::bit_cast<std::int32_t>(unit)));
  const Value is_small =
      c.code.pure("setp.lt.f32", Class::P, {size, f32_value(power(1 - format.bias))});
  return choose(c, is_small, small, code);
}

bool is_narrow_float(DType type) { return !pair_word(type).empty(); }

bool has_narrow_cvt(const Context& c, DType type) {
  const target::Target& target = c.options.target;
  if (num::bits_of(type) == 8) return target.has(target::Feature::Sm89) && target.ptx >= 81;
  return target.has(target::Feature::NarrowFloats) && target.ptx >= 86;
}

Value narrow_to_f16(Context& c, Value code, DType from) {
  const Class cls = pair_class(from);
  const Value pair = c.code.pure(cls == Class::B ? "cvt.u8.u32" : "cvt.u16.u32", cls, {code});
  const Value halves =
      c.code.pure(fmt::format("cvt.rn.f16x2.{}", pair_word(from)), Class::R, {pair});
  return c.code.pure("cvt.u16.u32", Class::Rs, {halves});
}

Value narrow_to_f32(Context& c, Value code, DType from) {
  if (has_narrow_cvt(c, from))
    return c.code.pure("cvt.f32.f16", Class::R, {narrow_to_f16(c, code, from)});
  if (from == DType::Float8E5M2) return e5m2_to_f32(c, code);
  const num::FloatFormat& format = num::format_of(from);
  const int width = num::bits_of(from);
  const Value size = with(c, "and.b32", code, int_value(low_bits(width - 1)));
  const Value moved = with(c, "shl.b32", size, int_value(kMantissa - format.mantissa_bits));
  Value number = with(c, "mul.rn.f32", moved, f32_value(power(kBias - format.bias)));
  if (format.specials == num::Specials::NanOnly) {
    const Value is_nan =
        c.code.pure("setp.eq.s32", Class::P, {size, int_value(low_bits(width - 1))});
    number = choose(c, is_nan, int_value(low_bits(31)), number);
  }
  const Value top = with(c, "shl.b32", code, int_value(32 - width));
  const Value sign = with(c, "and.b32", top, int_value(std::int64_t{1} << 31));
  return with(c, "or.b32", number, sign);
}

Value narrow_from_f32(Context& c, Value value, DType to) {
  const int width = num::bits_of(to);
  if (has_narrow_cvt(c, to)) {
    const Class cls = pair_class(to);
    const Value pair = c.code.pure(fmt::format("cvt.rn.satfinite.{}.f32", pair_word(to)), cls,
                                   {f32_value(0), value});
    const Value word =
        c.code.pure(cls == Class::B ? "cvt.u32.u8" : "cvt.u32.u16", Class::R, {pair});
    return with(c, "and.b32", word, int_value(low_bits(num::storage_bits(to))));
  }
  const Value size = with(c, "and.b32", value, int_value(low_bits(31)));
  const auto largest = static_cast<float>(num::largest(to));
  const Value bounded = with(c, "min.f32", size, f32_value(largest));
  const Value code = size_code(c, bounded, num::format_of(to));
  const Value top = with(c, "shr.u32", value, int_value(32 - width));
  const Value sign = with(c, "and.b32", top, int_value(std::int64_t{1} << (width - 1)));
  const Value is_nan = c.code.pure("setp.nan.f32", Class::P, {value, value});
  return choose(c, is_nan, int_value(low_bits(width - 1)), with(c, "or.b32", code, sign));
}

}  // namespace

// --- floats --------------------------------------------------------------------------------------
//
// Floats: every operation is rounded once to its type. `.rn` is written out, since ptxas may fuse
// operations that do not say how they round. float16 has its own instructions from the start,
// bfloat16 only on newer targets; what has none goes through float32, which is wide enough that
// rounding its result again gives what rounding once would.

namespace {

std::string_view float_word(ExprOp op) {
  return word_for(op,
                  {{ExprOp::Add, "add.rn"},
                   {ExprOp::Sub, "sub.rn"},
                   {ExprOp::Mul, "mul.rn"},
                   {ExprOp::Div, "div.rn"},
                   {ExprOp::Min, "min"},
                   {ExprOp::Max, "max"}},
                  "");
}

// True where the comparison does not hold, also of NaN.
std::string_view opposite_word(ExprOp op) {
  return word_for(op, {{ExprOp::Lt, "geu"}, {ExprOp::Le, "gtu"}, {ExprOp::Gt, "leu"}}, "ltu");
}

// Whether the type has an instruction of its own for the operator.
bool is_native(const Context& c, DType type, ExprOp op) {
  if (type == DType::Float32 || type == DType::Float64) return true;
  const target::Target& target = c.options.target;
  const bool is_extreme = op == ExprOp::Min || op == ExprOp::Max;
  if (op == ExprOp::Div) return false;
  if (type == DType::Float16)
    return !is_extreme || (target.has(target::Feature::Sm80) && target.ptx >= 70);
  if (type != DType::Bfloat16) return false;
  if (is_extreme || op == ExprOp::Neg) return target.has(target::Feature::Sm80) && target.ptx >= 70;
  return target.has(target::Feature::Sm90) && target.ptx >= 78;
}

}  // namespace

Value float_op(Context& c, ExprOp op, DType type, Value a, Value b) {
  switch (op) {
    case ExprOp::FloorDiv:
    case ExprOp::TruncDiv: {
      const auto rounding = op == ExprOp::FloorDiv ? Intrinsic::Floor : Intrinsic::Trunc;
      const Value quotient = float_op(c, ExprOp::Div, type, a, b);
      return float_call(c, rounding, type, {&quotient, 1});
    }
    case ExprOp::FloorMod: {
      const Value whole = float_op(c, ExprOp::FloorDiv, type, a, b);
      return float_op(c, ExprOp::Sub, type, a, float_op(c, ExprOp::Mul, type, whole, b));
    }
    case ExprOp::TruncMod: {
      const std::array<Value, 2> both = {a, b};
      return float_call(c, Intrinsic::Fmod, type, both);
    }
    default:
      break;
  }
  if (!is_native(c, type, op)) {
    // One after the other: compilers choose the order of arguments.
    const Value left = to_f32(c, a, type), right = to_f32(c, b, type);
    return from_f32(c, float_op(c, op, DType::Float32, left, right), type);
  }
  const Class cls = class_of(type);
  return c.code.pure(fmt::format("{}.{}", float_word(op), arith_type(type)), cls,
                     {c.code.in_register(a), cls == Class::Rs ? c.code.in_register(b) : b});
}

// ptxas knows that |x|, x·x or exp2(x) is not below 0 and takes `|x| >= 0` for true, for NaN too.
// It does so with float32 and a constant lower bound, and not where the opposite is asked for.
Value float_compare(Context& c, ExprOp op, DType type, Value a, Value b) {
  if (!is_native(c, type, ExprOp::Add) && type != DType::Float32) {
    const Value left = to_f32(c, a, type), right = to_f32(c, b, type);
    return float_compare(c, op, DType::Float32, left, right);
  }
  const bool has_lower_bound =
      type == DType::Float32 &&
      (((op == ExprOp::Ge || op == ExprOp::Gt) && b.is_constant() && !a.is_constant()) ||
       ((op == ExprOp::Le || op == ExprOp::Lt) && a.is_constant() && !b.is_constant()));
  const std::string_view word = has_lower_bound    ? opposite_word(op)
                                : op == ExprOp::Ne ? "neu"
                                                   : compare_word(op);
  const Value out =
      c.code.pure(fmt::format("setp.{}.{}", word, arith_type(type)), Class::P,
                  {c.code.in_register(a), class_of(type) == Class::Rs ? c.code.in_register(b) : b});
  return has_lower_bound ? negated(c, out) : out;
}

// Changing the sign changes one bit, whatever the number.
Value float_unary(Context& c, ExprOp op, DType type, Value a) {
  if (op != ExprOp::Neg) {
    refuse(c, "`~` of `{}`", num::name_of(type));
    return a;
  }
  if (is_native(c, type, op))
    return c.code.pure(fmt::format("neg.{}", arith_type(type)), class_of(type),
                       {c.code.in_register(a)});
  const std::int64_t sign = std::int64_t{1} << (num::bits_of(type) - 1);
  return c.code.pure(fmt::format("xor.{}", type_of(class_of(type))), class_of(type),
                     {c.code.in_register(a), int_value(sign, class_of(type))});
}

Value fused(Context& c, DType type, Value x, Value y, Value z) {
  const bool is_half = type == DType::Float16 ||
                       (type == DType::Bfloat16 && c.options.target.has(target::Feature::Sm80));
  if (type == DType::Float32 || type == DType::Float64 || is_half)
    return c.code.pure(fmt::format("fma.rn.{}", arith_type(type)), class_of(type),
                       {c.code.in_register(x), c.code.in_register(y), c.code.in_register(z)});
  refuse(c, "`T.fma` of `{}`", num::name_of(type));
  return x;
}

namespace {

// A power of two as float32: its code is the exponent. 2^-127 is subnormal there, the last code NaN.
Value power_to_f32(Context& c, Value code) {
  constexpr std::int64_t kLeast = 0x0040'0000, kNan = 0x7FFF'FFFF, kNanCode = 255;
  const Value power = c.code.pure("shl.b32", Class::R, {code, int_value(23)});
  const Value is_least = c.code.pure("setp.eq.s32", Class::P, {code, int_value(0)});
  const Value is_nan = c.code.pure("setp.eq.s32", Class::P, {code, int_value(kNanCode)});
  const Value number = choose(c, is_least, int_value(kLeast), power);
  return choose(c, is_nan, int_value(kNan), number);
}

Value int_to_int(Context& c, Value value, DType from, DType to) {
  const int wide = num::bits_of(from);
  const int bits = num::bits_of(to);
  if (value.is_constant()) return int_value(ir::wrap(to, value.bits), class_of(to));
  if (bits == 64 && wide < 64)
    return c.code.pure(is_signed(from) || wide < 32 ? "cvt.s64.s32" : "cvt.u64.u32", Class::Rd,
                       {value});
  if (wide == 64 && bits < 64) value = c.code.pure("cvt.u32.u64", Class::R, {value});
  const bool fits = wide < bits && (is_signed(from) == is_signed(to) || !is_signed(from));
  return fits || bits >= 32 ? value : wrap(c, to, value);
}

// --- integers and floats -------------------------------------------------------------------------

// As float32, with the last bit set where something was cut off: rounding that again to a narrower
// type gives what rounding the whole number would.
Value odd_f32(Context& c, Value value, DType from) {
  const std::string type(arith_type(from));
  if (num::bits_of(from) <= 16) return c.code.pure("cvt.rn.f32." + type, Class::R, {value});
  const Value cut = c.code.pure("cvt.rz.f32." + type, Class::R, {value});
  const bool is_real = from == DType::Float64;
  const Value back =
      c.code.pure(is_real ? "cvt.f64.f32" : fmt::format("cvt.rzi.{}.f32", type), value.cls, {cut});
  const Value is_cut = c.code.pure("setp.ne." + type, Class::P, {back, value});
  const Value odd = c.code.pure("or.b32", Class::R, {cut, int_value(1)});
  return choose(c, is_cut, odd, cut);
}

Value int_to_float(Context& c, Value value, DType from, DType to) {
  value = c.code.in_register(value);
  const bool is_direct = to == DType::Float32 || to == DType::Float64 || to == DType::Float16 ||
                         (to == DType::Bfloat16 && c.options.target.has(target::Feature::Sm90) &&
                          c.options.target.ptx >= 78);
  if (is_direct)
    return c.code.pure(fmt::format("cvt.rn.{}.{}", arith_type(to), arith_type(from)), class_of(to),
                       {value});
  return from_f32(c, odd_f32(c, value, from), to);
}

// PTX gives 0 for NaN except where 64 bits take part.
Value float_to_int(Context& c, Value value, DType from, DType to) {
  if (from != DType::Float32 && from != DType::Float64 && from != DType::Float16)
    return float_to_int(c, to_f32(c, value, from), DType::Float32, to);
  value = c.code.in_register(value);
  const int bits = num::bits_of(to);
  if (bits < 8) {
    refuse(c, "a conversion of `{}` to `{}`", num::name_of(from), num::name_of(to));
    return value;
  }
  const std::string_view source = arith_type(from);
  const Value number =
      c.code.pure(fmt::format("cvt.rzi.{}{}.{}", is_signed(to) ? "s" : "u", bits, source),
                  class_of(to), {value});
  if (bits < 64 && from != DType::Float64) return number;
  const Value is_nan = c.code.pure(fmt::format("setp.nan.{}", source), Class::P, {value, value});
  return choose(c, is_nan, int_value(0, number.cls), number);
}

// --- floats --------------------------------------------------------------------------------------

Value float_to_float(Context& c, Value value, DType from, DType to) {
  value = c.code.in_register(value);
  const bool from_tf32 = from == DType::Tfloat32;
  if (from_tf32) from = DType::Float32;
  if (from == to) return value;
  if (to == DType::Float16 && is_narrow_float(from) && has_narrow_cvt(c, from))
    return narrow_to_f16(c, value, from);
  if (to == DType::Float64) {
    const bool is_direct = from == DType::Float32 || from == DType::Float16;
    return c.code.pure(fmt::format("cvt.f64.{}", is_direct ? arith_type(from) : "f32"), Class::Rd,
                       {is_direct ? value : to_f32(c, value, from)});
  }
  if (from == DType::Float64) {
    if (to == DType::Float32 || to == DType::Float16)
      return c.code.pure(fmt::format("cvt.rn.{}.f64", arith_type(to)), class_of(to), {value});
    return from_f32(c, odd_f32(c, value, from), to);
  }
  return from_f32(c, to_f32(c, value, from), to);
}

}  // namespace

Value cast(Context& c, Value value, DType from, DType to) {
  if (from == to) return value;
  if (from == DType::Float8E8M0)  // no code of it is 0
    return cast(c, to_f32(c, value, from), DType::Float32, to);
  if (to == DType::Bool) return is_not_zero(c, from, value);
  if (from == DType::Bool) {
    value = as_int(c, value);
    from = DType::Int32;
    if (from == to) return value;
  }
  const bool to_float = is_float(to);
  if (is_float(from))
    return to_float ? float_to_float(c, value, from, to) : float_to_int(c, value, from, to);
  return to_float ? int_to_float(c, value, from, to) : int_to_int(c, value, from, to);
}

// --- floats --------------------------------------------------------------------------------------

Value to_f32(Context& c, Value value, DType from) {
  value = c.code.in_register(value);
  switch (from) {
    case DType::Float32:
    case DType::Tfloat32:
      return value;
    case DType::Float16:
      return c.code.pure("cvt.f32.f16", Class::R, {value});
    case DType::Bfloat16: {
      const Value zero = c.code.in_register(int_value(0, Class::Rs));
      return c.code.pure("mov.b32", Class::R, {vector_arg({zero, value})});
    }
    case DType::Float64:
      return c.code.pure("cvt.rn.f32.f64", Class::R, {value});
    case DType::Float8E8M0:
      return power_to_f32(c, value);
    default:
      break;
  }
  if (is_narrow_float(from)) return narrow_to_f32(c, value, from);
  refuse(c, "a conversion of `{}`", num::name_of(from));
  return value;
}

namespace {

// Before sm_80 no instruction rounds to bfloat16. Its bits are the upper half of those of a float32:
// half of the last one is added, a little less where that is even, and the rest cut off. NaN has
// the bits that `cvt` gives.
Value rounded_bf16(Context& c, Value value) {
  constexpr std::int64_t kNan = 0x7FFF;
  const Value sum = plus_half(c, value, 16);
  const Value high = c.code.pure("shr.u32", Class::R, {sum, int_value(16)});
  const Value is_nan = c.code.pure("setp.nan.f32", Class::P, {value, value});
  const Value bits = c.code.pure("selp.b32", Class::R, {int_value(kNan), high, is_nan});
  return c.code.pure("cvt.u16.u32", Class::Rs, {bits});
}

// The same of tf32 before sm_90, whose bits are the upper 19 of a float32.
Value rounded_tf32(Context& c, Value value) {
  constexpr std::int64_t kNan = 0x7FFF'FFFF;
  const Value sum = plus_half(c, value, 13);
  const Value bits = c.code.pure("and.b32", Class::R, {sum, int_value(~std::int64_t{0x1FFF})});
  const Value is_nan = c.code.pure("setp.nan.f32", Class::P, {value, value});
  return choose(c, is_nan, int_value(kNan), bits);
}

}  // namespace

Value from_f32(Context& c, Value value, DType to) {
  value = c.code.in_register(value);
  switch (to) {
    case DType::Float32:
      return value;
    case DType::Tfloat32:
      if (!c.options.target.has(target::Feature::Sm90)) return rounded_tf32(c, value);
      return c.code.pure("cvt.rn.tf32.f32", Class::R, {value});
    case DType::Bfloat16:
      if (!c.options.target.has(target::Feature::Sm80)) return rounded_bf16(c, value);
      [[fallthrough]];
    case DType::Float16:
      return c.code.pure(fmt::format("cvt.rn.{}.f32", arith_type(to)), Class::Rs, {value});
    case DType::Float64:
      return c.code.pure("cvt.f64.f32", Class::Rd, {value});
    default:
      break;
  }
  if (is_narrow_float(to)) return narrow_from_f32(c, value, to);
  refuse(c, "a conversion to `{}`", num::name_of(to));
  return value;
}

// --- the same bits -------------------------------------------------------------------------------

Value raw(Context& c, Value value, DType type, Class cls) {
  if (type == DType::Bool) value = as_int(c, value);
  if (value.is_constant()) return c.code.in_register(int_value(value.bits, cls));
  if (value.cls == cls) return value;
  return c.code.pure(fmt::format("cvt.u{}.u{}", bits_of(cls), bits_of(value.cls)), cls, {value});
}

Value from_raw(Context& c, Value bits, DType type) {
  const int width = storage_bits(type);
  if (type == DType::Bool)
    return is_not_zero(c, DType::Int32, c.code.pure("and.b32", Class::R, {bits, int_value(255)}));
  if (width >= 32) return bits;
  if (class_of(type) == Class::Rs) return raw(c, bits, DType::Uint32, Class::Rs);
  const Value word = raw(c, bits, DType::Uint32, Class::R);
  if (!is_signed(type) && bits_of(bits.cls) <= width) return word;
  if (!is_signed(type))
    return c.code.pure("and.b32", Class::R, {word, int_value((std::int64_t{1} << width) - 1)});
  return c.code.pure("bfe.s32", Class::R, {word, int_value(0), int_value(width)});
}

std::vector<Value> words_of(Context& c, const Lanes& values, DType type) {
  const int width = storage_bits(type);
  std::vector<Value> words;
  if (width == 64) {
    for (const Value& value : values)
      std::ranges::copy(c.code.pure_vector("mov.b64", Class::R, 2, {c.code.in_register(value)}),
                        std::back_inserter(words));
    return words;
  }
  if (width == 16) {
    for (std::size_t i = 0; i < values.size(); i += 2) {
      const Value low = raw(c, values[i], type, Class::Rs);
      const Value high = i + 1 < values.size() ? raw(c, values[i + 1], type, Class::Rs)
                                               : c.code.in_register(int_value(0, Class::Rs));
      words.push_back(c.code.pure("mov.b32", Class::R, {vector_arg({low, high})}));
    }
    return words;
  }
  const auto in_word = static_cast<std::size_t>(32 / width);
  for (std::size_t i = 0; i < values.size(); i += in_word) {
    Value word = width == 32 ? raw(c, values[i], type, Class::R) : int_value(0);
    for (std::size_t k = 0; width < 32 && k < in_word && i + k < values.size(); ++k)
      word = c.code.pure("bfi.b32", Class::R,
                         {raw(c, values[i + k], type, Class::R), word,
                          int_value(static_cast<std::int64_t>(k) * width), int_value(width)});
    words.push_back(word);
  }
  return words;
}

Lanes lanes_of(Context& c, std::span<const Value> words, DType type, std::size_t count) {
  const auto width = static_cast<std::size_t>(storage_bits(type));
  Lanes out;
  for (std::size_t i = 0; i < count; ++i) {
    const Value word = c.code.in_register(words[i * width / 32]);
    if (width == 64) {
      out.push_back(c.code.pure("mov.b64", Class::Rd,
                                {vector_arg({word, c.code.in_register(words[i * 2 + 1])})}));
    } else if (width == 32) {
      out.push_back(word);
    } else if (width == 16) {
      const auto halves = c.code.pure_vector("mov.b32", Class::Rs, 2, {word});
      out.push_back(from_raw(c, halves[i % 2], type));
    } else {
      const auto at = static_cast<std::int64_t>(i * width % 32);
      const Value piece =
          c.code.pure(is_signed(type) ? "bfe.s32" : "bfe.u32", Class::R,
                      {word, int_value(at), int_value(static_cast<std::int64_t>(width))});
      out.push_back(type == DType::Bool ? is_not_zero(c, DType::Int32, piece) : piece);
    }
  }
  return out;
}

Lanes reinterpret(Context& c, const ir::Expr& e) {
  const ir::Type from = c.f[e.args[0]].type;
  const Lanes values = lanes(c, e.args[0]);
  const DType source = from.is_pointer() ? DType::Uint64 : from.dtype;
  const DType target = e.type.is_pointer() ? DType::Uint64 : e.type.dtype;
  if (source == target) return values;
  if (storage_bits(source) == storage_bits(target) && storage_bits(source) >= 16) {
    // ptxas takes the bits of a 0 or 1 for the number where they are half a word; not so bytes that
    // are picked.
    const bool is_half = storage_bits(target) == 16 && is_float(target) && !is_float(source);
    Lanes out;
    for (const Value& value : values) {
      Value bits = raw(c, value, source, value.cls);
      if (is_half && bits.is_register())
        bits = c.code.pure("prmt.b32", Class::R, {bits, int_value(0), int_value(0x4410)});
      out.push_back(from_raw(c, bits, target));
    }
    return out;
  }
  return lanes_of(c, words_of(c, values, source), target, e.type.lanes);
}

}  // namespace ww::emit::to_ptx
