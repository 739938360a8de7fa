// SPDX-License-Identifier: Apache-2.0
// Reads declarations: variables, parameters, registers, and the directives of functions. Used
// inside this folder; ptx/lexer.h says how errors are reported.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/lexer.h"
#include "ptx/module.h"
#include "ptx/operand_reader.h"

namespace ww::ptx {

class DeclarationReader {
 public:
  DeclarationReader(Cursor& cursor, NamePool& names, OperandReader& operands)
      : cursor_(cursor), names_(names), operands_(operands) {}

  /// `.global .align 4 .u32 a, b[2] = {1, 2};` from the space on; the names become one variable
  /// each.
  bool variables(Linkage linkage, std::vector<Variable>& out);
  /// `.reg .v2 .b32 a, %r<4>;` from after the `.reg`.
  bool registers(isa::Type& type, std::uint8_t& vector, std::vector<RegisterName>& names);
  /// `(.param .u64 a, .reg .b32 b)`, with the parentheses; nothing when there are none.
  bool parameters(std::vector<Variable>& out);
  /// `.maxntid 128, 1, 1 .noreturn`, as many as there are. An unknown one is reported and skipped
  /// with its integers.
  bool directives(std::vector<Directive>& out);
  /// `.attribute(.managed, .unified(1, 2))` if it is here.
  bool attributes(SmallVec<Attribute, 1>& out);
  /// The strings of a `.pragma "a", "b";` from after the word.
  bool pragmas(std::vector<NameId>& out);

  /// A name that can be declared: one word without dots.
  bool name(std::string_view wanted, NameId& out);
  /// A string, without its quotes.
  bool string(std::string_view wanted, NameId& out);

 private:
  bool head(Variable& out);
  bool align(std::uint32_t& out);
  bool vector_and_type(std::uint8_t& vector, isa::Type& type);
  bool opaque_or_type(Variable& out);
  bool declarator(Variable& variable);
  bool count(std::uint32_t& out);
  bool dims(Variable& variable);
  bool fits(const Variable& variable);
  bool init(Variable& variable);
  bool parameter(Variable& out);
  bool pointee(Pointee& out);
  bool attribute(SmallVec<Attribute, 1>& out);
  bool uuid(Attribute& attribute);
  bool directive(std::vector<Directive>& out);
  bool directive_values(Directive& directive);
  bool unknown_directive();

  Cursor& cursor_;
  NamePool& names_;
  OperandReader& operands_;
};

}  // namespace ww::ptx
