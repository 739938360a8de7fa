// SPDX-License-Identifier: Apache-2.0
// Matrices in the registers of a warp, as mma, wmma and wgmma have them. A matrix is lines of
// elements: rows of A and of D, columns of B. With g = lane / 4, t = lane % 4 and e elements to a
// register, element j of register r is
//
//   factor, blocks of 8 lines    line g,                 k = 4e * r + e * t + j
//           blocks of 16 lines   line g + 8 * (r % 2),   k = 4e * (r / 2) + e * t + j
//   sums    16 bits              line g + 8 * r,         column 2t + j
//           32 and 64 bits       line g + 8 * (r / 2),   column 2t + r % 2
//
// so four neighbouring lanes hold neighbours of one line. Blocks of a factor follow each other from
// line to line. Those of sums are 8 columns wide and follow each other from column to column, or
// where there are 32 lines, downwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sim/run/warp.h"

namespace ww::sim {

/// An element's place in its matrix: the number of its line, and of the element there.
struct Cell {
  unsigned line, at;
};

struct RegisterMatrix {
  bool is_sum = false;
  unsigned lines = 8, length = 8;  // elements of a line
  unsigned bits = 32;              // of an element
  unsigned parts = 1;              // elements of a register
  unsigned block_lines = 8;        // 8 or 16
  unsigned block_regs = 1;
  unsigned regs = 1;  // of all blocks; blocks are repeated if there are more

  /// Lane 0's first element of a register.
  [[nodiscard]] Cell first(unsigned reg) const {
    const unsigned block = reg < block_regs ? 0 : reg / std::max(1U, block_regs);
    const unsigned r = reg - block * block_regs;
    const bool is_tall = block_lines == 16;
    if (!is_sum)
      return {(block == 0 ? 0 : block % (lines / block_lines) * block_lines) +
                  (is_tall ? 8 * (r % 2) : 0),
              4 * parts * (is_tall ? r / 2 : r)};
    const Cell in_block = bits == 16 ? Cell{8 * r, 0} : Cell{8 * (r / 2), r % 2};
    return lines > block_lines ? Cell{block * block_lines + in_block.line, in_block.at}
                               : Cell{in_block.line, 8 * block + in_block.at};
  }
  [[nodiscard]] Cell cell(unsigned lane, unsigned reg, unsigned part) const {
    const Cell at = first(reg);
    return {at.line + lane / 4, at.at + lane % 4 * (is_sum ? 2 : parts) + part};
  }
};

/// A factor, A or B; or with `is_sum` C or D.
inline RegisterMatrix in_registers(unsigned lines, unsigned length, unsigned bits,
                                   unsigned block_lines, bool is_sum = false) {
  const unsigned parts = bits == 64 ? 1 : 32 / bits;
  const unsigned block_length = is_sum ? 8 : length;
  return {.is_sum = is_sum,
          .lines = lines,
          .length = length,
          .bits = bits,
          .parts = parts,
          .block_lines = block_lines,
          .block_regs = block_lines * block_length / (kLanes * parts),
          .regs = lines * length / (kLanes * parts)};
}

/// The registers of a warp that runs, or that waits for a product.
struct RegisterFile {
  std::byte* frame = nullptr;
  const std::byte* constants = nullptr;
  Mask lanes = 0;  // that take part

  template <typename T>
  [[nodiscard]] T* at(Place place) const {
    return reinterpret_cast<T*>(frame + place.offset());  // NOLINT: raw bits by design
  }
  template <typename T>
  [[nodiscard]] const T* source(Place place) const {
    if (!place.is_constant()) return at<T>(place);
    return reinterpret_cast<const T*>(constants + place.offset());  // NOLINT
  }
};
inline RegisterFile register_file(const Warp& warp) {
  return {warp.frame, warp.constants, warp.exec};
}

namespace register_matrix {

constexpr unsigned kGroups = 8, kQuad = 4;  // values of g and t

template <unsigned kBits, typename Word>
void gather(const RegisterFile& from, const RegisterMatrix& it, const Place* places, Word* to) {
  constexpr unsigned kParts = kBits < 32 ? 32 / kBits : 1;
  constexpr Word kMask = static_cast<Word>(~Word{0}) >> (8 * sizeof(Word) - kBits);
  for (unsigned r = 0; r < it.regs; ++r) {
    const Word* words = from.source<Word>(places[r]);
    const Cell first = it.first(r);
    Word* line = to + std::size_t{first.line} * it.length + first.at;
    for (unsigned g = 0; g < kGroups; ++g, words += kQuad, line += it.length) {
      for (unsigned t = 0; t < kQuad; ++t) {
        for (unsigned j = 0; j < kParts; ++j)
          line[t * kParts + j] = (words[t] >> (j * kBits)) & kMask;
      }
    }
  }
}

}  // namespace register_matrix

/// The elements of a factor, [lines][length], one in the low bits of each word; 64 bits for
/// doubles.
template <typename Word>
void gather_factor(const RegisterFile& from, const RegisterMatrix& it, const Place* places,
                   Word* to) {
  if constexpr (sizeof(Word) == 8) {
    register_matrix::gather<64>(from, it, places, to);
  } else if (it.bits == 16) {
    register_matrix::gather<16>(from, it, places, to);
  } else if (it.bits == 8) {
    register_matrix::gather<8>(from, it, places, to);
  } else if (it.bits == 4) {
    register_matrix::gather<4>(from, it, places, to);
  } else {
    register_matrix::gather<32>(from, it, places, to);
  }
}

/// The sums of the block that has these registers, [lines][8]. A lane's neighbours are halves of a
/// register, or in two registers.
template <typename Word>
void gather_sums(const RegisterFile& from, const RegisterMatrix& it, const Place* places,
                 Word* to) {
  const unsigned step = it.bits == 16 ? 1 : 2;
  const unsigned up = it.bits == 16 ? 16 : 0;
  const Word low = it.bits == 16 ? Word{0xFFFF} : static_cast<Word>(~Word{0});
  for (unsigned r = 0; r < it.block_regs; r += step, to += 2 * kLanes) {
    const Word* const even = from.source<Word>(places[r]);
    const Word* const odd = from.source<Word>(places[r + step - 1]);
    for (unsigned l = 0; l < kLanes; ++l) {
      to[2 * l] = even[l] & low;
      to[2 * l + 1] = odd[l] >> up;
    }
  }
}

template <typename Word>
void scatter_sums(const RegisterFile& to, const RegisterMatrix& it, const Place* places,
                  const Word* from) {
  const unsigned step = it.bits == 16 ? 1 : 2;
  for (unsigned r = 0; r < it.block_regs; r += step, from += 2 * kLanes) {
    alignas(64) Word even[kLanes], odd[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      even[l] = from[2 * l];
      odd[l] = from[2 * l + 1];
    }
    for (unsigned l = 0; step == 1 && l < kLanes; ++l)
      even[l] = (even[l] & 0xFFFFU) | odd[l] << 16U;
    blend(to.at<Word>(places[r]), even, to.lanes);
    if (step == 2) blend(to.at<Word>(places[r + 1]), odd, to.lanes);
  }
}

}  // namespace ww::sim
