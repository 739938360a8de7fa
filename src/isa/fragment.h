// SPDX-License-Identifier: Apache-2.0
// Fragments: which lane, register and part of a register holds which element of a matrix operand.
// These are the instruction set's own definitions, written down from the PTX manual and sharing no
// code with layouts; proofs and tests compare the two.
//
//   g = lane / 4,  t = lane % 4,  e = elements in a 32-bit register
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/form.h"

namespace ww::isa {

/// Where an element is. `warp` counts inside a warpgroup and is 0 for instructions of one warp.
struct FragmentPlace {
  std::int16_t warp = 0;
  std::int16_t lane = 0;
  std::int16_t reg = 0;
  std::int16_t part = 0;

  friend bool operator==(const FragmentPlace&, const FragmentPlace&) = default;
};

/// One operand of an instruction as a matrix of places.
struct Fragment {
  std::string operand;  // the operand's name in the form: "d", "a"
  std::string title;    // "A, 16x16 of f16"
  int rows = 0;
  int cols = 0;
  int parts = 1;  // elements in one register
  int regs = 0;   // registers of one lane
  bool by_warp = false;
  std::vector<FragmentPlace> places;  // rows x cols, row by row

  [[nodiscard]] const FragmentPlace& at(int row, int col) const {
    return places[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                  static_cast<std::size_t>(col)];
  }
};

/// The fragments of a bound instruction: matrix operands of ldmatrix, stmatrix, movmatrix, mma,
/// wgmma and tcgen05.ld/st. Empty for everything else, and for mma.m8n8k4 of f16, which is four
/// products.
std::vector<Fragment> fragments_of(const Binding& binding);

}  // namespace ww::isa
