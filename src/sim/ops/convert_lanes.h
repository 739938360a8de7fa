// SPDX-License-Identifier: Apache-2.0
// `cvt` between numbers, one lane at a time. `convert` does every pair of types, with every
// modifier; the templates below it do common pairs in loops that become vector code.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "isa/type.h"
#include "num/half_lanes.h"
#include "sim/ops/float_lanes.h"
#include "sim/ops/half_arithmetic.h"

namespace ww::sim {

/// The treatment of values out of range; each is optional.
enum Clamp : std::uint8_t {
  kNoClamp = 0,
  kSat = 1,     // floats to 0…1, NaN to 0; integers to their range
  kRelu = 2,    // negative numbers to 0
  kFinite = 4,  // infinities to the largest number
};

/// A conversion: eight bytes, which an op holds in its `imm`.
struct Conversion {
  isa::Type from{}, to{};
  Rounding rounding = Rounding::NearestEven;
  bool integral = false;  // rounds to a whole number first
  bool ftz = false;       // of f32, but not of what becomes f16
  std::uint8_t clamp = kNoClamp;
  std::uint8_t from_bytes = 0, to_bytes = 0;  // of the registers
};

/// The source's low bits, converted, and extended to 64 bits as the type says: by the sign for
/// signed integers, else by zeros.
std::uint64_t convert(const Conversion& how, std::uint64_t bits);

/// The low bits that make a value of the type, extended as above.
std::uint64_t extended(isa::Type type, std::uint64_t bits);

// --- common pairs -------------------------------------------------------------------------------

template <Rounding R, typename T>
T whole_number(T value) {
  if constexpr (R == Rounding::NearestEven) return std::nearbyint(value);
  if constexpr (R == Rounding::TowardZero) return std::trunc(value);
  if constexpr (R == Rounding::Down) return std::floor(value);
  if constexpr (R == Rounding::Up) return std::ceil(value);
}

/// What NaN becomes as an integer: 0, but the highest bit where f64 or 64 bits are involved.
template <typename D, typename T>
constexpr D nan_as_integer() {
  const bool is_wide = sizeof(T) == 8 || sizeof(D) == 8;
  return is_wide ? static_cast<D>(D{1} << (sizeof(D) * 8 - 1)) : D{0};
}

/// A whole number to an integer of 32 or 64 bits, clamped to its range.
template <typename D, typename T>
D to_integer(T whole) {
  constexpr T kLow = static_cast<T>(std::numeric_limits<D>::min());
  constexpr D kHalf = std::numeric_limits<D>::max() / 2 + 1;
  constexpr T kEnd = static_cast<T>(kHalf) * 2;
  const T above = whole > kLow ? whole : kLow;  // kLow for NaN
  const bool is_beyond = above >= kEnd;
  const D inside = static_cast<D>(is_beyond ? T{0} : above);
  const D number = is_beyond ? std::numeric_limits<D>::max() : inside;
  return whole == whole ? number : nan_as_integer<D, T>();
}

/// float and double by the bits of their lanes.
template <typename Bits>
using FloatOf = std::conditional_t<sizeof(Bits) == 4, float, double>;

template <typename D, typename Bits, Rounding R>
D float_to_int_lane(Bits bits) {
  return to_integer<D>(whole_number<R>(std::bit_cast<FloatOf<Bits>>(bits)));
}
template <typename Bits, typename S>
Bits int_to_float_lane(S value) {  // to nearest
  return std::bit_cast<Bits>(static_cast<FloatOf<Bits>>(value));
}
template <Rounding R>
std::uint32_t f32_to_whole_lane(std::uint32_t bits) {
  const float whole = whole_number<R>(std::bit_cast<float>(bits));
  return F32::canonical(std::bit_cast<std::uint32_t>(whole));
}

// Between f64 and the other formats NaNs keep their sign and the upper bits of their payload, and
// become quiet.
template <typename Format>
inline constexpr int kPayloadBits = std::countr_zero(Format::kInf);
template <typename Format>
inline constexpr int kPayloadShift = 52 - kPayloadBits<Format>;

template <typename Format>
std::uint64_t nan_to_f64(typename Format::U nan) {
  constexpr unsigned kSignShift = 64 - 8 * sizeof nan;
  const std::uint64_t sign = std::uint64_t{nan} << kSignShift & F64::kSign;
  return sign |
         F64::quiet(F64::kInf | std::uint64_t{Format::magnitude(nan)} << kPayloadShift<Format>);
}
template <typename Format>
typename Format::U nan_from_f64(std::uint64_t nan) {
  using U = typename Format::U;
  constexpr unsigned kSignShift = 64 - 8 * sizeof(U);
  constexpr std::uint64_t kPayload = ~(~std::uint64_t{0} << kPayloadBits<Format>);
  const std::uint64_t sign = nan >> kSignShift & Format::kSign;
  const std::uint64_t payload = nan >> kPayloadShift<Format> & kPayload;
  return Format::quiet(static_cast<U>(sign | Format::kInf | payload));
}

inline std::uint64_t f32_to_f64_lane(std::uint32_t bits) {
  const double value = std::bit_cast<float>(bits);
  return F32::is_nan(bits) ? nan_to_f64<F32>(bits) : std::bit_cast<std::uint64_t>(value);
}
template <Rounding R>
std::uint32_t f64_to_f32_lane(std::uint64_t bits) {
  const float value = to_f32<R>(std::bit_cast<double>(bits));
  return F64::is_nan(bits) ? nan_from_f64<F32>(bits) : std::bit_cast<std::uint32_t>(value);
}

inline std::uint32_t f16_to_f32_lane(std::uint16_t bits) {
  return F32::canonical(std::bit_cast<std::uint32_t>(num::f16_to_f32(bits)));
}
/// Also NaNs.
inline std::uint32_t bf16_to_f32_lane(std::uint16_t bits) { return std::uint32_t{bits} << 16U; }

/// A conversion to the same type, which is a move.
template <typename Bits>
Bits same_lane(Bits bits) {
  return bits;
}

/// Between halves and integers of up to 32 bits, which a double holds.
template <typename Format, typename S>
std::uint16_t int_to_half_lane(S value) {  // to nearest
  return Format::narrow(num::odd_to_f32(static_cast<double>(value)));
}
template <typename D, typename Format, Rounding R>
D half_to_int_lane(std::uint16_t bits) {
  return to_integer<D>(whole_number<R>(Format::widen(bits)));
}

/// f32 to a half, to nearest or toward zero: F is one of num/half_lanes.h.
template <typename Format, auto F, std::uint8_t kClamp = kNoClamp>
std::uint16_t f32_to_half_lane(std::uint32_t bits) {
  const std::uint16_t code = F(std::bit_cast<float>(bits));
  const bool is_cut = (kClamp & kFinite) != 0 && Format::magnitude(code) == Format::kInf;
  const auto finite = static_cast<std::uint16_t>(is_cut ? code - 1 : code);
  return (kClamp & kRelu) != 0 && (code & Format::kSign) != 0 ? std::uint16_t{0} : finite;
}

}  // namespace ww::sim
