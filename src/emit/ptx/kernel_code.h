// SPDX-License-Identifier: Apache-2.0
// The code of the kernel being written: lines over numbered registers, in nested scopes.
//
// A scope is the body of a loop or of a branch and has its own list of lines, which goes to the end
// of the list around it when the scope closes. So a line that depends on nothing inside a loop goes
// into the list around the loop, before it in the text. Nothing leaves a branch.
//
// `pure` gives the same register for the same operation on the same values as long as its scope is
// open. finish.h makes the PTX function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "base/look_up.h"
#include "base/source.h"
#include "base/stable_vec.h"
#include "num/dtype.h"
#include "ptx/names.h"
#include "ptx/register_class.h"

namespace ww::emit::to_ptx {

// --- types ---------------------------------------------------------------------------------------
//
// Element types as PTX has them: which register holds a value, and what an instruction calls it.

/// P, B, Rs, R, Rd and Rq: a value is in a class that is declared. That a value of
/// R is a float shows in what is done with it.
using Class = ptx::RegisterClass;
int bits_of(Class cls);
/// "b8", "b16", "b32", "b64", "b128", "pred".
std::string_view type_of(Class cls);

/// The register class that holds a value of an element type. Integers of 8 and
/// 16 bits are held sign- or zero-extended in 32 bits, floats of 8 bits and fewer as their bits.
Class class_of(num::DType type);
bool is_signed(num::DType type);
/// "s32", "u64", "f32", "bf16": the type of an instruction that computes with it.
std::string_view arith_type(num::DType type);
/// The type of ld and st.
std::string_view memory_type(num::DType type);

// --- operands ------------------------------------------------------------------------------------
//
// What instructions are given while a kernel is written: values, operands made of them, guards.

enum class ValueKind : std::uint8_t { None, Register, Int, F32, F64 };

/// A register, or a constant.
struct Value {
  ValueKind kind = ValueKind::None;
  Class cls = Class::R;
  std::uint32_t reg = 0;
  std::int64_t bits = 0;  // of a constant

  [[nodiscard]] bool is_register() const { return kind == ValueKind::Register; }
  [[nodiscard]] bool is_constant() const { return !is_register() && kind != ValueKind::None; }
  friend bool operator==(const Value&, const Value&) = default;
};
Value int_value(std::int64_t number, Class cls = Class::R);
Value f32_value(float number);
Value f64_value(double number);

enum class ArgKind : std::uint8_t {
  Value,
  Symbol,
  Special,
  Label,
  Address,
  Vector,
  Pair,
  List,
  Sink
};

/// An operand of an instruction. Its name must live until the operand is given to KernelCode, which
/// keeps it.
struct Arg {
  ArgKind kind = ArgKind::Sink;
  Value value = {};
  std::string_view name = {};   // Symbol, Special, Label
  std::int64_t offset = 0;      // Address
  std::vector<Arg> parts = {};  // Address: base, then coordinates in a Vector

  Arg() = default;
  Arg(Value v) : kind(ArgKind::Value), value(v) {}  // NOLINT(google-explicit-constructor)
};
Arg symbol_arg(std::string_view name);
Arg special_arg(std::string_view name);
Arg label_arg(std::string_view name);
Arg address_arg(Arg base, std::int64_t offset);
Arg vector_arg(std::vector<Arg> parts);
Arg vector_arg(std::span<const Value> values);
Arg pair_arg(Arg first, Arg second);
Arg list_arg(std::vector<Arg> parts);

/// `@%p1`, `@!%p1`, or none.
struct Guard {
  Value value = {};
  bool is_negated = false;
  [[nodiscard]] bool present() const { return value.is_register(); }
};

// --- registers -----------------------------------------------------------------------------------
//
// The registers of a kernel while it is written, by number.
//
// A register that is written once is a *value* and is known from its level on: 0 is the kernel, and
// each scope inside is one more. Registers that are written more than once (loop counters, elements
// of register arrays) count their writes, and what was computed from one of them holds until the
// next write.

struct Register {
  Class cls = Class::R;
  int level = 0;
  std::uint32_t writes = 0;  // of a variable; 0: a value
  bool is_defined = false;   // computed from parameters, ids, counters and constants alone
};

class Registers {
 public:
  Value add(const Register& made) {
    all_.push_back(made);
    return value(count() - 1);
  }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(all_.size()); }
  /// The register of a number below `count`.
  [[nodiscard]] Value value(std::uint32_t number) const {
    return {.kind = ValueKind::Register, .cls = all_[number].cls, .reg = number};
  }
  void set_level(Value value, int level) { all_[value.reg].level = level; }

  /// A variable is written.
  void touch(Value variable) { ++all_[variable.reg].writes; }
  /// The code of a loop begins: a later round may find other numbers in variables than the first one.
  void enter_loop() { ++loops_; }
  /// False for constants.
  [[nodiscard]] bool is_variable(Value value) const {
    return value.is_register() && all_[value.reg].writes != 0;
  }
  /// The same number for as long as the variable holds the same contents.
  [[nodiscard]] std::uint64_t version(Value variable) const {
    return all_[variable.reg].writes | std::uint64_t{loops_} << 32U;
  }

  /// The outermost level where the value is known, seen from `here`: where variables are.
  [[nodiscard]] int level_of(Value value, int here) const {
    if (!value.is_register()) return 0;
    return is_variable(value) ? here : all_[value.reg].level;
  }
  [[nodiscard]] int level_of(const Arg& arg, int here) const {
    int found = arg.kind == ArgKind::Value ? level_of(arg.value, here) : 0;
    for (const Arg& part : arg.parts) found = std::max(found, level_of(part, here));
    return found;
  }
  /// Whether all registers of the operand are.
  [[nodiscard]] bool is_defined(const Arg& arg) const {
    if (arg.kind == ArgKind::Value && arg.value.is_register() && !all_[arg.value.reg].is_defined)
      return false;
    return std::ranges::all_of(arg.parts, [&](const Arg& part) { return is_defined(part); });
  }

 private:
  std::vector<Register> all_;
  std::uint32_t loops_ = 0;
};

// --- known operations ----------------------------------------------------------------------------
//
// The pure operations that a kernel computes already: the same operation on the same values need not
// be written again as long as the scope is open that its code is in.
//
// A scope is the body of a loop or of a branch. What depends on nothing inside a loop is computed
// around it; nothing leaves a branch.

class KnownOperations {
 public:
  /// Both outlive it; names of operands go into `words`.
  KnownOperations(const Registers& registers, ptx::NamePool& words)
      : registers_(registers), words_(words) {
    scopes_.emplace_back();
  }

  void open_scope(bool is_loop) { scopes_.emplace_back().is_loop = is_loop; }
  /// Forgets the innermost scope's computed values.
  void close_scope() { scopes_.pop_back(); }
  /// Keeps its computed values in the enclosing scope.
  void merge_scope();
  /// Of the innermost scope; 0 is the kernel itself.
  [[nodiscard]] int level() const { return static_cast<int>(scopes_.size()) - 1; }
  [[nodiscard]] bool is_loop() const { return scopes_.back().is_loop; }
  /// The outermost scope where the operands are known and that no branch separates from here.
  [[nodiscard]] int level_for(std::span<const Arg> args) const;

  /// The first of the operation's results, which are in registers one after the other; None if no
  /// open scope computes it.
  [[nodiscard]] Value find(ptx::NameId opcode, std::size_t results, std::span<const Arg> args);
  /// The operation that `find` did not find last is computed in the scope of that level.
  void add(Value first, int level);
  /// An operation of the innermost scope that has one result: its register becomes something else.
  void forget(ptx::NameId opcode, std::span<const Arg> args);

 private:
  struct Known {
    std::uint32_t key = 0;  // where its words begin, in keys_
    std::uint32_t words = 0;
    std::uint32_t hash = 0;
    std::uint32_t first = 0;  // register of its results
    bool is_gone = false;
  };
  struct Scope {
    bool is_loop = false;
    std::vector<std::uint32_t> known = {};  // in known_
    HashIndex index = {};                   // of `known`
  };
  void set_key(ptx::NameId opcode, std::size_t results, std::span<const Arg> args);
  void add_key(const Arg& arg);
  [[nodiscard]] std::uint32_t find_in(const Scope& scope) const;

  const Registers& registers_;
  ptx::NamePool& words_;
  std::vector<Scope> scopes_;
  std::vector<Known> known_;
  std::vector<std::uint64_t> keys_;  // of known_
  // Of the operation that is looked for: words that are equal for the same one only, and their hash.
  std::vector<std::uint64_t> key_;
  std::uint32_t hash_ = 0;
};

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
  /// A line that is not an instruction; `text` is its label, comment or name.
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
