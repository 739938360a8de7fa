// SPDX-License-Identifier: Apache-2.0
// 16-bit floating point for loops over lanes: f16 and bf16 to f32 and back, inline and without
// branches, so that a compiler turns a loop of them into vector code. They give the same bits as
// num/float_format.h, which says what is meant; use that one where speed does not matter.
//
// Narrow arithmetic goes through a wider type and rounds once more at the end, which is wrong when
// the first rounding already fell on a tie. `fma_odd` avoids it by rounding to odd: an inexact
// result gets an odd last bit, so it is never mistaken for a tie. With a, b and c of format f16,
// bf16, tf32 or f32,
//
//   f32_to_f16(odd_to_f32(fma_odd(a, b, c)))      is fma.rn.f16
//   encode(DType::Float32, fma_odd(a, b, c), r)   is fma.f32 with rounding r
//
// Nothing here depends on fused multiply-add or on the host's own half precision; flushing of
// subnormals must be off and the rounding to nearest even, as every program starts.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace ww::num {

/// `yes` where `condition` holds, else `no`, by masking: if an arm of a ternary has floating-point
/// arithmetic, GCC makes it a branch and does not vectorise the loop.
inline std::uint32_t blend(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return no ^ ((yes ^ no) & mask);
}

/// The value of an f16 code. A NaN is widened bit by bit: sign and payload stay, a signalling one
/// stays signalling.
inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t wide = bits;
  const std::uint32_t sign = (wide & 0x8000U) << 16U;
  const std::uint32_t code = (wide & 0x7FFFU) << 13U;
  // The exponent is rebiased by 112, and once more for infinity and NaN, whose exponent is all
  // ones.
  const std::uint32_t normal = code + (112U << 23U) + (code >= (0x7C00U << 13U) ? 112U << 23U : 0U);
  // A subnormal's bits, put below a hidden one that is then subtracted.
  const float above = std::bit_cast<float>(code + (113U << 23U)) - 0x1p-14F;
  const auto subnormal = std::bit_cast<std::uint32_t>(above);
  return std::bit_cast<float>(sign | blend(code < (0x0400U << 13U), subnormal, normal));
}

/// The value of a bf16 code; a NaN keeps sign and payload.
inline float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// To the nearest f16, ties to even; beyond 65504 infinity. Every NaN gives 0x7FFF.
inline std::uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t code = bits & 0x7FFFFFFFU;
  const std::uint32_t normal = (code - (112U << 23U) + 0xFFFU + ((code >> 13U) & 1U)) >> 13U;
  // Next to 0.5 an f32 has the spacing of f16's subnormals, so the addition rounds.
  const float above = std::bit_cast<float>(blend(code < 0x38800000U, code, 0U)) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(above) - 0x3F000000U;
  const std::uint32_t finite = blend(code < 0x38800000U, subnormal, normal);
  const std::uint32_t number = sign | blend(code >= 0x477FF000U, 0x7C00U, finite);
  return static_cast<std::uint16_t>(blend(code > 0x7F800000U, 0x7FFFU, number));
}

/// Toward zero; a finite value beyond 65504 gives 65504. Every NaN gives 0x7FFF.
inline std::uint16_t f32_to_f16_rz(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t code = bits & 0x7FFFFFFFU;
  const std::uint32_t normal = (code - (112U << 23U)) >> 13U;
  // In units of the smallest subnormal; conversion to an integer cuts off.
  const float units = std::bit_cast<float>(blend(code < 0x38800000U, code, 0U)) * 0x1p24F;
  const auto subnormal = static_cast<std::uint32_t>(static_cast<std::int32_t>(units));
  const std::uint32_t finite = blend(code < 0x38800000U, subnormal, normal);
  const std::uint32_t largest = code == 0x7F800000U ? 0x7C00U : 0x7BFFU;
  const std::uint32_t number = sign | blend(code >= 0x47800000U, largest, finite);
  return static_cast<std::uint16_t>(blend(code > 0x7F800000U, 0x7FFFU, number));
}

/// To the nearest bf16, ties to even; beyond the largest number infinity. Every NaN gives 0x7FFF.
inline std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FFFU : rounded);
}

/// Toward zero. Every NaN gives 0x7FFF.
inline std::uint16_t f32_to_bf16_rz(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FFFU : bits >> 16U);
}

/// a + b rounded to odd, for float and double. Infinities and the signs of zeros come out as in
/// IEEE 754 rounding to nearest; NaNs as the host makes them.
template <typename T>
inline T sum_odd(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const T sum = a + b;
  // What the addition lost, exactly (Knuth's two-sum).
  const T added = sum - a;
  const T lost = (a - (sum - added)) + (b - added);
  const auto bits = std::bit_cast<Bits>(sum);
  const bool inexact = lost > 0 || lost < 0;  // neither for the NaN that infinities leave here
  const bool outward = (lost > 0) == (sum > 0);
  const Bits odd = outward ? bits + 1 : bits - 1;
  return std::bit_cast<T>(inexact && (bits & 1U) == 0 ? odd : bits);
}

/// a * b + c rounded to odd, where a * b is exact in double: that of two f32, tf32, f16 or bf16
/// values is. Infinities, zeros and NaNs as above (so a sum that cancels is +0, where rounding down
/// wants -0).
inline double fma_odd(double a, double b, double c) { return sum_odd(a * b, c); }

/// A double as an f32 rounded to odd: what goes on to f16 or bf16 is then rounded once only. NaNs
/// as the host makes them.
inline float odd_to_f32(double value) {
  const auto near = static_cast<float>(value);
  const double back = near;
  const auto bits = std::bit_cast<std::uint32_t>(near);
  const bool inexact = back < value || back > value;
  const bool outward = (back < value) == (value > 0);
  const std::uint32_t odd = outward ? bits + 1 : bits - 1;
  return std::bit_cast<float>(inexact && (bits & 1U) == 0 ? odd : bits);
}

}  // namespace ww::num
