// SPDX-License-Identifier: Apache-2.0
// Writes one kernel. The parts, one file each:
//
//   emit.cpp       the module, parameters, arrays
//   stmts.cpp      statements: loops, branches, stores
//   exprs.cpp      expressions, vectors lane by lane
//   integers.cpp   integer and bool operators
//   floats.cpp     float operators
//   casts.cpp      conversions by value, and the same bits as another type
//   address.cpp    pointers and what they lead to
//   memory.cpp     loads, stores, copies
//   calls.cpp      functions: choice of the part, pure ones
//   math.cpp       mathematics
//   exchange.cpp   lanes and warps: shuffles, votes, reductions, barriers
//   atomics.cpp    atomic operations
//   prints.cpp     printf and assert
//   ptx_call.cpp   instructions that the program gives itself
//
// Values: bool is a predicate; integers of 8 and 16 bits are computed in 32 bits and kept extended;
// float16 and bfloat16 are 16-bit registers; narrower floats are their bits in a 32-bit register;
// pointers are addresses of a state space for as long as it is known.
//
// The first refusal is kept; what is written after it does not matter.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emit/ptx/code.h"
#include "emit/ptx/emit.h"
#include "emit/ptx/locals.h"
#include "ir/effects.h"
#include "ir/launch/launch.h"
#include "ir/ptx_placement.h"
#include "ir/simplify/simplify.h"

namespace ww::emit::to_ptx {

using ir::BufferId;
using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using ir::VarId;
using num::DType;

enum class Space : std::uint8_t { Generic, Global, Shared, Local, Registers };
/// "", ".global", ".shared", ".local"
std::string_view suffix_of(Space space);

/// A part of an address that is only known at run time: value times scale bytes.
struct Term {
  Value value = {};
  std::int64_t scale = 1;
  std::int64_t divisor = 1;  // of the value
  bool is_signed = true;
};

/// Where a pointer leads: a base, terms, and a constant.
struct Address {
  Space space = Space::Generic;
  std::string symbol = {};  // Shared, Local: the array, when there is one
  Value base = {};          // otherwise: a register
  BufferId storage = {};    // Registers
  std::vector<Term> terms = {};
  std::int64_t bits = 0;                  // constant part
  std::int64_t align = 1;                 // of the base, in bytes
  std::optional<std::size_t> param = {};  // whose memory it is
};

// --- facts about element types ---
bool is_signed(DType type);
/// "s32", "u64", "f32", "bf16": the type of an instruction that computes with it.
std::string_view arith_type(DType type);
/// The type of ld and st.
std::string_view memory_type(DType type);

class Emitter {
 public:
  Emitter(const ir::Function& function, const PtxOptions& options);
  Result<ptx::Module> run();

 private:
  using Lanes = std::vector<Value>;
  /// What a variable stands for.
  struct Bound {
    Lanes lanes = {};
    std::optional<Address> address = {};
  };
  struct Loop {
    std::string next = {};  // where `continue` goes
    std::string end = {};   // where `break` goes
    bool is_continued = false;
    bool is_broken = false;
  };
  using Kept = std::unordered_map<std::uint32_t, Lanes>;

  // --- emit.cpp ---
  void load_params();
  void load_param(std::size_t number);
  void declare_arrays();
  void declare_dynamic(std::span<const BufferId> buffers);
  void declare_launch(ptx::Function& entry, const ir::LaunchShape& shape);
  void add_outer(ptx::Module& module) const;
  std::string unique(std::string_view wanted);
  template <typename... Args>
  void refuse(DiagKind kind, fmt::format_string<Args...> format, Args&&... args) {
    if (!problem_)
      problem_ = diag(kind, format, std::forward<Args>(args)...).with_span(code_.span());
  }

  // --- stmts.cpp ---
  void block(const ir::Block& block);
  void stmt(const ir::Stmt& stmt);
  void mark_place(Span span);
  void bind(const ir::Stmt& stmt);
  void store(const ir::Stmt& stmt);
  void for_loop(const ir::Stmt& stmt);
  void one_round(const ir::Stmt& stmt);
  void leave_loop();
  [[nodiscard]] bool leaves_early(const ir::Block& body) const;
  Value sum(std::string_view suffix, Value a, Value b);
  Value product(std::string_view suffix, Value a, Value b);
  void while_loop(const ir::Stmt& stmt);
  void branch(const ir::Stmt& stmt);
  void arm(const ir::Block& body);
  bool leave_if(Value condition, const ir::Stmt& stmt);
  void jump(std::string& label, bool& is_used);
  void launch_thread(const ir::Stmt& stmt);
  void attribute(const ir::Stmt& stmt);
  void evaluate(ExprId expr);
  void jump_unless(Value condition, const std::string& label);

  // --- exprs.cpp ---
  Value eval(ExprId expr);
  Lanes lanes(ExprId expr);
  Lanes compute(const ir::Expr& expr);
  Lanes binary(const ir::Expr& expr);
  Value binary_lane(const ir::Expr& expr, DType type, Value a, Value b);
  Lanes unary(const ir::Expr& expr);
  Lanes select(const ir::Expr& expr);
  Lanes if_then_else(const ir::Expr& expr);
  Lanes guarded_load(const ir::Expr& expr, Value condition, std::size_t loaded);
  Lanes branches(const ir::Expr& expr, Value condition);
  Value logic(const ir::Expr& expr);
  Lanes ramp(const ir::Expr& expr);
  Lanes shuffle(const ir::Expr& expr);
  Value constant(const ir::Expr& expr);
  Value float_constant(DType type, double number);
  Value choose(Value condition, Value yes, Value no);
  Value predicate(ExprId expr);
  [[nodiscard]] bool is_free(ExprId expr) const;  // evaluating it in vain does no harm
  [[nodiscard]] ir::Range range(ExprId expr) const;

  // --- integers.cpp ---
  Value int_op(ExprOp op, DType type, Value a, Value b, const ir::Expr& expr);
  Value bool_op(ExprOp op, Value a, Value b);
  Value compare(ExprOp op, DType type, Value a, Value b);
  Value divide(ExprOp op, DType type, Value a, Value b, const ir::Expr& expr);
  Value floor_fix(ExprOp op, DType type, Value a, Value b, bool is_positive);
  Value shift(ExprOp op, DType type, Value a, Value b);
  Value wrap(DType type, Value value);
  Value mad(const ir::Expr& expr);
  Value int_unary(ExprOp op, DType type, Value a);
  Value negated(Value predicate);
  Value as_int(Value predicate);
  Value is_not_zero(DType type, Value value);

  // --- floats.cpp ---
  Value float_op(ExprOp op, DType type, Value a, Value b);
  Value float_compare(ExprOp op, DType type, Value a, Value b);
  Value float_unary(ExprOp op, DType type, Value a);
  Value fused(DType type, Value a, Value b, Value c);
  [[nodiscard]] bool is_native(DType type, ExprOp op) const;

  // --- casts.cpp ---
  Value cast(Value value, DType from, DType to);
  Value int_to_int(Value value, DType from, DType to);
  Value int_to_float(Value value, DType from, DType to);
  Value float_to_int(Value value, DType from, DType to);
  Value float_to_float(Value value, DType from, DType to);
  Value to_f32(Value value, DType from);
  Value from_f32(Value value, DType to);
  Value odd_f32(Value value, DType from);
  Lanes reinterpret(const ir::Expr& expr);
  Value raw(Value value, DType type, Class cls);
  Value from_raw(Value bits, DType type);
  std::vector<Value> words_of(const Lanes& lanes, DType type);
  Lanes lanes_of(std::span<const Value> words, DType type, std::size_t count);

  // --- address.cpp ---
  Address address(ExprId pointer);
  Address start_of(BufferId buffer);
  Address element(BufferId buffer, std::span<const ExprId> indices);
  Address opaque(Value pointer, DType type) const;
  void add_index(Address& to, ExprId index, std::int64_t scale_bits);
  void add_linear(Address& to, ExprId index, std::int64_t scale);
  void add_term(Address& to, ExprId atom, std::int64_t scale);
  [[nodiscard]] bool may_wrap(ExprId expr) const;
  Address settled(Address address);
  Value base_of(const Address& address);
  Value add_to_base(const Address& address, Value base, const Term& term);
  Arg operand(const Address& address);
  Value generic(const Address& address);
  Value window(const Address& address, Space space);
  [[nodiscard]] static std::int64_t align_of(const Address& address);

  // --- memory.cpp ---
  Lanes load(const ir::Expr& expr);
  Lanes load_run(const Address& from, DType type, std::size_t count, bool is_constant = false);
  Lanes load_piece(const Address& from, DType type, std::size_t count, bool is_constant);
  void store_run(const Address& to, DType type, const Lanes& values, std::uint32_t since,
                 Guard guard = {});
  void store_piece(const Address& to, DType type, std::span<const Value> values, Guard guard);
  std::vector<Address> gather(BufferId buffer, std::span<const ExprId> indices);
  void copy_bytes(const ir::Expr& expr);
  void copy_piece(const Address& to, const Address& from, std::int64_t bytes);
  std::vector<Value> source_cells(const Address& from, std::int64_t bytes);
  void put_cells(const Address& to, const std::vector<Value>& cells, std::int64_t bytes);
  [[nodiscard]] Class cell_class(const Address& place, std::int64_t bytes) const;
  static std::string cell_word(Class cls, std::int64_t bytes);
  [[nodiscard]] std::int64_t copy_width(const Address& to, const Address& from) const;

  // --- calls.cpp ---
  Lanes call(const ir::Expr& expr);
  Lanes pure_call(const ir::Expr& expr);
  Value pure_lane(Intrinsic callee, DType type, std::span<const Value> args);
  Value int_call(Intrinsic callee, DType type, std::span<const Value> args);
  Value tensor_address(const ir::Expr& expr);

  // --- math.cpp ---
  Value float_call(Intrinsic callee, DType type, std::span<const Value> args);
  Value without_sign(DType type, Value x);
  Value math32(Intrinsic callee, std::span<const Value> args);
  Value math64(Intrinsic callee, std::span<const Value> args);
  Value f32(std::string_view opcode, std::vector<Arg> args);
  Value add32(Value a, Value b);
  Value mul32(Value a, Value b);
  Value fma32(Value a, Value b, Value c);
  Value polynomial(Value x, std::span<const float> coefficients);
  Value exponential(Value x, float log2_base, float high, float low);
  Value reduced_angle(Value x);
  Value log1p32(Value x);
  Value tanh32(Value x);
  Value erf32(Value x);
  Value pow32(Value x, Value y);
  Value fmod64(Value x, Value y);
  Value round_away(DType type, Value x);
  Value classify(Intrinsic callee, DType type, Value x);

  // --- exchange.cpp ---
  Lanes exchange(const ir::Expr& expr);
  Lanes shuffle_lanes(const ir::Expr& expr);
  Value shuffle_value(std::string_view mode, Value value, Value by, Value clamp, Value mask);
  Value vote(const ir::Expr& expr);
  Value elect();
  Value reduce_lanes(std::string_view op, DType type, Value value, std::int64_t width);
  Value combine(std::string_view op, DType type, Value a, Value b);
  Value cta_reduce(const ir::Expr& expr);
  Value thread_number();
  void barrier(const ir::Expr& expr);
  void mbarrier_wait(const ir::Expr& expr);
  [[nodiscard]] std::string text_of(ExprId expr) const;

  // --- atomics.cpp ---
  Value atomic(const ir::Expr& expr, bool is_used);
  Value atomic_loop(const ir::Expr& expr, const Address& to, DType type);

  // --- prints.cpp ---
  void print(const ir::Expr& expr);
  Value print_argument(ExprId expr, char letter, std::string& spec);
  void check_assert(const ir::Stmt& stmt);
  void call_function(std::string_view name, std::span<const Value> args, bool has_result);
  Value text_address(std::string_view text);

  // --- ptx_call.cpp ---
  void ptx_call(const ir::PtxCall& call);
  bool try_form(const ir::PtxCall& call, const isa::Binding& binding,
                std::span<const ir::PlacedOperand> placed, Guard guard);
  [[nodiscard]] bool is_fitting(const ir::PtxCall& call, const isa::Binding& binding,
                                std::span<const ir::PlacedOperand> placed) const;
  [[nodiscard]] bool fits_type(const ir::PtxOperand& operand, const isa::OperandSpec& spec,
                               isa::Type type) const;
  struct Output {
    ir::PtxOperand operand;
    Value value;
  };
  Arg ptx_operand(const ir::PtxCall& call, const ir::PlacedOperand& placed,
                  const isa::Binding& binding, Guard guard, std::vector<Output>& outputs);
  Arg ptx_one(const ir::PtxOperand& operand, const isa::OperandSpec& spec,
              std::optional<isa::Type> type, bool is_listed, Guard guard,
              std::vector<Output>& outputs);
  Arg ptx_address(std::span<const ir::PtxOperand> own, const isa::OperandSpec& spec,
                  const isa::Binding& binding);
  Arg ptx_source(const ir::PtxOperand& operand, const isa::OperandSpec& spec,
                 std::optional<isa::Type> type, bool is_listed);
  Arg ptx_target(const ir::PtxOperand& operand, std::optional<isa::Type> type, Guard guard,
                 std::vector<Output>& outputs);
  Arg space_address(Address address, isa::Space space);
  void write_back(const Output& output, Guard guard);
  Value word_at(const Address& place);
  Value in_class(ExprId expr, Class cls);

  const ir::Function& f_;
  const PtxOptions& options_;
  ir::Facts facts_;
  ir::Ranges ranges_;
  Code code_;
  Locals locals_;
  std::optional<Diag> problem_;
  std::vector<Bound> vars_;            // by variable
  std::vector<std::string> symbols_;   // by buffer: the array
  std::vector<std::int64_t> offsets_;  // by buffer: in the array of dynamic shared memory
  std::vector<std::string> param_names_;
  std::vector<std::int64_t> param_aligns_;  // what the code relies on, in bytes
  std::vector<Array> arrays_;
  std::vector<Array> outer_;                               // dynamic shared memory, texts
  std::map<std::string, std::string, std::less<>> texts_;  // by contents: the array
  std::set<std::string, std::less<>> functions_;           // that are called
  std::set<std::string, std::less<>> names_;
  std::vector<Loop> loops_;
  Kept kept_;  // expressions of this statement
  ir::Effects effects_;
  std::uint32_t line_ = 0;
  ir::LaunchShape shape_;
};

}  // namespace ww::emit::to_ptx
