// SPDX-License-Identifier: Apache-2.0
// The forms of ldmatrix and stmatrix: which registers of which lanes go with which rows.
#pragma once

#include <cstdint>
#include <string>

namespace ww::lower {

/// A form: which element of which row register `reg` of a lane has as its part `part`.
struct MatrixForm {
  enum class Kind : std::uint8_t { Plain, Trans, Bytes };
  Kind kind;
  int rows;  // per matrix
  int regs;  // per matrix
  int most;  // matrices per instruction
};

struct MatrixCell {
  int row, col;
};
MatrixCell cell_of(const MatrixForm& form, bool is_load, int lane, int reg, int part, int per_word);

/// For so many matrices in shared memory.
std::string opcode_of(const MatrixForm& form, bool is_load, int num);

}  // namespace ww::lower
