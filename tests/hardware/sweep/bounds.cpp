// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace ww::sweep {
namespace {

using isa::Type;

constexpr double kNoPromise = std::numeric_limits<double>::infinity();

double ulps(Type type, double count, double result) { return count * unit_of(type, result); }
double two_ulps(double, double, double result) { return ulps(Type::F32, 2, result); }
double one_ulp(double, double, double result) { return ulps(Type::F32, 1, result); }
double two_ulps_f64(double, double, double result) { return ulps(Type::F64, 2, result); }

template <int kTenths>  // 2^-(kTenths / 10) of the result
double relative(double, double, double result) {
  return std::fabs(result) * std::exp2(-kTenths / 10.0);
}

template <int kTenths, Type kType>  // results may be subnormal, where a unit is more than that
double relative_or_ulp(double a, double b, double result) {
  return std::max(relative<kTenths>(a, b, result), ulps(kType, 1, result));
}

double quotient(double, double b, double result) {
  const double size = std::fabs(b);
  const bool in_range = size >= std::exp2(-126) && size <= std::exp2(126);
  return in_range ? ulps(Type::F32, 2, result) : kNoPromise;
}

double circular(double a, double, double) {
  const double size = std::fabs(a);
  if (size <= 2 * std::numbers::pi) return std::exp2(-20.5);
  return size <= 100 * std::numbers::pi ? std::exp2(-14.7) : kNoPromise;
}

double logarithm(double a, double, double result) {
  if (a > 0.5 && a < 2) return std::exp2(-22);
  return std::fabs(result) * std::exp2(-22);
}

double tanh_f16(double, double, double) { return std::exp2(-10.987); }
double tanh_bf16(double, double, double) { return std::exp2(-8); }

// PTX manual 9.0, the sections of these instructions.
constexpr Bound kBounds[] = {
    {"div", "approx", Type::F32, false, "2 ulp for 2^-126 <= |b| <= 2^126", quotient},
    {"div", "full", Type::F32, false, "2 ulp", two_ulps},
    {"rcp", "approx", Type::F32, false, "1 ulp", one_ulp},
    {"rcp", "approx", Type::F64, true, "20 bits: relative 2^-20", relative<200>},
    {"sqrt", "approx", Type::F32, false, "relative 2^-23", relative<230>},
    {"rsqrt", "approx", Type::F32, false, "relative 2^-22.9", relative<229>},
    {"rsqrt", "approx", Type::F64, true, "20 bits: relative 2^-20", relative<200>},
    {"rsqrt", "approx", Type::F64, false, "2 ulp", two_ulps_f64},
    {"sin", "approx", Type::F32, false,
     "absolute 2^-20.5 for |a| <= 2 pi, 2^-14.7 for |a| <= 100 pi", circular},
    {"cos", "approx", Type::F32, false,
     "absolute 2^-20.5 for |a| <= 2 pi, 2^-14.7 for |a| <= 100 pi", circular},
    {"lg2", "approx", Type::F32, false, "absolute 2^-22 for 0.5 < a < 2, else relative 2^-22",
     logarithm},
    {"ex2", "approx", Type::F32, false, "2 ulp", two_ulps},
    {"ex2", "approx", Type::F16, false, "relative 2^-9.9, or 1 ulp",
     relative_or_ulp<99, Type::F16>},
    {"ex2", "approx", Type::Bf16, false, "relative 2^-7, or 1 ulp",
     relative_or_ulp<70, Type::Bf16>},
    {"tanh", "approx", Type::F32, false, "relative 2^-11", relative<110>},
    {"tanh", "approx", Type::F16, false, "absolute 2^-10.987", tanh_f16},
    {"tanh", "approx", Type::Bf16, false, "absolute 2^-8", tanh_bf16},
};

bool has_word(std::string_view opcode, std::string_view word) {
  while (!opcode.empty()) {
    const auto dot = opcode.find('.');
    if (opcode.substr(0, dot) == word) return true;
    opcode = dot == std::string_view::npos ? "" : opcode.substr(dot + 1);
  }
  return false;
}

struct Shape {
  unsigned exponent, mantissa;
};

Shape shape_of(Type type) {
  switch (type) {
    case Type::F16:
      return {5, 10};
    case Type::Bf16:
      return {8, 7};
    case Type::F64:
      return {11, 52};
    default:
      return {8, 23};
  }
}

}  // namespace

Type element_type(Type type) {
  switch (type) {
    case Type::F16x2:
      return Type::F16;
    case Type::Bf16x2:
      return Type::Bf16;
    default:
      return type;
  }
}

double decode(Type type, std::uint64_t bits) {
  const auto [exponent, mantissa] = shape_of(type);
  const std::uint64_t top = (1ULL << exponent) - 1;
  const std::uint64_t e = bits >> mantissa & top;
  const std::uint64_t m = bits & ((1ULL << mantissa) - 1);
  const int bias = static_cast<int>(top >> 1U);
  const bool negative = (bits >> (exponent + mantissa) & 1U) != 0;
  double value = 0;
  if (e == top) {
    value =
        m == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint64_t whole = e == 0 ? m : m | 1ULL << mantissa;
    const int power = (e == 0 ? 1 : static_cast<int>(e)) - bias - static_cast<int>(mantissa);
    value = std::ldexp(static_cast<double>(whole), power);
  }
  return negative ? -value : value;
}

double unit_of(Type type, double value) {
  const auto [exponent, mantissa] = shape_of(type);
  const int lowest = 2 - (1 << (exponent - 1));
  const int at = value == 0 || !std::isfinite(value) ? lowest : std::max(std::ilogb(value), lowest);
  return std::ldexp(1.0, at - static_cast<int>(mantissa));
}

const Bound* bound_of(const Kernel& kernel) {
  if (kernel.outputs.empty()) return nullptr;
  const Type type = element_type(kernel.outputs.front().type);
  for (const Bound& bound : kBounds) {
    const bool fits = kernel.opcode.starts_with(std::string(bound.mnemonic) + ".") &&
                      has_word(kernel.opcode, bound.mode) && bound.type == type &&
                      (!bound.only_ftz || has_word(kernel.opcode, "ftz"));
    if (fits) return &bound;
  }
  return nullptr;
}

}  // namespace ww::sweep
