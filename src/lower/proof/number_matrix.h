// SPDX-License-Identifier: Apache-2.0
// Products of matrices of numbers modulo 2^64, row-major, for the proof of products: what an instruction
// multiplies, and what a call means.
#pragma once

#include "lower/proof/registers.h"

namespace ww::lower {

namespace number_matrix {

/// d[0:8] += a[0:depth] @ b[0:depth, 0:8], where the rows of b are `cols` numbers apart.
inline void add_row_of_eight(const Number* a, const Number* b, std::size_t depth, std::size_t cols,
                             Number* d) {
  Number d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5], d6 = d[6], d7 = d[7];
  for (const Number* const end = a + depth; a != end; ++a, b += cols) {
    const Number left = *a;
    d0 += left * b[0];
    d1 += left * b[1];
    d2 += left * b[2];
    d3 += left * b[3];
    d4 += left * b[4];
    d5 += left * b[5];
    d6 += left * b[6];
    d7 += left * b[7];
  }
  d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3, d[4] = d4, d[5] = d5, d[6] = d6, d[7] = d7;
}

}  // namespace number_matrix

/// d += a @ b, with `depth` columns in a and `cols` in b and d.
inline void add_product(const ThreadNumbers& a, const ThreadNumbers& b, std::size_t depth,
                        std::size_t cols, ThreadNumbers& d) {
  for (std::size_t row = 0; row * depth < a.size(); ++row) {
    const Number* const left = a.data() + row * depth;
    Number* const sums = d.data() + row * cols;
    std::size_t col = 0;
    for (; col + 8 <= cols; col += 8)
      number_matrix::add_row_of_eight(left, b.data() + col, depth, cols, sums + col);
    for (; col < cols; ++col)
      for (std::size_t k = 0; k < depth; ++k) sums[col] += left[k] * b[k * cols + col];
  }
}

/// A matrix with `cols` columns, turned.
inline ThreadNumbers turned(const ThreadNumbers& matrix, std::size_t cols) {
  ThreadNumbers out(matrix.size());
  const std::size_t rows = cols == 0 ? 0 : matrix.size() / cols;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) out[j * rows + i] = matrix[i * cols + j];
  return out;
}

}  // namespace ww::lower
