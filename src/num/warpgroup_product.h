// SPDX-License-Identifier: Apache-2.0
// Floating-point products of the size of wgmma and tcgen05.mma: what num/matrix_tile.h does for one
// tile of mma, for many blocks of 16 rows and 8 columns of D whose operands are taken apart once.
//
//   A is [rows][k]      B is [columns][k]      a block of D lies where its BlockPlace says
//
// Elements are raw bits, one in the low bits of each word. `exact` sums are bit for bit those of
// dot_f32 and dot_f16; `plain` ones those of plain sums in ascending k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "num/dtype.h"
#include "num/matrix_unit.h"

namespace ww::num {

inline constexpr int kBlockRows = 16;
inline constexpr int kBlockColumns = 8;

/// The order in which the 8 columns of a block of D lie: in order, or first the even and then the
/// odd ones, as registers of mma and wgmma hold them.
enum class ColumnOrder : std::uint8_t { Straight, EvenOdd };

/// Where a block of D is. Its first four columns and its last four, in their order, lie side by side
/// in each row; rows 8 to 15 may be elsewhere than rows 0 to 7.
struct BlockPlace {
  std::uint32_t* at[4];  // row 0, columns 0 and 4; row 8, columns 0 and 4
  std::ptrdiff_t step;   // words from a row to the next

  [[nodiscard]] std::uint32_t* columns(int row, int half) const {
    return at[row / 8 * 2 + half] + row % 8 * step;
  }
};

struct StepOperands;

class WarpgroupProduct {
 public:
  /// What is multiplied. `rows` is a multiple of 16, `columns` of 8, k of 4 and at most 64; `a` and
  /// `b` as product_f32 takes them, or with a half-precision `result` product_f16.
  struct Shape {
    DType a, b, result;
    int rows, columns, k;
    ColumnOrder order = ColumnOrder::Straight;
  };
  /// For the exact sums of a unit, or for plain ones. Keeps the pointers: A and B must stay until
  /// the last block.
  WarpgroupProduct(const MatrixUnit& unit, bool exact, const Shape& shape, const std::uint32_t* A,
                   const std::uint32_t* B);

  /// Adds to block (i, j) of D: rows 16 * i and on, columns 8 * j and on.
  void add_to(int i, int j, const BlockPlace& d) const {
    is_exact_ ? exact(i, j, d) : plain(i, j, d);
  }
  /// The same where the block is [16][8].
  void add_to(int i, int j, std::uint32_t* d) const {
    constexpr int kHalf = kBlockRows / 2 * kBlockColumns;
    add_to(i, j, {{d, d + 4, d + kHalf, d + kHalf + 4}, kBlockColumns});
  }

 private:
  void exact(int i, int j, const BlockPlace& d) const;
  [[nodiscard]] bool exact_quickly(int i, int j, const BlockPlace& d) const;
  void plain(int i, int j, const BlockPlace& d) const;
  void unpack_a();
  void unpack_b();
  [[nodiscard]] int column_of(int place) const;
  [[nodiscard]] StepOperands step_of(int i, int j, int from) const;
  [[nodiscard]] std::uint32_t reference(int row, int column, std::uint32_t addend) const;

  MatrixUnit unit_;
  bool is_exact_;
  Shape shape_;
  const std::uint32_t* a_words_;
  const std::uint32_t* b_words_;
  bool is_narrow_;  // exponents have 5 bits at most: f32 holds the product of any two elements
  // Four rows of A, or columns of B in their order, make a panel: [lines / 4][k][4].
  std::unique_ptr<float[]> a_values_, b_values_;
  // Exponents, 16 bits each: of A eight times each, [rows / 4][k][4][8]; of B those of two panels
  // in turn and with the bias of f32, [columns / 8][k][4][2]. Narrow ones have 8 bits: of A pairs of
  // rows, [rows / 4][k][2][4][2][2]; of B those of two panels in turn and twice, [columns / 8][k][4][2][2].
  std::unique_ptr<std::int32_t[]> a_exponents_, b_exponents_;
  // Infinities and NaNs by row and by column as ordered: such elements are left to the reference.
  std::vector<std::int32_t> a_special_, b_special_;
  bool has_specials_ = false;
};

}  // namespace ww::num
