// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions: which unit of the chip does them, and in how many steps. The sums
// themselves are in tile_sums.cpp and tile_plain.cpp.
#include "num/matrix_tile.h"

#include <array>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "num/fma.h"
#include "num/half_lanes.h"
#include "num/tile_sums.h"

namespace ww::num {
namespace {

bool is_narrow(DType type) { return bits_of(type) <= 8; }

const MatrixUnit& unit_for(const MatrixMode& mode, DType input, DType result) {
  const bool half = result == DType::Float16;
  if (is_narrow(input) && !mode.fp8_in_halves) return half ? mode.fp8_half_result : mode.fp8;
  if (input == DType::Tfloat32) return mode.tf32;
  return half ? mode.half_result : mode.half;
}

void check_types(DType a, DType b, DType result) {
  const bool narrow = is_narrow(a) && is_narrow(b);
  const bool wide =
      a == b && (a == DType::Float16 ||
                 (result == DType::Float32 && (a == DType::Bfloat16 || a == DType::Tfloat32)));
  WW_CHECK(narrow || wide, "{} times {} with a {} result", name_of(a), name_of(b), name_of(result));
}

using HalfCodes = std::array<std::uint16_t, 256>;

HalfCodes half_codes(DType fp8) {
  HalfCodes codes{};
  for (std::uint32_t code = 0; code < codes.size(); ++code) {
    codes[code] = static_cast<std::uint16_t>(encode(DType::Float16, decode(fp8, code)));
  }
  return codes;
}

// Every fp8 value is one of f16; e4m3's subnormals are normal there, which changes their alignment.
const HalfCodes& half_codes_of(DType fp8) {
  static const HalfCodes e4m3 = half_codes(DType::Float8E4M3fn);
  static const HalfCodes e5m2 = half_codes(DType::Float8E5M2);
  WW_CHECK(fp8 == DType::Float8E4M3fn || fp8 == DType::Float8E5M2, "{} is not converted to f16",
           name_of(fp8));
  return fp8 == DType::Float8E4M3fn ? e4m3 : e5m2;
}

// The elements of each line that lie in the low (0) or high (1) halves of its registers, as f16.
void take_half(DType fp8, const std::uint32_t* words, int count, int half, std::uint32_t* out) {
  const HalfCodes& codes = half_codes_of(fp8);
  for (int i = 2 * half; i < count; i += 4) {
    *out++ = codes[words[i] & 0xFFU];
    *out++ = codes[words[i + 1] & 0xFFU];
  }
}

std::uint32_t rounded_sum(DType type, std::uint32_t x, std::uint32_t y) {
  if (type == DType::Float32) {
    const float sum = std::bit_cast<float>(x) + std::bit_cast<float>(y);
    return std::isnan(sum) ? 0x7FFFFFFFU : std::bit_cast<std::uint32_t>(sum);
  }
  // Exact in f32 but for the rounding, or so far apart that the smaller one cannot matter to f16.
  const float sum =
      f16_to_f32(static_cast<std::uint16_t>(x)) + f16_to_f32(static_cast<std::uint16_t>(y));
  return f32_to_f16(sum);
}

// fp8 where the chip converts to f16: the low halves, then the high halves, then C with one rounded
// addition.
void exact_in_halves(const TileSums& tile, std::uint32_t* D) {
  const auto [m, n, k] = tile.shape;
  std::uint32_t a[kMaxTileM * kMaxTileK / 2];
  std::uint32_t b[kMaxTileN * kMaxTileK / 2];
  std::uint32_t sums[kMaxTileM * kMaxTileN] = {};
  for (int half = 0; half < 2; ++half) {
    take_half(tile.a, tile.A, m * k, half, a);
    take_half(tile.b, tile.B, n * k, half, b);
    exact_sums({.unit = tile.unit,
                .a = DType::Float16,
                .b = DType::Float16,
                .result = tile.result,
                .shape = {m, n, k / 2},
                .A = a,
                .B = b},
               sums);
  }
  for (int i = 0; i < m * n; ++i) D[i] = rounded_sum(tile.result, D[i], sums[i]);
}

void product(const MatrixMode& mode, bool exact, const TileSums& tile, std::uint32_t* D) {
  check_types(tile.a, tile.b, tile.result);
  check_tile(tile.shape, 4);
  if (!exact) return plain_sums(tile, D);
  WW_CHECK(tile.unit.block > 0, "{} has no such unit for {}", mode.name, name_of(tile.a));
  if (is_narrow(tile.a) && mode.fp8_in_halves) return exact_in_halves(tile, D);
  exact_sums(tile, D);
}

}  // namespace

void product_f32(const MatrixMode& mode, bool exact, DType a, DType b, TileShape shape,
                 const std::uint32_t* A, const std::uint32_t* B, std::uint32_t* D) {
  const MatrixUnit& unit = unit_for(mode, a, DType::Float32);
  product(mode, exact, {unit, a, b, DType::Float32, shape, A, B}, D);
}

void product_f16(const MatrixMode& mode, bool exact, DType a, DType b, TileShape shape,
                 const std::uint32_t* A, const std::uint32_t* B, std::uint32_t* D) {
  const MatrixUnit& unit = unit_for(mode, a, DType::Float16);
  product(mode, exact, {unit, a, b, DType::Float16, shape, A, B}, D);
}

void product_f64(Rounding rounding, TileShape shape, const std::uint64_t* A, const std::uint64_t* B,
                 std::uint64_t* D) {
  check_tile(shape, 4);
  for (int row = 0; row < shape.m; ++row) {
    for (int column = 0; column < shape.n; ++column, ++D) {
      auto sum = std::bit_cast<double>(*D);
      for (int k = 0; k < shape.k; ++k) {
        sum = fma_f64(std::bit_cast<double>(A[row * shape.k + k]),
                      std::bit_cast<double>(B[column * shape.k + k]), sum, rounding);
      }
      *D = std::bit_cast<std::uint64_t>(sum);
    }
  }
}

}  // namespace ww::num
