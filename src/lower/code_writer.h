// SPDX-License-Identifier: Apache-2.0
// Writing lowered code: statements that go to the end of a block, and their expressions: index
// arithmetic that is simplified as it is made, and values. Variants use this instead of ir/build.h, because what they write is correct by
// construction: a type error here is a bug of ours. Index arithmetic is written with the promise
// that it does not overflow (ir/indices.h); values that the program computes are not.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/build.h"
#include "ir/function.h"
#include "ir/simplify/fold.h"
#include "ir/simplify/simplify.h"

namespace ww::lower {

/// Statements are collected until `take`. The facts learn about the variables that are made here.
class CodeWriter {
 public:
  CodeWriter(ir::Function& function, ir::Facts& facts, Span span)
      : f_(function), facts_(facts), span_(span) {}

  ir::Function& f() { return f_; }
  ir::Facts& facts() { return facts_; }
  [[nodiscard]] Span span() const { return span_; }

  // --- integers: int32, or int64 as soon as an operand is; simplified when they are used ---
  ir::ExprId n(std::int64_t value);
  ir::ExprId var(ir::VarId var);
  ir::ExprId index(ir::ExprOp op, ir::ExprId a, ir::ExprId b);
  ir::ExprId add(ir::ExprId a, ir::ExprId b);
  ir::ExprId add(ir::ExprId a, std::int64_t b) { return b == 0 ? a : add(a, n(b)); }
  ir::ExprId mul(ir::ExprId a, std::int64_t b);
  ir::ExprId div(ir::ExprId a, std::int64_t b);
  ir::ExprId mod(ir::ExprId a, std::int64_t b);
  ir::ExprId bit_xor(ir::ExprId a, ir::ExprId b);
  ir::ExprId less(ir::ExprId a, std::int64_t b);
  ir::ExprId both(ir::ExprId a, ir::ExprId b);  // either may be none
  /// Of values, of any type: integers wrap around.
  ir::ExprId binary(ir::ExprOp op, ir::ExprId a, ir::ExprId b);
  ir::ExprId simplify(ir::ExprId expr);
  ir::ExprId as(num::DType dtype, ir::ExprId value);
  ir::ExprId as_int64(ir::ExprId value) { return as(num::DType::Int64, value); }
  ir::ExprId as_int32(ir::ExprId value) { return as(num::DType::Int32, value); }
  /// Of an integer or a float type.
  ir::ExprId number(num::DType dtype, double value);
  ir::ExprId literal(const ir::Constant& value);
  ir::ExprId zero(num::DType dtype) { return number(dtype, 0); }
  /// IfThenElse computes only the side that is chosen, Select both.
  ir::ExprId choose(ir::ExprOp op, ir::ExprId condition, ir::ExprId yes, ir::ExprId no);
  ir::ExprId call(ir::Intrinsic callee, std::initializer_list<ir::ExprId> args);
  [[nodiscard]] std::optional<std::int64_t> constant(ir::ExprId expr) const;

  // --- memory ---
  /// Pointer to element `offset` of a flat buffer: as an offset from its start, and as the address
  /// of the element.
  ir::ExprId pointer(ir::BufferId flat, ir::ExprId offset);
  ir::ExprId address(ir::BufferId flat, ir::ExprId index);
  ir::ExprId load(ir::BufferId buffer, std::initializer_list<ir::ExprId> indices);

  // --- statements ---

  /// name: T.let = value; constants and plain variables are given back as they are.
  ir::ExprId let(std::string_view name, ir::ExprId value);
  /// A flat view of the buffer's own storage, in elements of `dtype`; declared at the end of the
  /// block. `elements` is how many of them there are, as far as known.
  ir::BufferId flat_view(ir::BufferId buffer, num::DType dtype, std::int64_t elements,
                         std::string_view name);
  void allocate(ir::BufferId buffer);
  void declare(ir::BufferId view);
  /// An array in registers, which is allocated here, or by `allocate` when it is needed.
  ir::BufferId new_registers(std::string_view name, num::DType dtype, std::int64_t elements);
  ir::BufferId registers(std::string_view name, num::DType dtype, std::int64_t elements);
  void evaluate(ir::Intrinsic callee, std::initializer_list<ir::ExprId> args);
  /// Copies as many bytes from pointer to pointer.
  void copy_bytes(ir::ExprId to, ir::ExprId from, std::int64_t bytes);
  /// Executed where the predicate holds; none: everywhere.
  void ptx(std::string_view opcode, std::vector<ir::PtxOperand> operands,
           ir::ExprId predicate = {});
  void store(ir::BufferId buffer, std::span<const ir::ExprId> indices, ir::ExprId value);
  void store(ir::BufferId flat, ir::ExprId index, ir::ExprId value) {
    store(flat, std::span(&index, 1), value);
  }
  void add(ir::Stmt stmt);

  /// A loop over 0 … rounds-1, whose body `body(k)` writes; without a loop, k = 0, for one round.
  template <typename Body>
  void loop(std::string_view name, std::int64_t rounds, ir::LoopKind kind, Body&& body) {
    if (rounds == 1 && kind == ir::LoopKind::Serial) return body(n(0));
    const ir::VarId k = loop_var(name, rounds - 1);
    ir::Block outer = std::exchange(block_, {});
    body(var(k));
    finish_loop(k, n(rounds), kind, std::move(outer));
  }
  /// Where the condition holds; none: always.
  template <typename Body>
  void guarded(ir::ExprId condition, Body&& body) {
    if (condition.valid()) condition = simplify(condition);
    if (!condition.valid() || constant(condition) == 1) return body();
    ir::Block outer = std::exchange(block_, {});
    body();
    finish_if(condition, std::move(outer));
  }

  /// One of the two.
  template <typename Yes, typename No>
  void either(ir::ExprId condition, Yes&& yes, No&& no) {
    condition = simplify(condition);
    if (const auto known = constant(condition)) return *known != 0 ? yes() : no();
    ir::Block outer = std::exchange(block_, {});
    yes();
    ir::Block chosen = std::exchange(block_, {});
    no();
    ir::Block other = std::exchange(block_, std::move(outer));
    finish_either(condition, std::move(chosen), std::move(other));
  }

  ir::Block take() { return std::exchange(block_, {}); }
  /// For loops whose trip count is an expression: `trips` of finish_loop has the variable's type.
  ir::VarId loop_var(std::string_view name, std::int64_t last, num::DType type = num::DType::Int32);
  void finish_loop(ir::VarId var, ir::ExprId trips, ir::LoopKind kind, ir::Block outer);

 private:
  void finish_if(ir::ExprId condition, ir::Block outer);
  void finish_either(ir::ExprId condition, ir::Block yes, ir::Block no);

  ir::Function& f_;
  ir::Facts& facts_;
  Span span_;
  ir::Block block_;
};

/// Sum and product of indices, in int64 where they may leave int32.
ir::ExprId wide_add(CodeWriter& write, ir::ExprId a, ir::ExprId b);
ir::ExprId wide_mul(CodeWriter& write, ir::ExprId a, ir::ExprId b);

/// a·b + c of values of one type: rounded once where they are floats.
ir::ExprId multiply_add(CodeWriter& write, ir::ExprId a, ir::ExprId b, ir::ExprId c);

/// Operands of PTX instructions: the register that holds an element, and [pointer].
inline ir::PtxOperand register_operand(CodeWriter& code, ir::BufferId flat, ir::ExprId index) {
  return {.kind = ir::PtxOperandKind::At, .expr = code.address(flat, index)};
}
inline ir::PtxOperand address_operand(ir::ExprId pointer) {
  return {.kind = ir::PtxOperandKind::Address, .expr = pointer};
}

}  // namespace ww::lower
