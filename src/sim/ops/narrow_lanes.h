// SPDX-License-Identifier: Apache-2.0
// Formats of eight bits and fewer, tf32, and stochastic rounding, one lane at a time. They give the
// same bits as num/float_format.h; these are without branches, for loops over lanes.
#pragma once

#include <bit>
#include <cstdint>

#include "num/half_lanes.h"
#include "sim/ops/float_lanes.h"

namespace ww::sim {

/// A format by its codes, which do not have the sign.
struct Narrow {
  unsigned bits;  // with the sign
  unsigned mantissa_bits;
  unsigned bias;
  std::uint32_t greatest;  // the largest number
  std::uint32_t last;      // the last code that is not a NaN
  std::uint32_t nan;       // what a NaN becomes

  friend bool operator==(const Narrow&, const Narrow&) = default;
};

inline constexpr Narrow kE4m3{8, 3, 7, 0x7E, 0x7E, 0x7F};
inline constexpr Narrow kE5m2{8, 2, 15, 0x7B, 0x7C, 0x7F};
inline constexpr Narrow kE2m3{6, 3, 1, 0x1F, 0x1F, 0x1F};
inline constexpr Narrow kE3m2{6, 2, 3, 0x1F, 0x1F, 0x1F};
inline constexpr Narrow kE2m1{4, 1, 1, 0x7, 0x7, 0x7};
inline constexpr Narrow kF16Codes{16, 10, 15, 0x7BFF, 0x7C00, 0x7FFF};
inline constexpr Narrow kBf16Codes{16, 7, 127, 0x7F7F, 0x7F80, 0x7FFF};

/// Sign and clamping, the same for all: `size` is the code of the magnitude.
template <Narrow kTo, bool kRelu>
std::uint32_t narrow_code(std::uint32_t f32, std::uint32_t size, std::uint32_t greatest) {
  const std::uint32_t capped = size < greatest ? size : greatest;
  const std::uint32_t negative = f32 >> 31U;
  const std::uint32_t below_zero = kRelu ? 0U : capped | (1U << (kTo.bits - 1));
  const std::uint32_t number = num::blend(negative != 0, below_zero, capped);
  return num::blend(F32::is_nan(f32), kTo.nan, number);
}

/// f32 to the nearest, ties to even; beyond the largest number that one (`.satfinite`). For formats
/// of eight bits and fewer.
template <Narrow kTo, bool kRelu>
std::uint32_t f32_to_narrow_lane(std::uint32_t f32) {
  constexpr unsigned kShift = 23 - kTo.mantissa_bits;
  constexpr std::uint32_t kRebias = (127 - kTo.bias) << 23U;
  constexpr std::uint32_t kNormal = kRebias + (1U << 23U);  // the smallest normal number
  // Next to this number an f32 has the spacing of the format's subnormals, so adding it rounds.
  constexpr std::uint32_t kAnchor = (127 + 1 - kTo.bias - kTo.mantissa_bits + 23) << 23U;
  const std::uint32_t code = F32::magnitude(f32);
  const std::uint32_t half = (1U << (kShift - 1)) - 1 + ((code >> kShift) & 1U);
  const std::uint32_t normal = (code - kRebias + half) >> kShift;
  const float small = std::bit_cast<float>(num::blend(code < kNormal, code, 0U));
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(small + std::bit_cast<float>(kAnchor)) - kAnchor;
  return narrow_code<kTo, kRelu>(f32, num::blend(code < kNormal, subnormal, normal), kTo.greatest);
}

/// The same for an f16.
template <Narrow kTo, bool kRelu>
std::uint32_t f16_to_narrow_lane(std::uint32_t f16) {
  const float value = num::f16_to_f32(static_cast<std::uint16_t>(f16));
  return f32_to_narrow_lane<kTo, kRelu>(std::bit_cast<std::uint32_t>(value));
}

/// To f16, which holds every number of these formats. The bits are those of an f32 with another
/// bias, which a multiplication by a power of two corrects, for subnormals too.
template <Narrow kFrom, bool kRelu>
std::uint32_t narrow_to_f16_lane(std::uint32_t bits) {
  constexpr std::uint32_t kSign = 1U << (kFrom.bits - 1);
  constexpr auto kScale = std::bit_cast<float>((254 - kFrom.bias) << 23U);  // 2^(127 - bias)
  const std::uint32_t size = bits & (kSign - 1);
  const float value = std::bit_cast<float>(size << (23 - kFrom.mantissa_bits)) * kScale;
  const std::uint32_t code = num::f32_to_f16(value);
  const std::uint32_t below_zero = kRelu ? 0U : code | 0x8000U;
  return num::blend(size > kFrom.last, 0x7FFFU, num::blend((bits & kSign) != 0, below_zero, code));
}

/// A power of two to bf16: 2^(code - 127), or NaN.
inline std::uint32_t ue8m0_to_bf16_lane(std::uint32_t code) {
  const std::uint32_t number = code == 0 ? 0x0040U : code << 7U;
  return code == 0xFF ? 0x7FFFU : number;
}

/// The size of an f32 to a power of two: `up` to the next, else to the one below. What is too large
/// becomes NaN, or with `finite` the largest.
template <bool kUp, bool kFinite>
std::uint32_t f32_to_ue8m0_lane(std::uint32_t f32) {
  const std::uint32_t code = F32::magnitude(f32);
  const std::uint32_t exponent = code >> 23U;
  // Below 2^-126, only what is above 2^-127 rounds up.
  const std::uint32_t from = exponent == 0 ? 0x0040'0000U : exponent << 23U;
  const std::uint32_t size = exponent + static_cast<std::uint32_t>(kUp && code > from);
  const std::uint32_t greatest = kFinite ? 0xFEU : 0xFFU;
  return code > F32::kInf ? 0xFFU : (size < greatest ? size : greatest);
}

// --- tf32 ---------------------------------------------------------------------------------------

/// As on an H200: a NaN becomes canonical, but where ties go away from zero it is cut off like a
/// number, and with `finite` is one code less, as an infinity is.
template <Rounding R, bool kRelu, bool kFinite>
std::uint32_t f32_to_tf32_lane(std::uint32_t f32) {
  constexpr std::uint32_t kCut = 0x1FFF;
  std::uint32_t sum = f32;
  if constexpr (R == Rounding::NearestEven) sum += 0x0FFFU + ((f32 >> 13U) & 1U);
  if constexpr (R == Rounding::NearestAway) sum += 0x1000U;
  const std::uint32_t code = sum & ~kCut;
  const bool is_infinite = F32::magnitude(code) >= F32::kInf;
  const std::uint32_t finite = kFinite && is_infinite ? (code & F32::kSign) | 0x7F7F'E000U : code;
  const std::uint32_t number = kRelu && (f32 & F32::kSign) != 0 ? 0U : finite;
  const std::uint32_t cut_off = (f32 & ~kCut) - (kFinite ? kCut + 1 : 0U);
  const std::uint32_t nan = R == Rounding::NearestAway ? cut_off : F32::kNan & ~kCut;
  return F32::is_nan(f32) ? nan : number;
}

// --- stochastic rounding -------------------------------------------------------------------------

/// f32 rounded toward zero, or away from it if the upper bits of what is cut off and `random`, of
/// `count` bits, add up to a carry.
template <Narrow kTo, bool kRelu, bool kFinite>
std::uint32_t f32_by_chance_lane(std::uint32_t f32, std::uint32_t random, unsigned count) {
  constexpr std::uint32_t kFirst = 127 - kTo.bias + 1;  // exponent of the smallest normal number
  constexpr std::uint32_t kMax = 40;                    // cuts off all 24 bits and leaves no carry
  const std::uint32_t code = F32::magnitude(f32);
  const std::uint32_t biased = code >> 23U;
  const std::uint32_t exponent = biased == 0 ? 1U : biased;
  const std::uint64_t significand = (code & 0x7F'FFFFU) | (biased == 0 ? 0U : 0x80'0000U);
  const std::uint32_t unit = exponent > kFirst ? exponent : kFirst;
  const std::uint32_t wanted = 23 - kTo.mantissa_bits + (unit - exponent);
  const std::uint32_t shift = wanted < kMax ? wanted : kMax;
  const std::uint64_t chance = std::uint64_t{random & ((1U << count) - 1U)} << (shift - count);
  const auto kept = static_cast<std::uint32_t>((significand + chance) >> shift);
  // A number's code is its mantissa, hidden bit included, plus its exponent.
  const std::uint32_t size = kept + ((unit - kFirst) << kTo.mantissa_bits);
  const bool is_special = code >= F32::kInf;
  return narrow_code<kTo, kRelu>(f32, is_special ? kTo.last : size,
                                 kFinite ? kTo.greatest : kTo.last);
}

}  // namespace ww::sim
