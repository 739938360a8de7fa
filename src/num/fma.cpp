// SPDX-License-Identifier: Apache-2.0
#include "num/fma.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace ww::num {
namespace {

__extension__ using Wide = unsigned __int128;

// significand * 2^exponent; the significand is 0 or has its highest bit at kTop, which leaves room
// for the carry of one addition.
struct Exact {
  bool negative;
  Wide significand;
  int exponent;
};

constexpr int kTop = 126;

int bit_width(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64U);
  return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                   : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

Exact normalised(bool negative, Wide significand, int exponent) {
  if (significand == 0) return {negative, 0, 0};
  const int shift = kTop + 1 - bit_width(significand);
  return {negative, shift >= 0 ? significand << shift : significand >> -shift, exponent - shift};
}

std::uint64_t significand_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52U) - 1);
  return (bits >> 52U) % 2048 == 0 ? fraction : fraction | (std::uint64_t{1} << 52U);
}

// Of the significand's lowest bit.
int exponent_of(double value) {
  const auto biased = static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52U) % 2048);
  return std::max(biased, 1) - 1075;
}

Exact product(double a, double b) {
  return normalised(std::signbit(a) != std::signbit(b), Wide{significand_of(a)} * significand_of(b),
                    exponent_of(a) + exponent_of(b));
}

// value / 2^shift, where the lowest bit is set if anything was lost.
Wide shift_right_sticky(Wide value, int shift) {
  if (shift == 0) return value;
  if (shift > kTop) return value != 0 ? 1 : 0;
  const bool lost = (value & ((Wide{1} << shift) - 1)) != 0;
  return (value >> shift) | (lost ? 1 : 0);
}

// x + y, neither of them 0. Where bits are lost, the exponents are so far apart that the sum keeps
// more than 100 bits above the lowest one, which then only says that something is left over.
Exact sum(Exact x, Exact y) {
  if (x.exponent < y.exponent) std::swap(x, y);
  const Wide small = shift_right_sticky(y.significand, x.exponent - y.exponent);
  if (x.negative == y.negative) {
    const Wide total = x.significand + small;
    const bool carry = (total >> (kTop + 1)) != 0;
    return {x.negative, carry ? shift_right_sticky(total, 1) : total, x.exponent + (carry ? 1 : 0)};
  }
  const bool flips = small > x.significand;  // only where the exponents are equal
  const Wide total = flips ? small - x.significand : x.significand - small;
  return normalised(flips ? y.negative : x.negative, total, x.exponent);
}

bool rounds_up(Rounding rounding, bool negative, bool odd, Wide cut, Wide half) {
  switch (rounding) {
    case Rounding::NearestEven:
      return cut > half || (cut == half && odd);
    case Rounding::NearestAway:
      return cut >= half;
    case Rounding::TowardZero:
      return false;
    case Rounding::Down:
      return cut != 0 && negative;
    case Rounding::Up:
      return cut != 0 && !negative;
  }
  return false;
}

// The code of a magnitude, which grows into infinity's where it is too large.
std::uint64_t rounded_code(const Exact& x, Rounding rounding) {
  const int top = x.exponent + kTop;
  const int unit = std::max(top, -1022) - 52;
  const int shift = std::min(unit - x.exponent, kTop + 1);
  const bool is_tiny = unit - x.exponent > kTop + 1;  // less than half a unit, however much less
  const Wide significand = is_tiny ? 1 : x.significand;
  const auto kept = static_cast<std::uint64_t>(significand >> shift);
  const Wide cut = significand & ((Wide{1} << shift) - 1);
  const bool up = rounds_up(rounding, x.negative, kept % 2 != 0, cut, Wide{1} << (shift - 1));
  if (top > 1023) return std::uint64_t{2047} << 52U;
  return kept + (up ? 1 : 0) + (static_cast<std::uint64_t>(unit + 1074) << 52U);
}

double rounded(const Exact& x, Rounding rounding) {
  constexpr std::uint64_t kInfinity = std::uint64_t{2047} << 52U;
  std::uint64_t code = rounded_code(x, rounding);
  const bool to_largest =
      rounding == Rounding::TowardZero || rounding == (x.negative ? Rounding::Up : Rounding::Down);
  if (code >= kInfinity) code = to_largest ? kInfinity - 1 : kInfinity;
  return std::bit_cast<double>(code | (x.negative ? std::uint64_t{1} << 63U : 0));
}

double exact_fma(double a, double b, double c, Rounding rounding) {
  const Exact x = product(a, b);
  const Exact y = normalised(std::signbit(c), significand_of(c), exponent_of(c));
  if (x.significand == 0 && y.significand == 0 && x.negative == y.negative) return c;
  const Exact z = x.significand == 0 ? y : y.significand == 0 ? x : sum(x, y);
  if (z.significand == 0) return rounding == Rounding::Down ? -0.0 : 0.0;
  return rounded(z, rounding);
}

double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(nan) | (std::uint64_t{1} << 51U));
}

double nan_result(double a, double b, double c) {
  for (const double operand : {b, c, a}) {
    if (std::isnan(operand)) return quiet(operand);
  }
  return std::bit_cast<double>(std::uint64_t{0xFFF8} << 48U);
}

}  // namespace

double fma_f64(double a, double b, double c, Rounding rounding) {
  const double nearest = std::fma(a, b, c);
  if (std::isnan(nearest)) return nan_result(a, b, c);
  const bool infinite = std::isinf(a) || std::isinf(b) || std::isinf(c);
  if (infinite || rounding == Rounding::NearestEven) return nearest;
  return exact_fma(a, b, c, rounding);
}

}  // namespace ww::num
