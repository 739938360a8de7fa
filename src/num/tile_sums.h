// SPDX-License-Identifier: Apache-2.0
// The engine of num/matrix_tile.h for floating point: the sums of a whole tile as a matrix unit
// forms them, eight columns at a time. Use num/matrix_tile.h, which knows the instructions.
#pragma once

#include <cstdint>

#include "num/matrix_tile.h"
#include "num/matrix_unit.h"

namespace ww::num {

/// Fails unless the shape is one of num/matrix_tile.h, with k a multiple of `step`.
void check_tile(TileShape shape, int step);

/// A tile to be multiplied by `unit`; layouts as in num/matrix_tile.h. The products of row i and
/// column j are scaled by 2^(row_scales[i] + column_scales[j]), at most 2^+-400; null means by 1.
struct TileSums {
  MatrixUnit unit;
  DType a;
  DType b;
  DType result;  // f32 or f16
  TileShape shape;
  const std::uint32_t* A;
  const std::uint32_t* B;
  const std::int32_t* row_scales = nullptr;
  const std::int32_t* column_scales = nullptr;
};

/// D = A * B + D, each element what dot_f32 or dot_f16 gives.
void exact_sums(const TileSums& tile, std::uint32_t* D);

/// D = A * B + D in single precision, every product and sum rounded to nearest even, in ascending
/// k. f16 results are rounded once more at the end.
void plain_sums(const TileSums& tile, std::uint32_t* D);

}  // namespace ww::num
