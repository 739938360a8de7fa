// SPDX-License-Identifier: Apache-2.0
// With m bits of mantissa and a bias b, the code of a number without its sign, moved up by 23 - m,
// is a float32 with the same mantissa and an exponent that is too small by 127 - b: a multiplication
// by a power of two gives the number, and subnormal numbers need no case of their own. The other way
// a number is rounded at the last bit of its mantissa, or, where it is subnormal in the narrow
// format, by adding a power of two whose last bit is worth as much as that of the format.
#include "emit/ptx/narrow_floats.h"

#include <bit>
#include <cmath>
#include <string>

#include "emit/ptx/exprs.h"
#include "num/float_format.h"

namespace ww::emit::to_ptx {
namespace {

using num::DType;

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

// The size of a number, at most the largest one, as a code.
Value size_code(Context& c, Value size, const num::FloatFormat& format) {
  const int cut = kMantissa - format.mantissa_bits;
  const Value last = c.code.pure("bfe.u32", Class::R, {size, int_value(cut), int_value(1)});
  const Value more = with(c, "add.s32", last, int_value(low_bits(cut - 1)));
  const Value high = with(c, "shr.u32", with(c, "add.s32", size, more), int_value(cut));
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

}  // namespace

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

}  // namespace ww::emit::to_ptx
