// SPDX-License-Identifier: Apache-2.0
// Integer instructions as functions of one lane's values. All of them are total: overflow wraps,
// and what C++ leaves undefined (shifts beyond the width, dividing by zero) is as on hardware.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/wide.h"

namespace ww::sim::lane {

__extension__ using UnsignedWide = unsigned __int128;

template <typename T>
constexpr unsigned kBits = 8 * sizeof(T);

/// The unsigned type to wrap around in: that of T, but no narrower than 32 bits, where C++ would
/// calculate with signed numbers.
template <typename T>
using Wrap = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
template <typename T>
constexpr Wrap<T> wrap(T value) {
  return static_cast<Wrap<T>>(value);
}

template <typename T>
struct Doubled;
// clang-format off
template <> struct Doubled<std::uint16_t> { using Type = std::uint32_t; };
template <> struct Doubled<std::int16_t>  { using Type = std::int32_t; };
template <> struct Doubled<std::uint32_t> { using Type = std::uint64_t; };
template <> struct Doubled<std::int32_t>  { using Type = std::int64_t; };
template <> struct Doubled<std::uint64_t> { using Type = UnsignedWide; };
template <> struct Doubled<std::int64_t>  { using Type = ww::Wide; };
// clang-format on
template <typename T>
using Double = typename Doubled<T>::Type;

// --- sums and products ---------------------------------------------------------------------------

constexpr auto kAdd = []<typename T>(T a, T b) { return static_cast<T>(wrap(a) + wrap(b)); };
constexpr auto kSub = []<typename T>(T a, T b) { return static_cast<T>(wrap(a) - wrap(b)); };
constexpr auto kNegate = []<typename T>(T a) { return static_cast<T>(Wrap<T>{0} - wrap(a)); };
constexpr auto kAbs = []<typename T>(T a) { return a < 0 ? kNegate(a) : a; };

inline std::int32_t clamp32(std::int64_t value) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, Limits::min(), Limits::max()));
}
inline std::int32_t add_sat(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} + b); }
inline std::int32_t sub_sat(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} - b); }

constexpr auto kMulWide = []<typename T>(T a, T b) {
  return static_cast<Double<T>>(static_cast<Double<T>>(a) * static_cast<Double<T>>(b));
};
constexpr auto kMulLo = []<typename T>(T a, T b) { return static_cast<T>(wrap(a) * wrap(b)); };
constexpr auto kMulHi = []<typename T>(T a, T b) {
  return static_cast<T>(kMulWide(a, b) >> kBits<T>);
};

/// The product of the low 24 bits, with their sign in signed types; 48 bits.
template <typename T>
constexpr Double<T> mul24(T a, T b) {
  const auto low24 = [](T x) { return static_cast<T>(static_cast<T>(wrap(x) << 8U) >> 8U); };
  return kMulWide(low24(a), low24(b));
}
constexpr auto kMul24Lo = []<typename T>(T a, T b) { return static_cast<T>(mul24(a, b)); };
constexpr auto kMul24Hi = []<typename T>(T a, T b) { return static_cast<T>(mul24(a, b) >> 16U); };

/// Mul(a, b) + c, and the same clamped.
template <auto Mul>
constexpr auto kThenAdd = [](auto a, auto b, auto c) { return kAdd(Mul(a, b), c); };
template <auto Mul>
constexpr auto kThenAddSat =
    [](std::int32_t a, std::int32_t b, std::int32_t c) { return add_sat(Mul(a, b), c); };

constexpr auto kSad = []<typename T>(T a, T b, T c) {
  return kAdd(a < b ? kSub(b, a) : kSub(a, b), c);
};

constexpr auto kMin = []<typename T>(T a, T b) { return std::min(a, b); };
constexpr auto kMax = []<typename T>(T a, T b) { return std::max(a, b); };
constexpr auto kMinRelu = []<typename T>(T a, T b) { return std::max(std::min(a, b), T{0}); };
constexpr auto kMaxRelu = []<typename T>(T a, T b) { return std::max(std::max(a, b), T{0}); };

/// F on the two halves of a word, as numbers of type H.
template <auto F, typename H>
std::uint32_t on_halves(std::uint32_t a, std::uint32_t b) {
  const auto low = static_cast<std::uint16_t>(F(static_cast<H>(a), static_cast<H>(b)));
  const auto high =
      static_cast<std::uint16_t>(F(static_cast<H>(a >> 16U), static_cast<H>(b >> 16U)));
  return static_cast<std::uint32_t>(low) | (static_cast<std::uint32_t>(high) << 16U);
}

// --- division ------------------------------------------------------------------------------------

/// The manual leaves division by zero to the machine: all bits of the result are ones, seen on an
/// H200 for all widths.
constexpr auto kDiv = []<typename T>(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return kNegate(a);
  }
  return static_cast<T>(a / b);
};
constexpr auto kRem = []<typename T>(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return T{0};
  }
  return static_cast<T>(a % b);
};

// --- carry ---------------------------------------------------------------------------------------

template <typename T>
struct Carried {
  T value;
  bool carry;
};
/// a + b + carry.
constexpr auto kAddCarry = []<typename T>(T a, T b, bool carry) {
  const auto sum = static_cast<T>(wrap(a) + wrap(b) + Wrap<T>{carry});
  return Carried<T>{sum, carry ? wrap(sum) <= wrap(a) : wrap(sum) < wrap(a)};
};
/// a - b, less 1 without a carry. Hardware adds the complement, so its carry flag is the opposite
/// of the borrow that the manual speaks of; that shows only where adding follows subtracting.
constexpr auto kSubCarry = []<typename T>(T a, T b, bool carry) {
  return kAddCarry(a, static_cast<T>(~b), carry);
};
template <auto Mul>
constexpr auto kMadCarry =
    []<typename T>(T a, T b, T c, bool carry) { return kAddCarry(Mul(a, b), c, carry); };

// --- counting and finding ------------------------------------------------------------------------

constexpr auto kPopc = []<typename T>(T a) {
  // In parallel, pairs first, so that lanes can be counted side by side.
  a = static_cast<T>(a - ((a >> 1U) & static_cast<T>(0x5555555555555555U)));
  const auto twos = static_cast<T>(0x3333333333333333U);
  a = static_cast<T>((a & twos) + ((a >> 2U) & twos));
  a = static_cast<T>((a + (a >> 4U)) & static_cast<T>(0x0F0F0F0F0F0F0F0FU));
  for (unsigned width = 8; width < kBits<T>; width *= 2) a = static_cast<T>(a + (a >> width));
  return static_cast<std::uint32_t>(a & 0x7FU);
};
constexpr auto kClz = [](auto a) { return static_cast<std::uint32_t>(std::countl_zero(a)); };

constexpr std::uint32_t kNotFound = 0xFFFFFFFFU;

/// The place of the highest 1, of negative numbers of the highest 0; with `.shiftamt` how far that
/// is from the top.
template <bool kShiftAmount>
constexpr auto kBfind = []<typename T>(T a) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
  const auto above = static_cast<std::uint32_t>(std::countl_zero(bits));
  if (bits == 0) return kNotFound;
  return kShiftAmount ? above : kBits<T> - 1 - above;
};

/// The n-th 1 of the mask from a place on, upwards or (n < 0) downwards; n = 0: whether there is
/// one just there.
inline std::uint32_t fns(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  const std::int64_t step = offset < 0 ? -1 : 1;
  std::int64_t left = std::max<std::int64_t>(step * offset, 1);
  const std::int64_t end = offset == 0 ? std::int64_t{base} + 1 : (offset < 0 ? -1 : 32);
  for (std::int64_t at = base; at < 32 && at != end; at += step) {
    left -= (mask >> static_cast<unsigned>(at)) & 1U;
    if (left == 0) return static_cast<std::uint32_t>(at);
  }
  return kNotFound;
}

// --- bit fields ----------------------------------------------------------------------------------

/// n ones; all for the width and beyond.
template <typename T>
constexpr T ones(std::uint32_t n) {
  return n >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << n) - 1U);
}
template <typename T>
constexpr T shift_left(T a, std::uint32_t n) {
  return n >= kBits<T> ? T{0} : static_cast<T>(wrap(a) << n);
}
/// Signed types fill with the sign.
template <typename T>
constexpr T shift_right(T a, std::uint32_t n) {
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(n, kBits<T> - 1));
  return n >= kBits<T> ? T{0} : static_cast<T>(a >> n);
}
/// The low n bits as a number of type T.
template <typename T>
constexpr T extend(T a, std::uint32_t n) {
  if constexpr (std::is_signed_v<T>) {
    if (n == 0) return 0;
    const std::uint32_t above = kBits<T> - std::min(n, kBits<T>);
    return static_cast<T>(static_cast<T>(wrap(a) << above) >> above);
  }
  return static_cast<T>(a & ones<T>(n));
}

constexpr auto kBrev = []<typename T>(T a) {
  T ends = static_cast<T>(~T{0});  // the low half of each piece of 2 * width bits
  for (unsigned width = kBits<T> / 2; width > 0; width /= 2) {
    ends = static_cast<T>(ends ^ (ends << width));
    a = static_cast<T>(((a >> width) & ends) | ((a & ends) << width));
  }
  return a;
};

/// The manual takes place and length modulo 256. With 64 bits they are taken as they are instead
/// (an H200 with ptxas 13.0): beyond the width there is nothing but the sign.
template <typename T>
constexpr std::uint32_t kFieldMask = sizeof(T) == 4 ? 0xFFU : 0xFFFFFFFFU;

constexpr auto kBfe = []<typename T>(T a, std::uint32_t pos, std::uint32_t len) {
  return extend(shift_right(a, pos & kFieldMask<T>), len & kFieldMask<T>);
};
constexpr auto kBfi = []<typename T>(T a, T b, std::uint32_t pos, std::uint32_t len) {
  const T field = shift_left(ones<T>(len & kFieldMask<T>), pos & kFieldMask<T>);
  return static_cast<T>((b & ~field) | (shift_left(a, pos & kFieldMask<T>) & field));
};
/// With a place and a length that are constants: pos | len << 8.
constexpr auto kBfeImm = [](std::int64_t field, auto a) {
  return kBfe(a, static_cast<std::uint32_t>(field & 0xFF), static_cast<std::uint32_t>(field >> 8));
};
constexpr auto kBfiImm = [](std::int64_t field, auto a, auto b) {
  return kBfi(a, b, static_cast<std::uint32_t>(field & 0xFF),
              static_cast<std::uint32_t>(field >> 8));
};

/// `.wrap` takes numbers modulo 32; `.clamp` takes all beyond for 32.
template <bool kWrap>
constexpr std::uint32_t count32(std::uint32_t n) {
  return kWrap ? n & 31U : std::min(n, 32U);
}
template <bool kWrap>
std::uint32_t bmsk(std::uint32_t pos, std::uint32_t len) {
  return shift_left(ones<std::uint32_t>(count32<kWrap>(len)), count32<kWrap>(pos));
}
template <bool kWrap>
constexpr auto kSzext = [](auto a, std::uint32_t n) { return extend(a, count32<kWrap>(n)); };

// --- dot products --------------------------------------------------------------------------------

template <typename T>
constexpr std::int32_t part(std::uint32_t word, unsigned i) {
  return static_cast<T>(word >> (kBits<T> * i));
}
/// c plus the sum of four products of bytes.
template <typename A, typename B>
std::uint32_t dp4a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (unsigned i = 0; i < 4; ++i) c += static_cast<std::uint32_t>(part<A>(a, i) * part<B>(b, i));
  return c;
}
/// c plus the sum of two products of halves of `a` with bytes of b, from byte kFirst on.
template <typename A, typename B, unsigned kFirst>
std::uint32_t dp2a(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (unsigned i = 0; i < 2; ++i) {
    c += static_cast<std::uint32_t>(part<A>(a, i) * part<B>(b, kFirst + i));
  }
  return c;
}

}  // namespace ww::sim::lane
