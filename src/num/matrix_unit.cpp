// SPDX-License-Identifier: Apache-2.0
#include "num/matrix_unit.h"

#include <algorithm>
#include <bit>

#include "num/float_format.h"

namespace ww::num {
namespace {

Term unpack_code(const FloatFormat& f, std::uint32_t code, bool negative) {
  const std::uint32_t last = (1U << f.mantissa_bits) - 1;
  const std::uint32_t mantissa = code & last;
  const std::uint32_t exponent = code >> f.mantissa_bits;
  const bool top = exponent == (1U << f.exponent_bits) - 1;
  Term term{Term::Kind::Finite, negative, mantissa, f.mantissa_bits, 1 - f.bias};
  if (top && f.specials == Specials::Ieee) {
    term.kind = mantissa == 0 ? Term::Kind::Infinite : Term::Kind::Nan;
  } else if (top && f.specials == Specials::NanOnly && mantissa == last) {
    term.kind = Term::Kind::Nan;
  } else if (exponent != 0) {
    term.significand |= 1U << f.mantissa_bits;
    term.exponent = static_cast<int>(exponent) - f.bias;
  }
  return term;
}

Term product(const Term& a, const Term& b, int scale) {
  Term out{Term::Kind::Finite, a.negative != b.negative, a.significand * b.significand,
           a.fraction + b.fraction, a.exponent + b.exponent + scale};
  const bool special = a.kind != Term::Kind::Finite || b.kind != Term::Kind::Finite;
  if (!special) return out;
  const bool nan = a.kind == Term::Kind::Nan || b.kind == Term::Kind::Nan;
  const auto is_zero = [](const Term& t) {
    return t.kind == Term::Kind::Finite && t.significand == 0;
  };
  out.kind = nan || is_zero(a) || is_zero(b) ? Term::Kind::Nan : Term::Kind::Infinite;
  return out;
}

// The exact sum of the terms of one block after each was cut off: significand * 2^(exponent -
// bits).
struct Sum {
  Term::Kind kind = Term::Kind::Finite;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
  int bits = 0;
};

Sum special_sum(std::span<const Term> terms) {
  Sum sum;
  bool plus = false;
  bool minus = false;
  for (const Term& term : terms) {
    if (term.kind == Term::Kind::Nan) sum.kind = Term::Kind::Nan;
    plus |= term.kind == Term::Kind::Infinite && !term.negative;
    minus |= term.kind == Term::Kind::Infinite && term.negative;
  }
  if (sum.kind == Term::Kind::Nan || (plus && minus)) {
    sum.kind = Term::Kind::Nan;
  } else if (plus || minus) {
    sum.kind = Term::Kind::Infinite;
    sum.negative = minus;
  }
  return sum;
}

std::int64_t aligned(const Term& term, int exponent, int bits) {
  const int shift = bits - term.fraction + term.exponent - exponent;
  std::uint64_t magnitude = 0;
  if (shift >= 0)
    magnitude = term.significand << shift;
  else if (shift > -64)
    magnitude = term.significand >> -shift;
  const auto value = static_cast<std::int64_t>(magnitude);
  return term.negative ? -value : value;
}

Sum add_block(std::span<const Term> terms, const MatrixUnit& unit) {
  Sum sum = special_sum(terms);
  if (sum.kind != Term::Kind::Finite) return sum;
  sum.bits = unit.fraction_bits;
  sum.exponent = unit.lowest_exponent;
  for (const Term& term : terms) {
    if (term.significand != 0) sum.exponent = std::max(sum.exponent, term.exponent);
  }
  std::int64_t total = 0;
  for (const Term& term : terms) {
    if (term.significand != 0) total += aligned(term, sum.exponent, sum.bits);
  }
  sum.negative = total < 0;
  sum.significand = static_cast<std::uint64_t>(total < 0 ? -total : total);
  return sum;
}

// significand * 2^(exponent - bits), to single precision with `fraction` bits, cut toward zero.
std::uint32_t cut_to_f32(const Sum& sum, int fraction) {
  const std::uint32_t sign = sum.negative ? 0x80000000U : 0;
  if (sum.kind == Term::Kind::Nan) return 0x7FFFFFFFU;
  if (sum.kind == Term::Kind::Infinite) return sign | 0x7F800000U;
  if (sum.significand == 0) return 0;
  const int top = static_cast<int>(std::bit_width(sum.significand)) - 1 + sum.exponent - sum.bits;
  const int unit = std::max(top, -126) - fraction;
  const int shift = sum.exponent - sum.bits - unit;
  const std::uint64_t mantissa = shift >= 0    ? sum.significand << shift
                                 : shift > -64 ? sum.significand >> -shift
                                               : 0;
  if (top > 127) return sign | 0x7F800000U;
  const auto steps = static_cast<std::uint32_t>(unit + 126 + fraction);
  const std::uint32_t code =
      (static_cast<std::uint32_t>(mantissa) << (23 - fraction)) + (steps << 23U);
  return code == 0 ? 0 : sign | code;  // what vanishes is +0, whatever its sign was
}

// The same to half precision, to nearest even.
std::uint16_t round_to_f16(const Sum& sum) {
  const std::uint32_t sign = sum.negative ? 0x8000U : 0;
  if (sum.kind == Term::Kind::Nan) return 0x7FFFU;
  if (sum.kind == Term::Kind::Infinite) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (sum.significand == 0) return 0;
  const int top = static_cast<int>(std::bit_width(sum.significand)) - 1 + sum.exponent - sum.bits;
  const int unit = std::max(top, -14) - 10;
  const int shift = unit - (sum.exponent - sum.bits);
  std::uint64_t mantissa = 0;
  if (shift <= 0) {
    mantissa = sum.significand << -shift;
  } else if (shift < 64) {
    mantissa = sum.significand >> shift;
    const std::uint64_t cut = sum.significand & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    mantissa += cut > half || (cut == half && mantissa % 2 != 0) ? 1U : 0U;
  }
  const std::uint64_t code = mantissa + (static_cast<std::uint64_t>(unit + 24) << 10U);
  if (code == 0) return 0;
  return static_cast<std::uint16_t>(sign | std::min<std::uint64_t>(code, 0x7C00U));
}

constexpr std::size_t kMaxBlock = 64;

Term unpack(const FloatFormat& f, std::uint32_t bits) {
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t code = (bits >> f.low_bits) & ((1U << width) - 1);
  return unpack_code(f, code, ((bits >> (f.low_bits + width)) & 1U) != 0);
}

// Blocks in a row; `pack` makes a result, of type `result`, from the sum of one.
template <typename Bits, typename Pack>
Bits dot(MatrixUnit unit, DType type_a, DType type_b, std::span<const std::uint32_t> a,
         std::span<const std::uint32_t> b, Bits addend, int scale, DType result, Pack pack) {
  const FloatFormat& format_a = format_of(type_a);
  const FloatFormat& format_b = format_of(type_b);
  const auto step = static_cast<std::size_t>(unit.block);
  for (std::size_t from = 0; from < a.size(); from += step) {
    Term terms[kMaxBlock + 1];
    std::size_t count = 0;
    for (std::size_t i = from; i < std::min(from + step, a.size()); ++i) {
      terms[count++] = product(unpack(format_a, a[i]), unpack(format_b, b[i]), scale);
    }
    terms[count++] = unpack(result, addend);
    addend = pack(add_block(std::span(terms, count), unit));
  }
  return addend;
}

}  // namespace

Term unpack(DType type, std::uint32_t bits) { return unpack(format_of(type), bits); }

std::uint32_t sum_f32(const MatrixUnit& unit, std::span<const Term> terms) {
  return cut_to_f32(add_block(terms, unit), unit.result_bits);
}

std::uint32_t dot_f32(MatrixUnit unit, DType type_a, DType type_b, std::span<const std::uint32_t> a,
                      std::span<const std::uint32_t> b, std::uint32_t addend, int scale) {
  return dot(unit, type_a, type_b, a, b, addend, scale, DType::Float32,
             [&](const Sum& sum) { return cut_to_f32(sum, unit.result_bits); });
}

std::uint16_t dot_f16(MatrixUnit unit, DType type_a, DType type_b, std::span<const std::uint32_t> a,
                      std::span<const std::uint32_t> b, std::uint16_t addend, int scale) {
  return dot(unit, type_a, type_b, a, b, addend, scale, DType::Float16, round_to_f16);
}

}  // namespace ww::num
