// SPDX-License-Identifier: Apache-2.0
// How a tensor core adds up: a block of products and the addend in one step, aligned to the largest
// exponent, cut off (not rounded) below a fixed number of bits, then added exactly. The order of
// the products inside a block does not matter; how long a block is and how many bits are kept
// differs from chip to chip. docs/evidence/numbers.md says what was compared with which device.
#pragma once

#include <cstdint>
#include <span>

#include "num/dtype.h"

namespace ww::num {

/// The parts of a number: (-1)^negative * significand * 2^exponent, where the significand has its
/// binary point `fraction` bits up. Not normalised: what the hardware aligns is `exponent`.
struct Term {
  enum class Kind : std::uint8_t { Finite, Infinite, Nan };
  Kind kind = Kind::Finite;
  bool negative = false;
  std::uint64_t significand = 0;
  int fraction = 0;
  int exponent = 0;
};

/// What a matrix unit does to its terms.
struct MatrixUnit {
  int block;             // products that are added in one step, at most 64
  int fraction_bits;     // bits kept below the binary point of the largest term
  int lowest_exponent;   // terms are aligned to at least this, however small they all are
  int result_bits = 23;  // fraction bits of an f32 result; what is below is cut off
};

/// Hopper's mma.sync and wgmma for 16-bit inputs, with single and with half precision results; tf32
/// has blocks of 8.
inline constexpr MatrixUnit kHopper16{16, 25, -133};
inline constexpr MatrixUnit kHopper16Half{16, 25, -21};
inline constexpr MatrixUnit kHopperTf32{8, 25, -133};

/// The parts of an element of a floating-point type with a sign and a mantissa.
Term unpack(DType type, std::uint32_t bits);

/// The sum of one block's terms, at most 65, as single precision. Terms that are 0 do not take part
/// in the alignment.
std::uint32_t sum_f32(const MatrixUnit& unit, std::span<const Term> terms);

/// addend + sum of a[i] * b[i] * 2^scale, as single precision, cut toward zero. `a` and `b` have
/// the same length; they are taken in blocks, each result being the next one's addend.
std::uint32_t dot_f32(MatrixUnit unit, DType type_a, DType type_b, std::span<const std::uint32_t> a,
                      std::span<const std::uint32_t> b, std::uint32_t addend, int scale = 0);
/// The same with a half-precision addend and result, rounded to nearest even after each block.
std::uint16_t dot_f16(MatrixUnit unit, DType type_a, DType type_b, std::span<const std::uint32_t> a,
                      std::span<const std::uint32_t> b, std::uint16_t addend, int scale = 0);

}  // namespace ww::num
