// SPDX-License-Identifier: Apache-2.0
#include "sim/ops/wmma_fragment.h"

namespace ww::sim::wmma {

Fragment make_fragment(Matrix matrix, std::uint8_t m, std::uint8_t n, std::uint8_t k,
                       std::uint8_t bits, bool is_half) {
  Fragment out{matrix, m, n, k, bits, 8};
  if (is_half && matrix != Matrix::C) return out;
  const int elements = matrix == Matrix::A ? m * k : matrix == Matrix::B ? n * k : m * n;
  out.regs =
      static_cast<std::uint8_t>(static_cast<unsigned>(elements) * bits / (32 * out.reg_bits()));
  return out;
}

Cell Fragment::sum_cell(unsigned lane, unsigned reg, unsigned part) const {
  const unsigned g = lane / 4;
  const unsigned t = lane % 4;
  const unsigned each = tall() == 8 ? 2 : bits == 16 ? 2 : 4;  // registers of a block
  const unsigned block = reg / each;
  const unsigned r = reg % each;
  const unsigned row = g + 8 * (bits == 16 ? r : r / 2);
  const unsigned column = 2 * t + (bits == 16 ? part : r % 2);
  return tall() == 32 ? Cell{16 * block + row, column} : Cell{row, 8 * block + column};
}

// Rows of the taller factor, and k.
Cell Fragment::long_side(unsigned lane, unsigned reg, unsigned part) const {
  const unsigned e = parts();
  const unsigned height = std::min(16U, tall());
  const unsigned each = height * k * bits / (32 * reg_bits());
  const unsigned block = reg / each % (tall() / height);
  const unsigned r = reg % each;
  const unsigned row = lane / 4 + (height == 16 ? 8 * (r % 2) : 0);
  const unsigned step = height == 16 ? r / 2 : r;
  return {height * block + row, 4 * e * step + e * (lane % 4) + part};
}

// Columns of the shorter factor, and k.
Cell Fragment::short_side(unsigned lane, unsigned reg, unsigned part) const {
  const unsigned e = parts();
  const unsigned each = 8U * k * bits / (32 * reg_bits());
  const unsigned block = reg / each % (std::min(m, n) / 8U);
  return {8 * block + lane / 4, 4 * e * (reg % each) + e * (lane % 4) + part};
}

Cell Fragment::cell(unsigned lane, unsigned reg, unsigned part) const {
  if (matrix == Matrix::C) {
    const Cell at = sum_cell(lane, reg, part);
    return is_wide() ? Cell{at.column, at.row} : at;
  }
  const bool is_long = (matrix == Matrix::A) != is_wide();
  const Cell at = is_long ? long_side(lane, reg, part) : short_side(lane, reg, part);
  return matrix == Matrix::A ? at : Cell{at.column, at.row};
}

}  // namespace ww::sim::wmma
