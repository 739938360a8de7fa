// SPDX-License-Identifier: Apache-2.0
// The code of a kernel while it is written: lines over numbered registers, in nested scopes.
//
// A scope is the body of a loop or of a branch and has its own list of lines, which goes to the end
// of the list around it when the scope closes. What depends on nothing inside a loop is therefore
// written into the list around the loop and stands before it in the text. Nothing leaves a branch.
//
// `pure` gives the same register for the same operation on the same values as long as its scope is
// open (known_operations.h); registers.h says what a value is. finish.h makes the PTX function.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "base/stable_vec.h"
#include "emit/ptx/known_operations.h"
#include "emit/ptx/operands.h"
#include "emit/ptx/registers.h"
#include "ptx/names.h"

namespace ww::emit::to_ptx {

enum class LineKind : std::uint8_t { Instruction, Label, Comment, Place, Open, Close, Parameter };

struct Line {
  LineKind kind = LineKind::Instruction;
  ptx::NameId text = ptx::kNoName;  // the opcode, label or comment; name of a Parameter
  std::vector<Arg> args = {};
  Guard guard = {};
  Span span = {};
  std::uint32_t line = 0;  // Place; Parameter: bits
  std::uint32_t column = 0;
  std::uint32_t file = 0;
  bool is_pure = false;  // may go when its result is not used
};

class KernelCode {
 public:
  KernelCode() : known_(registers_, words_) {}
  KernelCode(const KernelCode&) = delete;
  KernelCode& operator=(const KernelCode&) = delete;

  /// Instructions that follow belong to this place of the source.
  void set_span(Span span) { span_ = span; }
  [[nodiscard]] Span span() const { return span_; }

  // --- scopes ---
  void open_scope(bool is_loop);
  /// What `before` writes comes between what left the scope and the scope itself.
  void close_scope(const std::function<void()>& before = {});
  /// Closes a scope with a single store to global memory, and a few instructions that compute its
  /// address, as guarded code without a branch. False, and the scope stays open, for all others.
  bool close_as_guarded(Guard guard);

  // --- registers ---
  /// To be written once, in this scope.
  Value new_register(Class cls) { return registers_.add({.cls = cls, .level = known_.level()}); }
  /// Of a loop: always a number, as far as the checks of undefined values care.
  Value new_counter(Class cls) {
    return registers_.add({.cls = cls, .level = known_.level(), .is_defined = true});
  }
  /// To be written any number of times; every write must be told to `touch`.
  Value new_variable(Class cls) {
    return registers_.add({.cls = cls, .level = known_.level(), .writes = 1});
  }
  void touch(Value variable) { registers_.touch(variable); }
  [[nodiscard]] int level_of(Value value) const {
    return registers_.level_of(value, known_.level());
  }
  /// A number that grows with every register: how many there are.
  [[nodiscard]] std::uint32_t now() const { return registers_.count(); }

  // --- lines ---
  /// The result of an operation that depends on its operands alone.
  Value pure(std::string_view opcode, Class cls, std::vector<Arg> args) {
    return first_of(opcode, cls, 1, std::move(args));
  }
  /// A pure operation with several results, in braces where the list is one operand.
  std::vector<Value> pure_vector(std::string_view opcode, Class cls, std::size_t count,
                                 std::vector<Arg> args);
  void add(std::string_view opcode, std::vector<Arg> args, Guard guard = {});
  void add_label(std::string_view name) { add_line({.kind = LineKind::Label}, name); }
  /// A line that is no instruction; `text` is its label, comment or name.
  void add_line(Line line, std::string_view text = {});
  void jump(std::string_view label, Guard guard = {}) { add("bra", {label_arg(label)}, guard); }
  /// `variable = value`; the instruction that made the value writes the variable itself if it is
  /// the last line and younger than `since`.
  void assign(Value variable, Value value, std::uint32_t since, Guard guard = {});
  /// A value as a register; constants are moved into one.
  Value in_register(Value value);
  /// The same value in a register (or constant) that later writes do not change.
  Value snapshot(Value value);
  /// "$L_for_3", each once.
  std::string new_label(std::string_view what);

  /// All of them in their order. No scope is open.
  [[nodiscard]] std::vector<const Line*> lines() const;
  /// Opcodes, labels, comments and names of operands.
  [[nodiscard]] const ptx::NamePool& words() const { return words_; }

 private:
  /// The first result of a pure operation, which is written if no open scope has it.
  Value first_of(std::string_view opcode, Class cls, std::size_t count, std::vector<Arg> args);
  Line& put(Line line, std::vector<std::uint32_t>& scope);
  [[nodiscard]] bool is_single_store() const;
  [[nodiscard]] bool is_made_last(Value value, std::uint32_t since) const;

  Span span_;
  Registers registers_;
  ptx::NamePool words_;
  KnownOperations known_;
  StableVec<Line> lines_;
  std::vector<std::vector<std::uint32_t>> scopes_{1};  // their lines, in lines_
  std::map<std::string, int> labels_;                  // how many there are of each sort
};

}  // namespace ww::emit::to_ptx
