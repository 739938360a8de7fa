// SPDX-License-Identifier: Apache-2.0
// Floating-point formats of 4 to 64 bits: values to bits and back, exactly, with every rounding
// that PTX has. A double holds every value of every format here, so it is the one type that values
// have in between. The host's own half-precision support is not used: it differs from machine to
// machine.
#pragma once

#include <cstdint>

#include "num/dtype.h"

namespace ww::num {

/// The meaning of codes with all exponent bits set.
enum class Specials : std::uint8_t {
  Ieee,     // infinities and NaNs
  NanOnly,  // numbers, but for the last code, which is NaN (e4m3, ue8m0)
  None,     // numbers (fp6, fp4)
};

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_sign;
  Specials specials;
  int low_bits;  // unused ones below the mantissa: 13 of tf32, which sits in a 32-bit word
};

/// The format of a float type. Calling it for another type is a bug.
const FloatFormat& format_of(DType type);

enum class Rounding : std::uint8_t { NearestEven, NearestAway, TowardZero, Down, Up };

/// The result for a value beyond the largest number.
enum class Overflow : std::uint8_t {
  Ieee,  // infinity, or the largest number where the rounding says so; NaN if there is no infinity
  Saturate,  // the largest number of that sign; NaN stays NaN
};

/// The value of a code; the bits above the type's width and tf32's low bits are ignored. NaNs come
/// back as a quiet NaN of the same sign.
double decode(DType type, std::uint64_t bits);

/// The code nearest to the value. NaN gives the format's canonical NaN (all exponent and mantissa
/// bits set, no sign), and the largest number in formats without NaN. Formats without infinity
/// saturate infinities if asked to, and formats without NaN always saturate. ue8m0 has neither sign
/// nor zero: the sign is dropped, and smaller numbers become its smallest value.
std::uint64_t encode(DType type, double value, Rounding rounding = Rounding::NearestEven,
                     Overflow overflow = Overflow::Ieee);

/// The largest number of the format.
double largest(DType type);

}  // namespace ww::num
