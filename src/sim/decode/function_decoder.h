// SPDX-License-Identifier: Apache-2.0
// Decodes one function of a module into ops. Registers get places in the function's frame when they
// are first named, constants go to the program's pool, labels are resolved at the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/check.h"
#include "ptx/resolve.h"
#include "sim/decode/decoder.h"
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

class FunctionDecoder {
 public:
  FunctionDecoder(Program& program, const ptx::Module& module, Layout& layout, ptx::Scope& scope,
                  isa::Checker& checker, std::vector<Diag>& errors);

  /// Decodes the function and appends its ops. `code` is its entry in Program::functions.
  void decode(const ptx::Function& function, std::uint32_t index);

  // for Decode
  /// The register that the name stands for here, by the scopes of the text.
  Place register_place(std::string_view name);
  /// With the component of a vector that is named as a whole.
  Place special_place(const isa::Operand& operand, std::optional<char> component = {});
  Place constant(std::uint64_t low, std::uint64_t high, unsigned bytes);
  Place scratch(unsigned bytes);
  Place carry();
  /// A register that gets `from` plus the offset before the op being decoded runs.
  Place sum(Place from, isa::Type type, std::int64_t offset, std::string_view name);
  /// A register of that many bytes that gets the address of a local variable in the same way.
  Place frame_address(std::uint64_t offset, unsigned bytes);
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
  /// An op that must run before the one being decoded, and the register it reads.
  struct Before {
    Op op{};
    std::optional<OperandInfo> source{};
  };

  void place_params(const ptx::Function& function, Code& code);
  void place_formals(const ptx::Function& function, Code& code);
  void statement(const ptx::Statement& statement);
  void instruction(const ptx::Instruction& instruction);
  bool call(const ptx::Instruction& instruction, Op& op);
  void declare(const ptx::Variable& variable);
  void finish_op(Op op, const ptx::Instruction& instruction, isa::FamilyId family);
  void fix_labels();
  static void mark_order(const isa::Binding& binding, Code& code);
  void add_table(const ptx::Statement& statement);
  Place new_register(isa::Type type, unsigned lanes = 1);
  std::uint32_t local_slot(const ptx::Variable& variable);
  void add_moves(const ptx::Operand& operand, const ptx::Variable& formal, bool is_argument,
                 std::vector<ValueMove>& moves);
  [[nodiscard]] bool call_builtin(const ptx::Instruction& instruction, std::string_view name,
                                  CallSite site, Op& op);
  Place number_register(const ptx::Operand& operand, isa::Type type);
  void too_large(const ptx::Variable& variable, std::string_view where);
  void error(const ptx::Instruction& instruction, std::string text);
  [[nodiscard]] std::uint32_t line_of(std::uint32_t offset) const;

  Program& program_;
  const ptx::Module& module_;
  Layout& layout_;
  ptx::Scope& scope_;
  ptx::OperandResolver resolver_;
  isa::Checker& checker_;
  std::vector<Diag>& errors_;
  const ptx::Function* function_ = nullptr;
  std::uint32_t index_ = 0;
  std::unordered_map<std::uint64_t, Place> registers_;  // by declaration and member
  std::vector<OperandInfo> noted_;
  std::vector<Before> before_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Place> constants_[17];
  std::map<std::pair<std::uint8_t, unsigned>, Place> specials_;
  std::map<const ptx::Variable*, std::uint32_t> locals_;
  // Labels and lists of labels go by the statement that declares them.
  std::unordered_map<std::uint32_t, std::uint32_t> labels_;            // the op that follows
  std::unordered_map<std::uint32_t, std::uint32_t> tables_;            // in Program::branch_tables
  std::vector<std::pair<std::uint32_t, std::uint32_t>> label_fixups_;  // op, label
  std::optional<std::uint32_t> label_;                                 // of the op being decoded
  Place carry_{};
  bool is_full_ = false;  // no room for more registers
  std::uint32_t frame_bytes_ = 0, local_bytes_ = 0;
  std::uint32_t loc_ = 0;
};

}  // namespace ww::sim
