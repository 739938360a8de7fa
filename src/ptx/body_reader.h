// SPDX-License-Identifier: Apache-2.0
// Reads the body of a function, statement by statement. Used inside this folder;
// ptx/cursor.h says how errors are reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/cursor.h"
#include "ptx/declaration_reader.h"
#include "ptx/module.h"
#include "ptx/operand_reader.h"

namespace ww::ptx {

class BodyReader {
 public:
  BodyReader(Cursor& cursor, NamePool& names, OperandReader& operands,
             DeclarationReader& declarations)
      : cursor_(cursor), names_(names), operands_(operands), declarations_(declarations) {}

  /// Reads from the `{` at the cursor to its `}`, both taken. After an error goes on with the next
  /// statement; false only when the `}` is missing.
  bool read(Function& function);

 private:
  void lend_buffers(Function& f);
  void take_buffers_back(Function& f);
  bool statements(Function& f);
  bool statement(Function& f);
  bool label_or_instruction(Function& f);
  bool guarded(Function& f);
  bool instruction(Function& f, Guard guard, std::string_view opcode);
  std::string_view joined_opcode(std::string_view first);
  bool open_block(Function& f);
  bool close_block(Function& f);
  bool empty_statement();

  bool directive(Function& f);
  bool registers(Function& f);
  bool variables(Function& f);
  bool pragmas(Function& f);
  bool loc(Function& f);
  bool inlining(Loc& loc);
  bool place(Loc::Place& out);

  bool labelled(Function& f, std::string_view label);
  bool prototype(Function& f, NameId label);
  bool targets(Function& f, StatementKind kind, NameId label);

  void comments(Function& f);
  bool missing_brace(const Function& f, const Token& brace);

  Cursor& cursor_;
  NamePool& names_;
  OperandReader& operands_;
  DeclarationReader& declarations_;
  std::uint32_t open_blocks_ = 0;
  std::vector<Statement> statements_;
  std::vector<Instruction> instructions_;
  OperandPool operands_of_body_;
  std::string joined_;                   // an opcode written in parts
  std::vector<Variable> variables_;      // of the declaration being read
  std::vector<RegisterName> registers_;  // likewise
};

}  // namespace ww::ptx
