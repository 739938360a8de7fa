// SPDX-License-Identifier: Apache-2.0
// The value of one element of an elementwise primitive, as the table in ir/elementwise.h gives it.
#pragma once

#include <string>
#include <vector>

#include "lower/call.h"
#include "lower/elementwise/cast_form.h"
#include "lower/elementwise/fast.h"

namespace ww::lower {

/// An instruction that is written when its result is needed: into a register of its own, or where
/// the element goes.
struct LastInstruction {
  ir::BufferId part = {};
  ir::ExprId out = {};      // the element of `part`
  std::string opcode = {};  // empty: there is none
  std::vector<ir::PtxOperand> sources = {};

  /// `to`: the register; none: its own.
  void write(CodeWriter& code, ir::ExprId to = {});
};

class ElementValue {
 public:
  /// `type` is the one in which the primitive computes, `dst` that of its destination.
  ElementValue(const Call& call, CodeWriter& code, num::DType type, num::DType dst)
      : call_(call),
        code_(code),
        f_(code.f()),
        type_(type),
        dst_(dst),
        is_fast_(lower::is_fast(call.tile, type)),
        cast_(call.tile.op == ir::TileOp::Cast ? cast_form(call).value() : CastForm{}) {}

  /// Operand i, as ir::operands_of lists them, in the type in which it is used.
  ir::ExprId converted(std::size_t i, ir::ExprId value);
  /// The same of a scalar, computed before anything else; none for none.
  ir::ExprId scalar(std::size_t i, ir::ExprId value);
  /// Stores the element, of converted operands; none: left out. An instruction that ends it writes
  /// the register itself.
  void store(ir::BufferId to, ir::ExprId index, const std::vector<ir::ExprId>& operands);

 private:
  ir::ExprId computed(const std::vector<ir::ExprId>& v);
  ir::ExprId of_number(ir::ExprId x);
  ir::ExprId unary(ir::ExprOp op, ir::ExprId x);
  ir::ExprId argument(ir::ExprId x, ir::ExprId scale, ir::ExprId bias);
  ir::ExprId function(ir::ExprId x);
  ir::ExprId fast(ir::ExprId x, ir::ExprId y);

  const Call& call_;
  CodeWriter& code_;
  ir::Function& f_;
  num::DType type_, dst_;
  bool is_fast_;
  CastForm cast_;
  LastInstruction last_ = {};
};

}  // namespace ww::lower
