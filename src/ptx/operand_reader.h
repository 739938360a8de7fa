// SPDX-License-Identifier: Apache-2.0
// Reads operands: of instructions, initialisers and debug sections. Used inside this folder;
// ptx/lexer.h says how errors are reported.
//
// Each reading function puts one operand on a stack. When a list is complete, its elements go from
// the stack to the pool and the list takes their place:
//
//     [%rd1+8], {%r1, %r2};       stack, top to the right
//                                 %rd1+8
//                                 Address
//                                 Address  %r1  %r2
//                                 Address  Vector
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/lexer.h"
#include "ptx/names.h"
#include "ptx/operand.h"

namespace ww::ptx {

class OperandReader {
 public:
  OperandReader(Cursor& cursor, NamePool& names) : cursor_(cursor), names_(names) {}

  /// Everything between an opcode and its `;`, which is taken too. `has_lists`: parentheses hold
  /// results and arguments (of a call) and not a part of a constant expression.
  bool instruction(OperandPool& pool, bool has_lists, Range& operands);
  /// What follows the `=` of a variable.
  bool initializer(OperandPool& pool, Operand& value);
  /// The values after `.b8` in a debug section, separated by commas.
  bool section_values(OperandPool& pool, Range& values);

 private:
  bool operand(OperandPool& pool, bool has_lists);
  bool vector(OperandPool& pool);
  bool call_list(OperandPool& pool);
  bool address(OperandPool& pool);
  bool address_base();
  bool pair(OperandPool& pool);

  bool leaf();
  bool element();
  bool name();
  bool minus_offset();
  bool warp_size();
  bool not_name();
  bool plain_int();
  bool number();
  bool constant(Operand& out);
  void plain_name();

  bool initial_value(OperandPool& pool, int depth);
  bool symbol();
  bool mask(OperandPool& pool);
  bool section_value(OperandPool& pool);

  void make_list(OperandPool& pool, OperandKind kind, std::size_t base, std::uint32_t begin);
  void finish(std::uint32_t begin);

  Cursor& cursor_;
  NamePool& names_;
  std::vector<Operand> stack_;
};

}  // namespace ww::ptx
