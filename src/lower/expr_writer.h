// SPDX-License-Identifier: Apache-2.0
// Writing the expressions of lowered code: index arithmetic that is simplified as it is made, and
// values. Variants use this instead of ir/build.h, because what they write is correct by
// construction: a type error here is a bug of ours. Index arithmetic is written with the promise
// that it does not overflow (ir/indices.h); values that the program computes are not.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "ir/build.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"

namespace ww::lower {

class ExprWriter {
 public:
  ExprWriter(ir::Function& function, ir::Facts& facts, Span span)
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

 private:
  ir::Function& f_;
  ir::Facts& facts_;
  Span span_;
};

/// Sum and product of indices, in int64 where they may leave int32.
ir::ExprId wide_add(ExprWriter& write, ir::ExprId a, ir::ExprId b);
ir::ExprId wide_mul(ExprWriter& write, ir::ExprId a, ir::ExprId b);

/// a·b + c of values of one type: rounded once where they are floats.
ir::ExprId multiply_add(ExprWriter& write, ir::ExprId a, ir::ExprId b, ir::ExprId c);

}  // namespace ww::lower
