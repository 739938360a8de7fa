// SPDX-License-Identifier: Apache-2.0
#include "num/matrix_unit.h"

#include <algorithm>
#include <bit>

namespace ww::num {
namespace {

struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // otherwise only the last code is NaN
};

constexpr Layout layout_of(MatrixInput format) {
  switch (format) {
    case MatrixInput::F16:
      return {5, 10, 15, true};
    case MatrixInput::Bf16:
      return {8, 7, 127, true};
    case MatrixInput::Tf32:
      return {8, 10, 127, true};
    case MatrixInput::E4m3:
      return {4, 3, 7, false};
    case MatrixInput::E5m2:
      return {5, 2, 15, true};
  }
  return {};
}

Term unpack_code(const Layout& f, std::uint32_t code, bool negative) {
  const std::uint32_t mantissa = code & ((1U << f.mantissa_bits) - 1);
  const std::uint32_t exponent = code >> f.mantissa_bits;
  const std::uint32_t top = (1U << f.exponent_bits) - 1;
  Term term{Term::Kind::Finite, negative, mantissa, f.mantissa_bits, 1 - f.bias};
  if (f.has_infinity && exponent == top) {
    term.kind = mantissa == 0 ? Term::Kind::Infinite : Term::Kind::Nan;
  } else if (!f.has_infinity && exponent == top && mantissa == (1U << f.mantissa_bits) - 1) {
    term.kind = Term::Kind::Nan;
  } else if (exponent != 0) {
    term.significand |= 1U << f.mantissa_bits;
    term.exponent = static_cast<int>(exponent) - f.bias;
  }
  return term;
}

Term product(const Term& a, const Term& b) {
  Term out{Term::Kind::Finite, a.negative != b.negative, a.significand * b.significand,
           a.fraction + b.fraction, a.exponent + b.exponent};
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

// significand * 2^(exponent - bits), to single precision, cut toward zero.
std::uint32_t cut_to_f32(const Sum& sum) {
  const std::uint32_t sign = sum.negative ? 0x80000000U : 0;
  if (sum.kind == Term::Kind::Nan) return 0x7FFFFFFFU;
  if (sum.kind == Term::Kind::Infinite) return sign | 0x7F800000U;
  if (sum.significand == 0) return 0;
  const int top = static_cast<int>(std::bit_width(sum.significand)) - 1 + sum.exponent - sum.bits;
  const int unit = std::max(top, -126) - 23;
  const int shift = sum.exponent - sum.bits - unit;
  const std::uint64_t mantissa = shift >= 0    ? sum.significand << shift
                                 : shift > -64 ? sum.significand >> -shift
                                               : 0;
  if (top > 127) return sign | 0x7F800000U;
  const auto steps = static_cast<std::uint32_t>(unit + 149);
  const std::uint32_t code = static_cast<std::uint32_t>(mantissa) + (steps << 23U);
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

template <typename Bits, typename Unpack, typename Pack>
Bits dot(MatrixUnit unit, MatrixInput format_a, MatrixInput format_b,
         std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, Bits addend,
         Unpack unpack_addend, Pack pack) {
  const auto step = static_cast<std::size_t>(unit.block);
  for (std::size_t from = 0; from < a.size(); from += step) {
    Term terms[kMaxBlock + 1];
    std::size_t count = 0;
    for (std::size_t i = from; i < std::min(from + step, a.size()); ++i) {
      terms[count++] = product(unpack(format_a, a[i]), unpack(format_b, b[i]));
    }
    terms[count++] = unpack_addend(addend);
    addend = pack(add_block(std::span(terms, count), unit));
  }
  return addend;
}

}  // namespace

Term unpack(MatrixInput format, std::uint32_t bits) {
  const Layout f = layout_of(format);
  const int low = format == MatrixInput::Tf32 ? 13 : 0;  // the low bits of the register are ignored
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t code = (bits >> low) & ((1U << width) - 1);
  return unpack_code(f, code, ((bits >> (low + width)) & 1U) != 0);
}

Term unpack_f32(std::uint32_t bits) {
  return unpack_code({8, 23, 127, true}, bits & 0x7FFFFFFFU, (bits >> 31U) != 0);
}

Term unpack_f16(std::uint16_t bits) { return unpack(MatrixInput::F16, bits); }

std::uint32_t dot_f32(MatrixUnit unit, MatrixInput format_a, MatrixInput format_b,
                      std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                      std::uint32_t addend) {
  return dot(unit, format_a, format_b, a, b, addend, unpack_f32, cut_to_f32);
}

std::uint16_t dot_f16(MatrixUnit unit, MatrixInput format_a, MatrixInput format_b,
                      std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                      std::uint16_t addend) {
  return dot(unit, format_a, format_b, a, b, addend, unpack_f16, round_to_f16);
}

}  // namespace ww::num
