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
#include "sim/checks/promises.h"
#include "sim/decode/decoder.h"
#include "sim/decode/frame.h"
#include "sim/decode/labels.h"
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

/// Constants of a program, 32 equal lanes each, of which equal ones are kept once.
class ConstantPool {
 public:
  /// The place of one in `bytes_of_all`, where it is put if it is not there.
  Place place(std::vector<std::byte>& bytes_of_all, std::uint64_t low, std::uint64_t high,
              unsigned bytes);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, Place> places_[17];  // by size
};

/// What the functions of a module are decoded with.
struct DecodeContext {
  Program& program;
  const ptx::Module& module;
  Layout& layout;
  ptx::Scope& scope;
  isa::Checker& checker;
  std::vector<Diag>& errors;
  ptx::OperandResolver resolver{module, scope};
  ConstantPool constants{};
};

class FunctionDecoder {
 public:
  /// `index`: its entry in Program::functions.
  FunctionDecoder(DecodeContext& context, const ptx::Function& function, std::uint32_t index)
      : context_(context),
        function_(function),
        index_(index),
        frame_(context.module, function, context.errors) {}

  /// Appends the ops of the function.
  void decode();

  /// The register that the name means here, by the scopes of the text.
  Place register_place(std::string_view name);
  /// With the component of a vector that is named as a whole.
  Place special_place(const isa::Operand& operand, std::optional<char> component = {});
  /// A register that gets `from` plus the offset before the op being decoded runs.
  Place sum(Place from, isa::Type type, std::int64_t offset, std::string_view name);
  /// A register of that many bytes that gets the address of a local variable in the same way.
  Place frame_address(std::uint64_t offset, unsigned bytes);
  /// A register of that many bytes that has an address of the CTA's shared memory from the start.
  Place shared_address(std::uint64_t offset, unsigned bytes);
  /// The address of a variable in its state space, and what it is relative to.
  std::pair<std::uint64_t, AddressOrigin> symbol_address(const isa::Operand& operand);
  /// The op being decoded goes to this label: its `imm`.
  void add_label_fixup(std::string_view label);
  /// The table of a `.branchtargets` list, as an index into Program::branch_tables.
  std::uint32_t branch_table(std::string_view label);
  [[nodiscard]] std::uint64_t function_address(std::string_view name) const;
  void note_operand(Place place, isa::Type type, isa::Type as, bool is_result,
                    std::string_view name);
  [[nodiscard]] Program& program() { return context_.program; }
  /// What the program says of the function.
  [[nodiscard]] Code& code() { return program().functions[index_]; }
  [[nodiscard]] Frame& frame() { return frame_; }
  Place constant(std::uint64_t low, std::uint64_t high, unsigned bytes) {
    return context_.constants.place(program().constants, low, high, bytes);
  }

 private:
  /// An op that must run before the one being decoded, and the register it reads.
  struct Before {
    Op op{};
    std::optional<OperandInfo> source{};
  };

  void place_params();
  void place_formals();
  void statement(const ptx::Statement& statement);
  void instruction(const ptx::Instruction& instruction);
  bool call(const ptx::Instruction& instruction, Op& op);
  void promise(const OperandInfo& source);
  void finish_op(Op op, const ptx::Instruction& instruction, isa::FamilyId family);
  void add_moves(const ptx::Operand& operand, const ptx::Variable& formal, bool is_argument,
                 std::vector<ValueMove>& moves);
  [[nodiscard]] bool call_builtin(const ptx::Instruction& instruction, std::string_view name,
                                  CallSite site, Op& op);
  Place number_register(const ptx::Operand& operand, isa::Type type);
  void error(const ptx::Instruction& instruction, std::string text);
  [[nodiscard]] std::uint32_t next_op() { return static_cast<std::uint32_t>(program().ops.size()); }
  [[nodiscard]] std::uint32_t line_of(std::uint32_t offset) {
    return static_cast<std::uint32_t>(program().source.line_number(offset));
  }

  DecodeContext& context_;
  const ptx::Function& function_;
  std::uint32_t index_;
  Frame frame_;
  Labels labels_;
  std::uint32_t loc_ = 0;
  // of the op being decoded
  std::vector<OperandInfo> noted_;
  std::vector<Before> before_;
  std::optional<std::uint32_t> label_;
  PromiseOf promised_ = PromiseOf::None;  // after a label that says so (sim/checks/promises.h)
};

}  // namespace ww::sim
