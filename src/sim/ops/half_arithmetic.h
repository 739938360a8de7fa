// SPDX-License-Identifier: Apache-2.0
// f16 and bf16, one lane at a time: bits in, bits out, rounded once. Sums, differences and products
// of halves in f32 have enough bits that the second rounding, to the half, does no harm (24 is at
// least twice the 11 bits of f16 plus two). A fused multiply-add has not, and is rounded to odd
// first: for f16 in f32, where a product is exact and cannot overflow; for bf16 in double.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "num/half_lanes.h"
#include "sim/ops/float_lanes.h"

namespace ww::sim {

struct F16 : FormatBits<std::uint16_t, 0x7C00, 0x7FFF> {
  static constexpr std::uint16_t kOne = 0x3C00;
  static float widen(std::uint16_t bits) { return num::f16_to_f32(bits); }
  static std::uint16_t narrow(float value) { return num::f32_to_f16(value); }
  static float fma(float a, float b, float c) { return num::sum_odd(a * b, c); }
  /// Whether `.ftz` makes it 0: below 2^-14 with all 11 bits, see float_lanes.h.
  static bool rounds_to_tiny(float value) { return std::abs(value) < 0x1.FFEp-15F; }
};
struct Bf16 : FormatBits<std::uint16_t, 0x7F80, 0x7FFF> {
  static constexpr std::uint16_t kOne = 0x3F80;
  static float widen(std::uint16_t bits) { return num::bf16_to_f32(bits); }
  static std::uint16_t narrow(float value) { return num::f32_to_bf16(value); }
  static float fma(float a, float b, float c) { return num::odd_to_f32(num::fma_odd(a, b, c)); }
};

/// The modifiers of a half precision instruction.
struct HalfMode {
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool oob = false;  // 0 where a or b is the NaN that copies fill in out of bounds
};

/// That NaN, for f16 and bf16 alike, with either sign.
inline constexpr std::uint16_t kOobNan = 0x7FF7;
constexpr bool is_oob_nan(std::uint16_t bits) { return (bits & 0x7FFFU) == kOobNan; }

template <typename Format, HalfMode kMode>
float half_input(std::uint16_t bits) {
  return Format::widen(Format::template flushed_if<kMode.ftz>(bits));
}

/// The result of an operation in f32 that rounds to a half as the exact one does.
template <typename Format, HalfMode kMode>
std::uint16_t half_output(float value) {
  using U = std::uint16_t;
  U code = Format::narrow(value);
  if constexpr (kMode.ftz) {
    const U zero = code & Format::kSign;
    code = static_cast<U>(num::blend(Format::rounds_to_tiny(value), zero, code));
  }
  const bool negative = (code & Format::kSign) != 0;
  if constexpr (kMode.sat) {
    const U below_one = code < Format::kOne ? code : Format::kOne;
    return negative || Format::is_nan(code) ? U{0} : below_one;
  }
  if constexpr (kMode.relu) return negative ? U{0} : code;  // a NaN made here has no sign
  return code;
}

struct HalfAdd {
  static float of(float a, float b) { return a + b; }
};
struct HalfSub {
  static float of(float a, float b) { return a - b; }
};
struct HalfMul {
  static float of(float a, float b) { return a * b; }
};

template <typename Operation, typename Format, HalfMode kMode>
std::uint16_t half_lane(std::uint16_t a, std::uint16_t b) {
  return half_output<Format, kMode>(
      Operation::of(half_input<Format, kMode>(a), half_input<Format, kMode>(b)));
}

template <typename Format, HalfMode kMode>
std::uint16_t half_fma_lane(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  const std::uint16_t value = half_output<Format, kMode>(Format::fma(
      half_input<Format, kMode>(a), half_input<Format, kMode>(b), half_input<Format, kMode>(c)));
  if constexpr (!kMode.oob) return value;
  const std::uint32_t inside = num::blend(is_oob_nan(b), 0U, value);
  return static_cast<std::uint16_t>(num::blend(is_oob_nan(a), 0U, inside));
}

/// A function of num/approx.h, rounded once, of `count` numbers: a loop of calls between two that
/// become vector code.
template <typename Format, auto F, bool kFtz, unsigned kCount>
[[gnu::flatten]] void half_function(const std::uint16_t* a, std::uint16_t* d) {
  float input[kCount];
  double value[kCount];
#pragma GCC ivdep
  for (unsigned i = 0; i < kCount; ++i) {
    input[i] = half_input<Format, HalfMode{.ftz = kFtz}>(a[i]);
  }
  for (unsigned i = 0; i < kCount; ++i) value[i] = F(input[i]);
#pragma GCC ivdep
  for (unsigned i = 0; i < kCount; ++i) {
    d[i] = Format::template flushed_if<kFtz>(Format::narrow(num::odd_to_f32(value[i])));
  }
}

// Mixed precision: halves and f32, in f32.
template <typename Format>
std::uint32_t f32_bits(std::uint16_t half) {
  return std::bit_cast<std::uint32_t>(Format::widen(half));
}
template <typename Operation, typename Format, F32Mode kMode>
std::uint32_t mixed_lane(std::uint16_t a, std::uint32_t c) {
  return f32_lane<Operation, kMode>(f32_bits<Format>(a), c);
}
template <typename Format, F32Mode kMode>
std::uint32_t mixed_fma_lane(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
  return f32_lane<Fma, kMode>(f32_bits<Format>(a), f32_bits<Format>(b), c);
}

}  // namespace ww::sim
