// SPDX-License-Identifier: Apache-2.0
// Decodes one function of a module into ops. Registers get places in the function's frame when they
// are first named, constants go to the program's pool, labels are resolved at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/check.h"
#include "ptx/resolve.h"
#include "sim/decoder.h"
#include "sim/program.h"

namespace ww::sim {

/// Where the variables of a module are, known before any function is decoded.
struct Layout {
  struct Entry {
    std::uint64_t address = 0;  // in its state space
    std::uint32_t index = 0;    // of Program::variables
  };
  std::unordered_map<const ptx::Variable*, Entry> variables;
  std::unordered_map<ptx::NameId, std::uint32_t> functions;  // index into Program::functions
  std::uint64_t dynamic_shared = 0;                          // where `.extern .shared` arrays start
};

/// Bytes of a variable; unsized dimensions count as 0.
std::uint64_t bytes_of(const ptx::Variable& variable);
std::uint32_t align_of(const ptx::Variable& variable);

class FunctionDecoder {
 public:
  FunctionDecoder(Program& program, const ptx::Module& module, Layout& layout, ptx::Scope& scope,
                  isa::Checker& checker, std::vector<Diag>& errors);

  /// Decodes the function and appends its ops. `code` is its entry in Program::functions.
  void decode(const ptx::Function& function, std::uint32_t index);

  // for Decode
  Place register_place(std::string_view name);
  Place special_place(const isa::Operand& operand);
  Place constant(std::uint64_t low, std::uint64_t high, unsigned bytes);
  Place scratch(unsigned bytes);
  Place carry();
  /// The address of a variable in its state space, and whether it is relative to local memory.
  std::pair<std::uint64_t, bool> symbol_address(const isa::Operand& operand);
  /// The op being decoded goes to this label: its `imm`.
  void add_label_fixup(std::string_view label);
  /// The table of a `.branchtargets` list, as an index into Program::branch_tables.
  std::uint32_t branch_table(std::string_view label);
  [[nodiscard]] std::uint64_t function_address(std::string_view name) const;
  void note_operand(Place place, isa::Type type, isa::Type as, bool is_result,
                    std::string_view name);
  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] std::uint32_t next_op() const {
    return static_cast<std::uint32_t>(program_.ops.size());
  }

 private:
  struct Block {
    std::map<ptx::NameId, std::pair<Place, isa::Type>> registers;
    struct Family {
      isa::Type type;
      std::uint32_t count;
    };
    std::map<ptx::NameId, Family> families;
    std::map<ptx::NameId, std::pair<isa::Type, unsigned>> singles;  // not used yet; vector length
  };

  void place_params(const ptx::Function& function, Code& code);
  void place_formals(const ptx::Function& function, Code& code);
  void statement(const ptx::Statement& statement);
  void instruction(const ptx::Instruction& instruction);
  bool call(const ptx::Instruction& instruction, Op& op);
  void declare(const ptx::RegisterDecl& decl);
  void declare(const ptx::Variable& variable);
  void finish_op(Op op, const ptx::Instruction& instruction, std::uint8_t family);
  void fix_labels();
  static void mark_order(const isa::Binding& binding, Code& code);
  Place new_register(isa::Type type);
  [[nodiscard]] ptx::NameId family_of(std::string_view name) const;
  std::uint32_t local_slot(std::uint64_t bytes, std::uint32_t align);
  ValueMove value_of(const ptx::Operand& operand, bool is_argument);
  void error(const ptx::Instruction& instruction, std::string text);
  [[nodiscard]] std::uint32_t line_of(std::uint32_t offset) const;

  Program& program_;
  const ptx::Module& module_;
  Layout& layout_;
  ptx::Scope& scope_;
  isa::Checker& checker_;
  std::vector<Diag>& errors_;
  const ptx::Function* function_ = nullptr;
  std::uint32_t index_ = 0;
  std::vector<Block> blocks_;
  std::vector<OperandInfo> noted_;
  std::vector<Op> pending_;  // that must run before the op being decoded
  std::map<std::pair<std::uint64_t, std::uint64_t>, Place> constants_[17];
  std::map<std::pair<std::uint8_t, unsigned>, Place> specials_;
  std::map<const ptx::Variable*, std::uint32_t> locals_;
  std::map<ptx::NameId, std::uint32_t> labels_;
  std::vector<std::pair<std::uint32_t, ptx::NameId>> label_fixups_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> table_fixups_;  // table, its target list
  ptx::NameId label_ = ptx::kNoName;                                   // of the op being decoded
  Place carry_{};
  std::uint32_t frame_bytes_ = 0, local_bytes_ = 0;
  std::uint32_t loc_ = 0;
};

}  // namespace ww::sim
