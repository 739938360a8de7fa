// SPDX-License-Identifier: Apache-2.0
// Whole matrix instructions, D = A * B + C for one tile: num/matrix_unit.h defines one sum of
// products, this computes all elements of D at once and fast enough to run programs. Floating point
// goes two ways:
//
//   exact   bit for bit what the matrix unit of the chip gives. dot_f32 and dot_f16 of
//           num/matrix_unit.h are the reference; docs/evidence/numbers.md says what was compared
//           with a device
//   plain   ordinary single-precision sums in ascending k, for when speed matters more
//
// Elements are raw bits, one in the low bits of each 32-bit word; what lies above an element's
// width is ignored. (Some instructions put fp6 and fp4 elsewhere in their registers; their callers
// shift.)
//
//   A is [m][k], row by row      B is [n][k], column by column      D is [m][n], row by row
//
// D holds C on entry. Shapes are those of mma: m is 8 or 16, n is 8, k a multiple of 4 up to
// kMaxTileK. Other shapes, and types that a function does not list, are bugs of the caller.
#pragma once

#include <cstdint>

#include "num/dtype.h"
#include "num/float_format.h"
#include "num/matrix_mode.h"

namespace ww::num {

struct TileShape {
  int m;
  int n;
  int k;
};

inline constexpr int kMaxTileM = 16;
inline constexpr int kMaxTileN = 8;
inline constexpr int kMaxTileK = 256;

/// f32 results. `a` and `b`: both f16, both bf16, both tf32, or any two of fp8, fp6 and fp4. Any
/// NaN comes out as 0x7FFFFFFF.
void product_f32(const MatrixMode& mode, bool exact, DType a, DType b, TileShape shape,
                 const std::uint32_t* A, const std::uint32_t* B, std::uint32_t* D);

/// f16 results, in the low half of each word of D. `a` and `b`: both f16, or any two of fp8, fp6
/// and fp4. Any NaN comes out as 0x7FFF.
void product_f16(const MatrixMode& mode, bool exact, DType a, DType b, TileShape shape,
                 const std::uint32_t* A, const std::uint32_t* B, std::uint32_t* D);

/// The scale factors: of each row of A and each column of B `count`, for k / count elements each.
struct TileScales {
  DType type;             // ue8m0, or e4m3 for ue4m3: its sign is ignored
  int count;              // 1 (mxf8f6f4), 2 or 4 (mxf4 and mxf4nvf4)
  const std::uint8_t* a;  // [m][count]
  const std::uint8_t* b;  // [n][count]
};

/// f32 results of elements with scale factors, the `.block_scale` of sm_120a. With a count of 1,
/// the types are any two of fp8, fp6 and fp4 and the scales ue8m0; otherwise e2m1, and k is 64.
/// Taken from publications; not compared with a device.
void product_scaled(const MatrixMode& mode, bool exact, DType a, DType b, TileShape shape,
                    const std::uint32_t* A, const std::uint32_t* B, const TileScales& scales,
                    std::uint32_t* D);

/// f64: fused multiply-adds in ascending k, each rounded (fma_f64 of num/fma.h). Elements are words
/// of 64 bits.
void product_f64(Rounding rounding, TileShape shape, const std::uint64_t* A, const std::uint64_t* B,
                 std::uint64_t* D);

/// s8, u8, s4 and u4 inputs, s32 results: modulo 2^32, or with `saturate` the exact sum clamped.
void product_s32(bool saturate, DType a, DType b, TileShape shape, const std::uint32_t* A,
                 const std::uint32_t* B, std::uint32_t* D);

enum class BitOp : std::uint8_t { And, Xor };

/// Single bits: D += popcount(A op B), modulo 2^32. Only here a word of A and B holds 32 elements,
/// the lowest k in the lowest bit: A is [m][k / 32] words and B is [n][k / 32]; k is a multiple
/// of 32.
void product_b1(BitOp op, TileShape shape, const std::uint32_t* A, const std::uint32_t* B,
                std::uint32_t* D);

}  // namespace ww::num
