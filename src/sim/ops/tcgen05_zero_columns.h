// SPDX-License-Identifier: Apache-2.0
// The 64-bit descriptor of columns of B that count as zero, an operand of tcgen05.mma.ws.
//
//   bits 8i + 7:8i   start count of part i     bit 32 + i   whether part i starts with zeros
//   bit 39           whether columns are zero  bits 47:40   zeros in a row, less 1
//   bits 55:48       others in a row, less 1   bits 61:56   shift
//
// The N columns are in 128 / M parts. A part goes in turn through columns that are used and columns that
// are zero, and skips the first `start count` of them. Column n of the product is column n + shift of B in
// shared memory. (The manual's table has the two counts the other way round than its examples, which
// decide here.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ww::sim {

class ZeroColumns {
 public:
  /// For a product with M rows and N columns.
  ZeroColumns(std::uint64_t bits, unsigned m, unsigned n)
      : bits_(bits), part_(n * m / 128), n_(n) {}

  /// What the manual does not allow, where the instruction descriptor allows shifts up to
  /// `most_shift`; empty: nothing.
  [[nodiscard]] std::string fault(unsigned m, unsigned most_shift) const;
  /// Whether it has no effect.
  [[nodiscard]] bool is_none() const { return !has_zeros() && shift() == 0; }
  /// Whether a part skips all of its first span, which no document settles.
  [[nodiscard]] bool skips_a_span() const;

  [[nodiscard]] unsigned shift() const { return field(56, 0x3F); }
  /// The column of B for each column of the product; kZero: zeros.
  static constexpr unsigned kZero = ~0U;
  [[nodiscard]] std::vector<unsigned> columns() const;

 private:
  [[nodiscard]] unsigned field(unsigned low, unsigned mask) const {
    return static_cast<unsigned>(bits_ >> low) & mask;
  }
  [[nodiscard]] bool has_zeros() const { return field(39, 1) != 0; }
  [[nodiscard]] unsigned zeros() const { return field(40, 0xFF) + 1; }
  [[nodiscard]] unsigned used() const { return field(48, 0xFF) + 1; }
  [[nodiscard]] unsigned start(unsigned part) const { return field(8 * part, 0xFF); }
  [[nodiscard]] bool starts_with_zeros(unsigned part) const { return field(32 + part, 1) != 0; }
  [[nodiscard]] bool is_zero(unsigned column) const;

  std::uint64_t bits_;
  unsigned part_;  // columns
  unsigned n_;
};

}  // namespace ww::sim
