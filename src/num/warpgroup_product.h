// SPDX-License-Identifier: Apache-2.0
// Floating-point products of the size of wgmma: what num/matrix_tile.h does for one tile of mma,
// for many blocks of 16 rows and 8 columns of D whose operands are taken apart once.
//
//   A is [rows][k]      B is [columns][k]      a block of D is [16][8]
//
// Elements are raw bits, one in the low bits of each word. `exact` sums are bit for bit those of
// dot_f32 and dot_f16; `plain` ones those of plain sums in ascending k.
#pragma once

#include <cstdint>
#include <vector>

#include "num/dtype.h"
#include "num/matrix_unit.h"

namespace ww::num {

inline constexpr int kBlockRows = 16;
inline constexpr int kBlockColumns = 8;

class WarpgroupProduct {
 public:
  /// What is multiplied. `rows` is a multiple of 16, `columns` of 8, k of 4 and at most 64; `a` and
  /// `b` as product_f32 takes them, or with a half-precision `result` product_f16.
  struct Shape {
    DType a, b, result;
    int rows, columns, k;
  };
  /// For the exact sums of a unit, or for plain ones. Keeps the pointers: A and B must stay until
  /// the last block.
  WarpgroupProduct(const MatrixUnit& unit, bool exact, const Shape& shape, const std::uint32_t* A,
                   const std::uint32_t* B);

  /// Adds to block (i, j) of D: rows 16 * i and on, columns 8 * j and on.
  void add_to(int i, int j, std::uint32_t* D) const { is_exact_ ? exact(i, j, D) : plain(i, j, D); }

 private:
  void exact(int i, int j, std::uint32_t* D) const;
  [[nodiscard]] bool exact_quickly(int i, int j, std::uint32_t* D) const;
  void plain(int i, int j, std::uint32_t* D) const;
  void unpack_a();
  void unpack_b();
  [[nodiscard]] std::uint32_t reference(int row, int column, std::uint32_t addend) const;

  MatrixUnit unit_;
  bool is_exact_;
  Shape shape_;
  const std::uint32_t* a_words_;
  const std::uint32_t* b_words_;
  // Of A [rows][k]; of B by blocks of 8 columns, [columns / 8][k][8].
  std::vector<float> a_values_, b_values_;
  // Exponents of A eight times each, as vectors, and of B like its values.
  std::vector<std::int16_t> a_exponents_, b_exponents_;
  // Infinities and NaNs by row and by column: such elements are left to the reference.
  std::vector<std::int32_t> a_special_, b_special_;
  bool has_specials_ = false;
};

}  // namespace ww::num
