// SPDX-License-Identifier: Apache-2.0
// The fragments of wmma: which lane and register holds which element. The manual leaves it open. Here a fragment is made of those of mma (g = lane / 4, t = lane % 4, e
// elements in a register), in the orientation in which the matrix is tall:
//
//   A   blocks of 16 rows (8 in m8n8), register r, element j of a block:
//         row g + 8 * (r % 2), k = 4e * (r / 2) + e * t + j        (8 rows: row g, k = 4e * r + …)
//   B   blocks of 8 columns: column g, k = 4e * r + e * t + j
//   C   blocks of 16x8: 32 and 64 bits: row g + 8 * (r / 2), column 2t + r % 2
//                       halves: row g + 8r, column 2t + half
//
// m8n32 is m32n8 with A and B, rows and columns exchanged. Halves of A and B fill eight registers:
// the blocks are there several times. Programs may work on the elements of a fragment all alike.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ww::sim::wmma {

enum class Matrix : std::uint8_t { A, B, C };

/// An element's place in its matrix: row and column of A and C; of B, k and column.
struct Cell {
  unsigned row, column;
};

/// One matrix of an instruction.
struct Fragment {
  Matrix matrix;
  std::uint8_t m, n, k;  // k is 128 at most
  std::uint8_t bits;     // of an element
  std::uint8_t regs;     // of a lane

  [[nodiscard]] bool is_wide() const { return n > m; }  // and treated as its transpose
  [[nodiscard]] unsigned tall() const { return std::max(m, n); }
  [[nodiscard]] unsigned reg_bits() const { return bits == 64 ? 64 : 32; }
  [[nodiscard]] unsigned parts() const { return reg_bits() / bits; }
  [[nodiscard]] Cell cell(unsigned lane, unsigned reg, unsigned part) const;

 private:
  [[nodiscard]] Cell sum_cell(unsigned lane, unsigned reg, unsigned part) const;
  [[nodiscard]] Cell long_side(unsigned lane, unsigned reg, unsigned part) const;
  [[nodiscard]] Cell short_side(unsigned lane, unsigned reg, unsigned part) const;
};

/// `is_half`: of f16, of which A and B fill eight registers.
Fragment make_fragment(Matrix matrix, std::uint8_t m, std::uint8_t n, std::uint8_t k,
                       std::uint8_t bits, bool is_half);

}  // namespace ww::sim::wmma
