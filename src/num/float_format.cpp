// SPDX-License-Identifier: Apache-2.0
#include "num/float_format.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace ww::num {
namespace {

constexpr FloatFormat kF64{11, 52, 1023, true, Specials::Ieee, 0};
constexpr FloatFormat kF32{8, 23, 127, true, Specials::Ieee, 0};
constexpr FloatFormat kTf32{8, 10, 127, true, Specials::Ieee, 13};
constexpr FloatFormat kF16{5, 10, 15, true, Specials::Ieee, 0};
constexpr FloatFormat kBf16{8, 7, 127, true, Specials::Ieee, 0};
constexpr FloatFormat kE4m3{4, 3, 7, true, Specials::NanOnly, 0};
constexpr FloatFormat kE5m2{5, 2, 15, true, Specials::Ieee, 0};
constexpr FloatFormat kE2m3{2, 3, 1, true, Specials::None, 0};
constexpr FloatFormat kE3m2{3, 2, 3, true, Specials::None, 0};
constexpr FloatFormat kE2m1{2, 1, 1, true, Specials::None, 0};
constexpr FloatFormat kE8m0{8, 0, 127, false, Specials::NanOnly, 0};

// All bits below the sign, without tf32's low bits.
std::uint64_t all_ones(const FloatFormat& f) {
  return (std::uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
}

std::uint64_t infinity_code(const FloatFormat& f) {
  return ((std::uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits;
}

std::uint64_t largest_code(const FloatFormat& f) {
  switch (f.specials) {
    case Specials::Ieee:
      return infinity_code(f) - 1;
    case Specials::NanOnly:
      return all_ones(f) - 1;
    case Specials::None:
      return all_ones(f);
  }
  return 0;
}

std::uint64_t nan_code(const FloatFormat& f) {
  return f.specials == Specials::None ? largest_code(f) : all_ones(f);
}

double magnitude_of(const FloatFormat& f, std::uint64_t code) {
  if (f.mantissa_bits == 0) return std::ldexp(1.0, static_cast<int>(code) - f.bias);
  const auto exponent = static_cast<int>(code >> f.mantissa_bits);
  std::uint64_t mantissa = code & ((std::uint64_t{1} << f.mantissa_bits) - 1);
  if (exponent != 0) mantissa |= std::uint64_t{1} << f.mantissa_bits;
  const int scale = (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits;
  return std::ldexp(static_cast<double>(mantissa), scale);
}

bool is_nan_code(const FloatFormat& f, std::uint64_t code) {
  if (f.specials == Specials::None) return false;
  return f.specials == Specials::Ieee ? code > infinity_code(f) : code == all_ones(f);
}

// Whether the magnitude grows by one unit: `half` compares what is cut off with half a unit.
bool rounds_up(Rounding rounding, bool negative, bool odd, bool inexact, int half) {
  switch (rounding) {
    case Rounding::NearestEven:
      return half > 0 || (half == 0 && odd);
    case Rounding::NearestAway:
      return half >= 0;
    case Rounding::TowardZero:
      return false;
    case Rounding::Down:
      return inexact && negative;
    case Rounding::Up:
      return inexact && !negative;
  }
  return false;
}

struct Parts {
  std::uint64_t significand;  // the value is significand * 2^exponent
  int exponent;
};

// Of a positive finite double that is not 0.
Parts split(double magnitude) {
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const auto biased = static_cast<int>(bits >> 52U);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52U) - 1);
  if (biased == 0) return {fraction, -1074};
  return {fraction | (std::uint64_t{1} << 52U), biased - 1075};
}

// significand / 2^shift, rounded.
std::uint64_t shift_right(std::uint64_t significand, int shift, Rounding rounding, bool negative) {
  if (shift <= 0) return significand << -shift;
  if (shift > 60)
    shift = 60;  // a significand has 53 bits: all of it is cut off, and less than half
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t cut = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t middle = std::uint64_t{1} << (shift - 1);
  const int half = cut > middle ? 1 : cut == middle ? 0 : -1;
  return kept + (rounds_up(rounding, negative, kept % 2 != 0, cut != 0, half) ? 1U : 0U);
}

// The code of a magnitude, which may come out beyond the largest. A number's code is its mantissa,
// hidden bit included, plus its exponent; a carry out of the mantissa moves on to the next one.
std::uint64_t magnitude_code(const FloatFormat& f, double magnitude, Rounding rounding,
                             bool negative) {
  const Parts parts = split(magnitude);
  const int width = static_cast<int>(std::bit_width(parts.significand));
  const int top = width - 1 + parts.exponent;  // floor(log2(magnitude))
  const int smallest = 1 - f.bias;             // exponent of the smallest normal number
  const int unit = (top > smallest ? top : smallest) - f.mantissa_bits;
  const std::uint64_t rounded =
      shift_right(parts.significand, unit - parts.exponent, rounding, negative);
  const auto steps = static_cast<std::uint64_t>(unit - (smallest - f.mantissa_bits));
  return rounded + (steps << f.mantissa_bits);
}

// ue8m0: the power of two below or above.
std::uint64_t power_code(const FloatFormat& f, double magnitude, Rounding rounding) {
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // [0.5, 1)
  const bool exact = fraction == 0.5;
  const bool nearest_up = fraction >= 0.75;  // the middle between two powers
  const bool up =
      !exact &&
      (rounding == Rounding::Up ||
       ((rounding == Rounding::NearestEven || rounding == Rounding::NearestAway) && nearest_up));
  const int code = exponent - 1 + f.bias + (up ? 1 : 0);
  return code < 0 ? 0 : static_cast<std::uint64_t>(code);
}

bool overflows_to_largest(Rounding rounding, bool negative) {
  return rounding == Rounding::TowardZero || rounding == (negative ? Rounding::Up : Rounding::Down);
}

std::uint64_t overflow_code(const FloatFormat& f, bool infinite, Rounding rounding,
                            Overflow overflow, bool negative) {
  if (overflow == Overflow::Saturate || f.specials == Specials::None) return largest_code(f);
  if (!infinite && overflows_to_largest(rounding, negative)) return largest_code(f);
  return f.specials == Specials::Ieee ? infinity_code(f) : nan_code(f);
}

std::uint64_t code_of(const FloatFormat& f, double magnitude, Rounding rounding, Overflow overflow,
                      bool negative) {
  if (std::isinf(magnitude)) return overflow_code(f, true, rounding, overflow, negative);
  if (magnitude == 0) return 0;
  const std::uint64_t code = f.mantissa_bits == 0
                                 ? power_code(f, magnitude, rounding)
                                 : magnitude_code(f, magnitude, rounding, negative);
  return code <= largest_code(f) ? code : overflow_code(f, false, rounding, overflow, negative);
}

}  // namespace

const FloatFormat& format_of(DType type) {
  switch (type) {
    case DType::Float64:
      return kF64;
    case DType::Float32:
      return kF32;
    case DType::Tfloat32:
      return kTf32;
    case DType::Float16:
      return kF16;
    case DType::Bfloat16:
      return kBf16;
    case DType::Float8E4M3fn:
      return kE4m3;
    case DType::Float8E5M2:
      return kE5m2;
    case DType::Float8E8M0:
      return kE8m0;
    case DType::Float6E2M3fn:
      return kE2m3;
    case DType::Float6E3M2fn:
      return kE3m2;
    case DType::Float4E2M1fn:
      return kE2m1;
    default:
      break;
  }
  WW_CHECK(false, "`{}` is not a floating-point type", name_of(type));
  return kF32;
}

double decode(DType type, std::uint64_t bits) {
  if (type == DType::Float32) {  // what most arrays hold; NaNs are below
    const double value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (value == value) return value;
  }
  const FloatFormat& f = format_of(type);
  const std::uint64_t code = (bits >> f.low_bits) & all_ones(f);
  const int sign_at = f.exponent_bits + f.mantissa_bits + f.low_bits;
  const double sign = f.has_sign && ((bits >> sign_at) & 1U) != 0 ? -1.0 : 1.0;
  if (is_nan_code(f, code)) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (f.specials == Specials::Ieee && code == infinity_code(f)) {
    return sign * std::numeric_limits<double>::infinity();
  }
  return sign * magnitude_of(f, code);
}

std::uint64_t encode(DType type, double value, Rounding rounding, Overflow overflow) {
  if (type == DType::Float32 && rounding == Rounding::NearestEven) {
    const auto near = static_cast<float>(value);
    if (std::isfinite(near)) return std::bit_cast<std::uint32_t>(near);
  }
  const FloatFormat& f = format_of(type);
  if (std::isnan(value)) return nan_code(f) << f.low_bits;
  const bool negative = std::signbit(value) && f.has_sign;
  std::uint64_t code = code_of(f, std::fabs(value), rounding, overflow, negative);
  if (negative) code |= all_ones(f) + 1;
  return code << f.low_bits;
}

double largest(DType type) {
  const FloatFormat& f = format_of(type);
  return magnitude_of(f, largest_code(f));
}

}  // namespace ww::num
