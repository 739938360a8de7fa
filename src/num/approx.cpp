// SPDX-License-Identifier: Apache-2.0
// All of it is additions, multiplications and divisions of doubles, bits, and power series that end
// below 2^-50 of their sum; -ffp-contract=off keeps hosts with fused multiply-add from differing.
#include "num/approx.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ww::num {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// c[0] + c[1] x + c[2] x^2 + ..., even and odd powers apart: two short chains of operations instead
// of a long one.
template <std::size_t kCount>
double series(const double (&c)[kCount], double x) {
  static_assert(kCount % 2 == 1);
  const double square = x * x;
  double even = c[kCount - 1];
  double odd = 0;
  for (std::size_t i = kCount - 1; i > 0; i -= 2) {
    odd = odd * square + c[i - 1];
    even = even * square + c[i - 2];
  }
  return even + odd * x;
}

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52U);
}

// --- powers and logarithms -----------------------------------------------------------------------

// ln(2)^k / k!
constexpr double kExp2Series[] = {
    0x1p+0,
    0x1.62e42fefa39efp-1,
    0x1.ebfbdff82c58fp-3,
    0x1.c6b08d704a0c0p-5,
    0x1.3b2ab6fba4e77p-7,
    0x1.5d87fe78a6731p-10,
    0x1.430912f86c787p-13,
    0x1.ffcbfc588b0c7p-17,
    0x1.62c0223a5c824p-20,
    0x1.b5253d395e7c4p-24,
    0x1.e4cf5158b8ecap-28,
    0x1.e8cac7351bb25p-32,
    0x1.c3bd650fc2986p-36,
};

// 2^x for |x| <= 1000: the nearest integer goes to the exponent, what remains is at most 1/2.
double power(double x) {
  const int whole = static_cast<int>(x < 0 ? x - 0.5 : x + 0.5);
  return series(kExp2Series, x - whole) * power_of_two(whole);
}

constexpr double kLog2E = 0x1.71547652b82fep+0;

// atanh(s) / s by s^2
constexpr double kAtanhSeries[] = {1,        1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9, 1.0 / 11,
                                   1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};

// log2(m) = 2 log2(e) atanh((m - 1) / (m + 1)), for m from sqrt(1/2) to sqrt(2).
double small_log(double m) {
  const double s = (m - 1) / (m + 1);
  return 2 * kLog2E * s * series(kAtanhSeries, s * s);
}

// --- angles --------------------------------------------------------------------------------------

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

// 2 / pi after the binary point.
constexpr std::uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
                                        0xfe5163abdebbc561, 0xb7246e3a424dd2e0};
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kQuarterPi = 0x1.921fb54442d18p-1;

std::uint64_t word_at(int bit) {
  const int word = bit / 64;
  const int shift = bit % 64;
  const std::uint64_t high = kTwoOverPi[word] << shift;
  return shift == 0 ? high : high | kTwoOverPi[word + 1] >> (64 - shift);
}

// 2 / pi * 2^(128 - from), less everything from 2^128 up and the fraction.
Wide two_over_pi_from(int from) {
  if (from < 0) return (Wide{kTwoOverPi[0]} << 64U | kTwoOverPi[1]) >> -from;
  return Wide{word_at(from)} << 64U | word_at(from + 64);
}

// An angle as a quarter turn and a rest between -pi/4 and pi/4.
struct Angle {
  unsigned quarter;
  double rest;
};

// Payne and Hanek: x * 2/pi modulo 4 in fixed point. x is an integer of 24 bits times 2^exponent,
// so bits of 2/pi that are multiples of 4 with it can be left out, and with 128 of the bits after
// those the error is below 2^-100; the nearest an f32 comes to a multiple of pi/2 is about 2^-30.
Angle reduce(float magnitude) {
  if (magnitude < kQuarterPi) return {0, magnitude};
  const auto bits = std::bit_cast<std::uint32_t>(magnitude);
  const std::uint32_t significand = (bits & 0x7FFFFFU) | 0x800000U;
  const int exponent = static_cast<int>(bits >> 23U) - 150;
  const Wide turns = significand * two_over_pi_from(exponent - 2);  // in units of 2^-126 quarters
  const Wide nearest = turns + (Wide{1} << 125U);
  const auto rest = static_cast<SignedWide>(turns << 2U);
  const auto high = static_cast<double>(static_cast<std::int64_t>(rest >> 64U));
  const auto low = static_cast<double>(static_cast<std::uint64_t>(rest));
  return {static_cast<unsigned>(nearest >> 126U), (high * 0x1p-64 + low * 0x1p-128) * kHalfPi};
}

// sin(x) / x and cos(x) by x^2
constexpr double kSinSeries[] = {1,
                                 -1.0 / 6,
                                 1.0 / 120,
                                 -1.0 / 5040,
                                 1.0 / 362880,
                                 -1.0 / 39916800,
                                 1.0 / 6227020800,
                                 -1.0 / 1307674368000,
                                 1.0 / 355687428096000};
constexpr double kCosSeries[] = {1,
                                 -1.0 / 2,
                                 1.0 / 24,
                                 -1.0 / 720,
                                 1.0 / 40320,
                                 -1.0 / 3628800,
                                 1.0 / 479001600,
                                 -1.0 / 87178291200,
                                 1.0 / 20922789888000};

// The sine of an angle that is `quarters` further on.
double sine(Angle angle, unsigned quarters) {
  const unsigned quarter = (angle.quarter + quarters) % 4;
  const double x = angle.rest;
  const double value = quarter % 2 == 0 ? x * series(kSinSeries, x * x) : series(kCosSeries, x * x);
  return quarter >= 2 ? -value : value;
}

bool is_finite(float x) { return (std::bit_cast<std::uint32_t>(x) & 0x7F800000U) != 0x7F800000U; }

float magnitude_of(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFU);
}

bool is_negative(float x) { return std::bit_cast<std::uint32_t>(x) >> 31U != 0; }

// --- tanh ----------------------------------------------------------------------------------------

// sinh(x) / x and cosh(x) by x^2
constexpr double kSinhSeries[] = {1,
                                  1.0 / 6,
                                  1.0 / 120,
                                  1.0 / 5040,
                                  1.0 / 362880,
                                  1.0 / 39916800,
                                  1.0 / 6227020800,
                                  1.0 / 1307674368000,
                                  1.0 / 355687428096000};
constexpr double kCoshSeries[] = {1,
                                  1.0 / 2,
                                  1.0 / 24,
                                  1.0 / 720,
                                  1.0 / 40320,
                                  1.0 / 3628800,
                                  1.0 / 479001600,
                                  1.0 / 87178291200,
                                  1.0 / 20922789888000};

// Beyond 20, 1 is nearer than 2^-50.
double positive_tanh(double x) {
  if (x < 0.5) return x * series(kSinhSeries, x * x) / series(kCoshSeries, x * x);
  if (x > 20) return 1;
  return 1 - 2 / (power(2 * kLog2E * x) + 1);
}

}  // namespace

double ex2(float x) {
  if (x > 1000) return kInfinity;
  if (x < -1000) return 0;
  return x != x ? kNan : power(x);
}

double lg2(float x) {
  if (x == 0) return -kInfinity;
  if (x < 0 || x != x) return kNan;
  if (!is_finite(x)) return kInfinity;
  const auto bits = std::bit_cast<std::uint64_t>(double{x});
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;
  const auto exponent = static_cast<int>(bits >> 52U) - 1023;
  const auto m = std::bit_cast<double>((bits & kFraction) | (std::uint64_t{1023} << 52U));
  constexpr double kRootTwo = 0x1.6a09e667f3bcdp+0;
  return m > kRootTwo ? exponent + 1 + small_log(m / 2) : exponent + small_log(m);
}

double sin_of(float x) {
  if (!is_finite(x)) return kNan;
  const double value = sine(reduce(magnitude_of(x)), 0);
  return is_negative(x) ? -value : value;
}

double cos_of(float x) {
  if (!is_finite(x)) return kNan;
  return sine(reduce(magnitude_of(x)), 1);
}

double tanh_of(float x) {
  if (x != x) return kNan;
  const double value = positive_tanh(magnitude_of(x));
  return is_negative(x) ? -value : value;
}

}  // namespace ww::num
