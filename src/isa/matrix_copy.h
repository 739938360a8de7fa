// SPDX-License-Identifier: Apache-2.0
// The matrix-copy selector: from the properties of an NVVM matrix copy (count, shape, element
// format, transposition) to its intrinsic id and to the PTX instruction that does it. Properties
// are checked before anything is looked up, so that no caller ever sees the id of an illegal
// combination.
//
// Ids are reported for those who read LLVM dumps; code is emitted by `ptx`, which is what ptxas
// accepts. docs/reference/isa.md has the table and the places where the published one is wrong.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "isa/operand.h"
#include "target/target.h"

namespace ww::isa {

enum class MatrixShape : int { M8N8 = 0, M8N16 = 1, M16N8 = 2, M16N16 = 3 };

/// The properties as NVVM encodes them. `sz` and `layout` are ldmatrix's; `attr` belongs to the
/// sibling rows.
struct MatrixCopyProps {
  std::string_view family =
      "ldmatrix";  // "stmatrix", "movmatrix", "stmatrix_alt", "ldmatrix_sibling"
  int num = 1;     // registers: 1, 2 or 4
  int shape = 0;   // MatrixShape
  int sz = 0;      // element format, counted per shape
  int trans = 0;   // 1: transposed
  int layout = 0;  // 0 row, 1 column
  int attr = 0;
};

struct MatrixCopy {
  MatrixCopyProps props;
  std::optional<int> id;          // of the intrinsic, by the document's table; movmatrix has none
  std::optional<int> id_by_code;  // by the document's code, which disagrees for stmatrix
  std::string document_mnemonic;  // as the selector document prints it
  std::string ptx;                // what assembles for these properties; "" if nothing does
  std::string id_stands_for;      // the instruction of that id in LLVM's order of names; "" unknown
  int registers = 0;              // 32-bit registers per lane
  target::ArchSet targets;        // that have `ptx`

  /// The lowest architecture that has it; nullopt if none has.
  [[nodiscard]] std::optional<target::Arch> min_arch() const;
  /// The id that LLVM's order of names gives to `ptx`; nullopt: unknown.
  [[nodiscard]] std::optional<int> id_by_order() const;
  /// The instruction in the reading in which every row of ldmatrix has one: sz 0 is b6x16_p32, 1 is
  /// b4x16_p64, 2 is b8. It is that of the id; "" for other families.
  [[nodiscard]] std::string_view other_reading() const;
};

/// The row of these properties, or why there is none: the family is unknown, a value is out of its
/// range, or the combination is illegal.
Result<MatrixCopy> select_matrix_copy(const MatrixCopyProps& props);

/// The rows that an id may mean: first those of the table, then those of the code alone.
std::vector<const MatrixCopy*> matrix_copies_of(int id);
/// Every row of the table, in its order.
const std::vector<MatrixCopy>& matrix_copies();

/// The opcode with a state space: "….x4.shared.b16" for Space::Shared, as it is for Generic.
std::string with_space(std::string_view opcode, Space space);

}  // namespace ww::isa
