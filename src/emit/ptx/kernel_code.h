// SPDX-License-Identifier: Apache-2.0
// The code of a kernel while it is written: lines over numbered registers, in nested scopes.
//
// A scope is the body of a loop or of a branch and has its own list of lines, which goes to the end
// of the list around it when the scope closes. What depends on nothing inside a loop is therefore
// written into the list around the loop and stands before it in the text. Nothing leaves a branch.
//
// A register that is written once is a *value*: `pure` gives the same one for the same operation on
// the same values as long as its scope is open. Registers that are written more than once (loop
// counters, elements of register arrays) count their writes, and what was computed from one of them
// holds until the next write.
//
// `finish` numbers the registers in the order in which they appear, leaves out what is not used,
// checks every instruction against the catalogue and makes the PTX function.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "base/result.h"
#include "base/source.h"
#include "base/stable_vec.h"
#include "emit/ptx/types.h"
#include "isa/operand.h"
#include "ptx/module.h"
#include "target/target.h"

namespace ww::emit::to_ptx {

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

/// A variable of the function: a `.shared` or `.local` array of bytes.
struct Array {
  std::string name = {};
  isa::Space space = isa::Space::Shared;
  std::int64_t bytes = 0;
  std::int64_t align = 16;
};

class KernelCode {
 public:
  explicit KernelCode(target::Target target) : target_(target) { scopes_.emplace_back(); }

  [[nodiscard]] target::Target target() const { return target_; }
  /// Lines that follow belong to this place of the source.
  void set_span(Span span) { span_ = span; }
  [[nodiscard]] Span span() const { return span_; }

  // --- scopes ---
  void open_scope(bool is_loop);
  /// `before` comes between what left the scope and the scope itself.
  void close_scope(std::vector<Line> before = {});
  /// Closes a scope with a single store to global memory, and up to kMaxSpeculated instructions that
  /// compute its address, as guarded code without a branch. False, and the scope stays open, for all
  /// others.
  bool close_as_guarded(Guard guard);
  [[nodiscard]] int level() const { return static_cast<int>(scopes_.size()) - 1; }

  // --- registers ---
  /// To be written once, in this scope.
  Value new_register(Class cls);
  /// Of a loop: always a number, as far as the checks of undefined values care.
  Value new_counter(Class cls);
  /// To be written any number of times; every write must be told to `touch`.
  Value new_variable(Class cls);
  void touch(Value variable);
  [[nodiscard]] bool is_variable(Value value) const;
  [[nodiscard]] int level_of(Value value) const;

  // --- lines ---
  /// The result of an operation that depends on its operands alone.
  Value pure(std::string_view opcode, Class cls, std::vector<Arg> args);
  /// A pure operation with several results, in braces where the list is one operand.
  std::vector<Value> pure_vector(std::string_view opcode, Class cls, std::size_t count,
                                 std::vector<Arg> args);
  void add(std::string_view opcode, std::vector<Arg> args, Guard guard = {});
  void add_label(std::string_view name);
  void jump(std::string_view label, Guard guard = {});
  void add_comment(std::string_view text);
  void add_place(const SourceText::Position& at);
  void open_block() { add_line({.kind = LineKind::Open}); }
  void close_block() { add_line({.kind = LineKind::Close}); }
  void add_parameter(std::string_view name, std::uint32_t bits);
  // For `close_scope`; they belong to no place of the source.
  Line instruction(std::string_view opcode, std::vector<Arg> args, Guard guard = {});
  Line label(std::string_view name);
  /// The same text, for as long as this lives.
  std::string_view kept(std::string_view text) { return words_.text(words_.intern(text)); }
  /// `variable = value`; the instruction that made the value writes the variable itself if it is
  /// the last line and younger than `since`.
  void assign(Value variable, Value value, std::uint32_t since, Guard guard = {});
  /// A number that grows with every register.
  [[nodiscard]] std::uint32_t now() const { return static_cast<std::uint32_t>(registers_.size()); }
  /// A value as a register; constants are moved into one.
  Value in_register(Value value);
  /// The same value in a register (or constant) that later writes do not change.
  Value snapshot(Value value);
  /// "$L_for_3", each once.
  std::string new_label(std::string_view what);

  /// Fills the body. Fails with the first instruction that is not one of the target's.
  Result<void> finish(ptx::Module& module, ptx::Function& function, std::span<const Array> arrays,
                      std::span<const Array> outer);

 private:
  struct Register {
    Class cls = Class::R;
    int level = 0;
    std::uint32_t writes = 0;  // of a variable; 0: a value
    bool is_defined = false;   // computed from parameters, ids, counters and constants alone
  };
  /// Words that are equal for the same operation on the same values only.
  using Key = std::vector<std::uint64_t>;
  /// The results of a pure operation, in registers from `first` on.
  struct Known {
    std::uint32_t key = 0;  // where its words begin, in keys_
    std::uint32_t words = 0;
    std::uint32_t hash = 0;
    std::uint32_t first = 0;
    bool is_gone = false;
  };
  struct Scope {
    bool is_loop = false;
    std::vector<std::uint32_t> lines = {};  // in lines_
    std::vector<std::uint32_t> known = {};  // in known_
    HashIndex index = {};                   // of `known`
  };
  void find_key(ptx::NameId opcode, std::size_t results, std::span<const Arg> args);
  void add_key(const Arg& arg);
  [[nodiscard]] std::uint32_t find_known(const Scope& scope, std::uint32_t hash) const;
  /// The number of a pure operation, which is written if there is none.
  std::uint32_t known_for(std::string_view opcode, Class cls, std::size_t count,
                          std::vector<Arg> args);
  [[nodiscard]] Value result_of(const Known& known, std::size_t number) const;
  void keep_names(std::span<Arg> args);
  void add_line(Line line) { put(std::move(line), scopes_.back()); }
  Line& put(Line line, Scope& scope);
  [[nodiscard]] std::string_view text_of(const Line& line) const { return words_.text(line.text); }
  [[nodiscard]] bool is_made_last(Value value, std::uint32_t since) const;
  [[nodiscard]] int level_of(const Arg& arg) const;
  [[nodiscard]] int level_for(const std::vector<Arg>& args) const;
  [[nodiscard]] bool is_defined(const Arg& arg) const;
  [[nodiscard]] bool is_single_store(const Scope& scope) const;

  static constexpr int kMaxSpeculated = 4;

  target::Target target_;
  Span span_;
  std::vector<Register> registers_;
  std::vector<Scope> scopes_;
  StableVec<Line> lines_;
  ptx::NamePool words_;  // opcodes, labels, comments, names of operands
  std::vector<Known> known_;
  std::vector<std::uint64_t> keys_;  // of known_
  Key key_;                          // the one that is looked for
  std::uint32_t loops_ = 0;
  std::map<std::string, int> labels_;  // how many there are of each sort
};

}  // namespace ww::emit::to_ptx
