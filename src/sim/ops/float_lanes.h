// SPDX-License-Identifier: Apache-2.0
// Single and double precision, one lane at a time: bits in, bits out, the same on every host.
//
// The host rounds to nearest even, and that is what `.rn` uses. The other roundings start from a
// result that is not rounded to f32 yet: a double that is exact or rounded to odd (see
// num/half_lanes.h), from which the nearest f32 and whether it lies above or below are plain to
// see. For f64 there is no wider type; there, what the nearest result misses is found with
// num::fma_f64, which is exact.
//
// Only this file decides the treatment of NaNs: `F32::kNan`, and `f64_nan`. So is what
// `.ftz` makes 0: see `rounds_to_tiny`.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "num/float_format.h"
#include "num/fma.h"
#include "num/half_lanes.h"

namespace ww::sim {

using num::Rounding;

// --- formats ------------------------------------------------------------------------------------

/// A format by its bits: what lanes need to know without a table.
template <typename Bits, Bits kInfinity, Bits kNotANumber>
struct FormatBits {
  using U = Bits;
  static constexpr U kSign = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  static constexpr U kInf = kInfinity;
  static constexpr U kNan = kNotANumber;  // the one that instructions make
  static constexpr U kQuiet = static_cast<U>((kInf >> 1U) & ~kInf);

  static constexpr U magnitude(U bits) { return static_cast<U>(bits & ~kSign); }
  static constexpr bool is_nan(U bits) { return magnitude(bits) > kInf; }
  static constexpr bool is_subnormal_or_zero(U bits) { return (bits & kInf) == 0; }
  /// A subnormal number becomes a zero of its sign.
  static constexpr U flushed(U bits) {
    return is_subnormal_or_zero(bits) ? static_cast<U>(bits & kSign) : bits;
  }
  template <bool kFtz>
  static constexpr U flushed_if(U bits) {
    if constexpr (kFtz) return flushed(bits);
    return bits;
  }
  static constexpr U canonical(U bits) { return is_nan(bits) ? kNan : bits; }
  /// A NaN with its sign and payload.
  static constexpr U quiet(U nan) { return static_cast<U>(nan | kQuiet); }
};

using F32 = FormatBits<std::uint32_t, 0x7F80'0000U, 0x7FFF'FFFFU>;
using F64 = FormatBits<std::uint64_t, 0x7FF0'0000'0000'0000U, 0xFFF8'0000'0000'0000U>;

// --- rounding -----------------------------------------------------------------------------------

/// `near` is the number nearest to the exact result, `above` whether it is greater than that one,
/// `below` whether it is less: the result under rounding R.
template <Rounding R, typename T>
T rounded(T near, bool above, bool below) {
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto bits = std::bit_cast<U>(near);
  const bool negative = (bits >> (sizeof(U) * 8 - 1)) != 0;
  if constexpr (R == Rounding::TowardZero) {
    const bool beyond = (negative && below) || (!negative && above);
    return std::bit_cast<T>(bits - static_cast<U>(beyond));
  } else if constexpr (R == Rounding::Down) {
    const U next = negative ? bits + 1 : bits - 1;
    return std::bit_cast<T>(above ? next : bits);
  } else if constexpr (R == Rounding::Up) {
    const U next = negative ? bits - 1 : bits + 1;
    return std::bit_cast<T>(below ? next : bits);
  }
  return near;
}

/// A double that is exact, or rounded to odd, to f32.
template <Rounding R>
float to_f32(double value) {
  const auto near = static_cast<float>(value);
  const double back = near;
  return rounded<R>(near, back > value, back < value);
}

// --- f32 ----------------------------------------------------------------------------------------

/// The modifiers of an f32 instruction.
struct F32Mode {
  Rounding rounding = Rounding::NearestEven;
  bool ftz = false;
  bool sat = false;
};

// With `.ftz` a result is 0 if it is below the smallest normal number once it is rounded to all 24
// bits, as if there were smaller exponents: not what IEEE 754 rounds up to that number, as its
// subnormal numbers have fewer bits. (An H200's mul.rn.ftz.f32 of 2^-126 and 1 - 2^-24 is 0.) Only
// products and quotients can tell; sums that small are exact, and roots are never that small.

inline constexpr double kLeastNormal = 0x1p-126;
inline constexpr double kNextBelow = 0x1.FFFFFEp-127;     // with 24 bits
inline constexpr double kHalfwayBelow = 0x1.FFFFFFp-127;  // rounds to kLeastNormal, which is even

/// For a result that is exact, or rounded to odd, or near enough.
template <Rounding R>
bool rounds_to_tiny(double value) {
  if constexpr (R == Rounding::NearestEven) return std::abs(value) < kHalfwayBelow;
  if constexpr (R == Rounding::TowardZero) return std::abs(value) < kLeastNormal;
  if constexpr (R == Rounding::Down) return (value >= -kNextBelow) & (value < kLeastNormal);
  if constexpr (R == Rounding::Up) return (value > -kLeastNormal) & (value <= kNextBelow);
}

/// The same for the result of an operation that rounds to nearest, if it is this much larger, which
/// leaves it all its bits. Operands for which that overflows have no tiny results.
inline constexpr float kTinyScale = 0x1p24F;
inline bool is_tiny_scaled(float value) { return std::abs(value) < 0x1p-126F * kTinyScale; }

inline float zero_if(bool is_tiny, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>(num::blend(is_tiny, bits & F32::kSign, bits));
}

template <F32Mode kMode>
float f32_input(std::uint32_t bits) {
  return std::bit_cast<float>(F32::flushed_if<kMode.ftz>(bits));
}

template <F32Mode kMode>
std::uint32_t f32_output(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if constexpr (kMode.sat) {  // NaN and -0 become +0
    const std::uint32_t below_one = value < 1.0F ? bits : 0x3F80'0000U;
    return F32::flushed_if<kMode.ftz>(value > 0.0F ? below_one : 0U);
  }
  return F32::flushed_if<kMode.ftz>(F32::canonical(bits));
}

/// a + c rounded to odd; a sum that is exactly 0 has the sign that rounding R wants.
template <Rounding R>
double sum_odd(double a, double c) {
  const double sum = num::fma_odd(a, 1.0, c);
  if constexpr (R != Rounding::Down) return sum;
  const std::uint64_t signs = std::bit_cast<std::uint64_t>(a) | std::bit_cast<std::uint64_t>(c);
  return sum == 0 ? std::bit_cast<double>(signs & F64::kSign) : sum;
}

// Each operation: `near` on the host, and `wide<R>` for the other roundings. The quotient of two
// f32 and the square root of one are never closer to an f32 than a double can tell, unless they
// are one; so they need no rounding to odd. `is_tiny` is for `near` with `.ftz`, where it makes a
// difference.
struct Add {
  static float near(float a, float b) { return a + b; }
  template <Rounding R>
  static double wide(double a, double b) {
    return sum_odd<R>(a, b);
  }
};
struct Sub {
  static float near(float a, float b) { return a - b; }
  template <Rounding R>
  static double wide(double a, double b) {
    return sum_odd<R>(a, -b);
  }
};
struct Mul {
  static float near(float a, float b) { return a * b; }
  static bool is_tiny(float a, float b) { return is_tiny_scaled(a * kTinyScale * b); }
  template <Rounding R>
  static double wide(double a, double b) {
    return a * b;
  }
};
struct Fma {
  static float near(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
    return __builtin_fmaf(a, b, c);
#else  // a call would be slower, and no vector code
    return static_cast<float>(num::fma_odd(a, b, c));
#endif
  }
  static bool is_tiny(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
    return is_tiny_scaled(__builtin_fmaf(a * kTinyScale, b, c * kTinyScale));
#else
    return rounds_to_tiny<Rounding::NearestEven>(num::fma_odd(a, b, c));
#endif
  }
  template <Rounding R>
  static double wide(double a, double b, double c) {
    return sum_odd<R>(a * b, c);
  }
};
/// The same with one instruction, for hosts that have it (num/host_lanes.h).
struct FusedFma : Fma {
  static float near(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static bool is_tiny(float a, float b, float c) {
    return is_tiny_scaled(__builtin_fmaf(a * kTinyScale, b, c * kTinyScale));
  }
};
template <typename Operation>
using WideOf = std::conditional_t<std::is_same_v<Operation, Fma>, FusedFma, Operation>;

struct Div {
  static float near(float a, float b) { return a / b; }
  static bool is_tiny(float a, float b) {  // without a division: the product is exact
    return std::abs(double{a}) < std::abs(double{b}) * kHalfwayBelow;
  }
  template <Rounding R>
  static double wide(double a, double b) {
    return a / b;
  }
};
struct Rcp {
  static float near(float a) { return 1.0F / a; }  // never between kNextBelow and kLeastNormal
  template <Rounding R>
  static double wide(double a) {
    return 1.0 / a;
  }
};
struct Sqrt {
  static float near(float a) { return std::sqrt(a); }
  template <Rounding R>
  static double wide(double a) {
    return std::sqrt(a);
  }
};

template <typename Operation, F32Mode kMode, typename... Bits>
std::uint32_t f32_lane(Bits... bits) {
  constexpr Rounding kRounding = kMode.rounding;
  constexpr F32Mode kFlushed{.rounding = kRounding, .sat = kMode.sat};
  if constexpr (kRounding != Rounding::NearestEven) {
    const double wide = Operation::template wide<kRounding>(double{f32_input<kMode>(bits)}...);
    const float value = to_f32<kRounding>(wide);
    if constexpr (!kMode.ftz) return f32_output<kMode>(value);
    return f32_output<kFlushed>(zero_if(rounds_to_tiny<kRounding>(wide), value));
  } else if constexpr (kMode.ftz && requires { Operation::is_tiny(f32_input<kMode>(bits)...); }) {
    const float value = Operation::near(f32_input<kMode>(bits)...);
    return f32_output<kFlushed>(zero_if(Operation::is_tiny(f32_input<kMode>(bits)...), value));
  } else {
    return f32_output<kMode>(Operation::near(f32_input<kMode>(bits)...));
  }
}

// --- f64 ----------------------------------------------------------------------------------------

/// The NaN that an f64 instruction makes of these operands, quieted: that of operand kFirst if it
/// is one, else of the next, and so on around; or the one for operations that have no result.
template <std::size_t kFirst, typename... Bits>
std::uint64_t f64_nan(Bits... operands) {
  constexpr std::size_t kCount = sizeof...(operands);
  std::uint64_t nan = F64::kNan;
  const std::uint64_t all[] = {operands...};
  for (std::size_t i = kCount; i-- > 0;) {
    const std::uint64_t operand = all[(kFirst + i) % kCount];
    nan = F64::is_nan(operand) ? F64::quiet(operand) : nan;
  }
  return nan;
}

/// Where an operation looks for one first: b, then c, then a.
template <typename Operation>
inline constexpr std::size_t kFirstNan = 1;

struct Add64 {
  static double near(double a, double b) { return a + b; }
  template <Rounding R>
  static double directed(double a, double b) {
    return num::fma_f64(a, 1.0, b, R);
  }
};
struct Sub64 {
  static double near(double a, double b) { return a - b; }
  template <Rounding R>
  static double directed(double a, double b) {
    return num::fma_f64(a, 1.0, -b, R);
  }
};
struct Mul64 {
  static double near(double a, double b) { return a * b; }
  template <Rounding R>
  static double directed(double a, double b) {
    const bool negative = std::signbit(a) != std::signbit(b);
    return num::fma_f64(a, b, negative ? -0.0 : 0.0, R);
  }
};
struct Fma64 {
  static double near(double a, double b, double c) { return std::fma(a, b, c); }
  template <Rounding R>
  static double directed(double a, double b, double c) {
    return num::fma_f64(a, b, c, R);
  }
};

/// Whether a * b > c, exactly. Rounding up does not hide a difference, however small.
inline bool product_exceeds(double a, double b, double c) {
  return num::fma_f64(a, b, -c, Rounding::Up) > 0;
}
/// Whether a * b < c, exactly.
inline bool product_is_less(double a, double b, double c) {
  return num::fma_f64(a, b, -c, Rounding::Down) < 0;
}

struct Div64 {
  static double near(double a, double b) { return a / b; }
  template <Rounding R>
  static double directed(double a, double b) {
    const double quotient = a / b;
    const bool exceeds = product_exceeds(quotient, b, a);
    const bool is_less = product_is_less(quotient, b, a);
    return rounded<R>(quotient, b > 0 ? exceeds : is_less, b > 0 ? is_less : exceeds);
  }
};
template <>
inline constexpr std::size_t kFirstNan<Div64> = 0;  // a program on the chip, no instruction
struct Rcp64 {
  static double near(double a) { return 1.0 / a; }
  template <Rounding R>
  static double directed(double a) {
    return Div64::directed<R>(1.0, a);
  }
};
struct Sqrt64 {
  static double near(double a) { return std::sqrt(a); }
  template <Rounding R>
  static double directed(double a) {
    const double root = std::sqrt(a);
    return rounded<R>(root, product_exceeds(root, root, a), product_is_less(root, root, a));
  }
};

template <typename Operation, Rounding R, typename... Bits>
std::uint64_t f64_lane(Bits... bits) {
  double value = 0;
  if constexpr (R == Rounding::NearestEven) {
    value = Operation::near(std::bit_cast<double>(bits)...);
  } else {
    value = Operation::template directed<R>(std::bit_cast<double>(bits)...);
  }
  const auto result = std::bit_cast<std::uint64_t>(value);
  return F64::is_nan(result) ? f64_nan<kFirstNan<Operation>>(bits...) : result;
}

// --- min and max --------------------------------------------------------------------------------

struct MinMaxMode {
  bool max = false;
  bool ftz = false;
  bool nan = false;  // a NaN operand makes the result NaN
  bool abs = false;
};

/// Numbers in the order of their values, -0 before +0.
template <typename Format>
constexpr auto order_of(typename Format::U bits) {
  using S = std::make_signed_t<typename Format::U>;
  const auto mask = static_cast<S>(static_cast<S>(bits) < 0 ? S(~Format::kSign) : S{0});
  return static_cast<S>(static_cast<S>(bits) ^ mask);
}

template <typename Format, MinMaxMode kMode>
constexpr typename Format::U lesser(typename Format::U a, typename Format::U b) {
  const bool a_nan = Format::is_nan(a);
  const bool b_nan = Format::is_nan(b);
  const bool in_order = order_of<Format>(a) < order_of<Format>(b);
  const auto number = in_order != kMode.max ? a : b;
  const auto other = a_nan ? b : (b_nan ? a : number);
  const auto nan = sizeof(a) == 8 ? Format::quiet(b_nan ? b : a) : Format::kNan;
  return (kMode.nan ? a_nan || b_nan : a_nan && b_nan) ? nan : other;
}

template <typename Format, MinMaxMode kMode>
constexpr typename Format::U min_max_operand(typename Format::U bits) {
  const auto flushed = Format::template flushed_if<kMode.ftz>(bits);
  return kMode.abs ? Format::magnitude(flushed) : flushed;
}

/// With `abs` this is `.xorsign.abs`: the lesser magnitude with the sign of the product.
template <typename Format, MinMaxMode kMode>
constexpr typename Format::U min_max(typename Format::U a, typename Format::U b) {
  using U = typename Format::U;
  const U value =
      lesser<Format, kMode>(min_max_operand<Format, kMode>(a), min_max_operand<Format, kMode>(b));
  if constexpr (!kMode.abs) return value;
  return Format::is_nan(value) ? value : static_cast<U>(value | ((a ^ b) & Format::kSign));
}

template <typename Format, MinMaxMode kMode>
constexpr typename Format::U min_max3(typename Format::U a, typename Format::U b,
                                      typename Format::U c) {
  return lesser<Format, kMode>(
      lesser<Format, kMode>(min_max_operand<Format, kMode>(a), min_max_operand<Format, kMode>(b)),
      min_max_operand<Format, kMode>(c));
}

// --- bits ---------------------------------------------------------------------------------------

template <typename Format>
constexpr typename Format::U copysign_lane(typename Format::U a, typename Format::U b) {
  return static_cast<typename Format::U>((a & Format::kSign) | Format::magnitude(b));
}

/// NaNs become canonical, as these are additions of -0 on the chip; f64's keep sign and payload.
template <typename Format, bool kFtz>
constexpr typename Format::U abs_lane(typename Format::U a) {
  const auto value = Format::magnitude(Format::template flushed_if<kFtz>(a));
  if constexpr (sizeof(a) == 8) return Format::is_nan(a) ? Format::quiet(a) : value;
  return Format::canonical(value);
}
template <typename Format, bool kFtz>
constexpr typename Format::U neg_lane(typename Format::U a) {
  using U = typename Format::U;
  const auto value = static_cast<U>(Format::template flushed_if<kFtz>(a) ^ Format::kSign);
  if constexpr (sizeof(a) == 8) return Format::is_nan(a) ? Format::quiet(a) : value;
  return Format::canonical(value);
}

}  // namespace ww::sim
