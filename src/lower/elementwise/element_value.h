// SPDX-License-Identifier: Apache-2.0
// The value of one element of an elementwise primitive, as the table in ir/elementwise.h gives it.
#pragma once

#include <vector>

#include "lower/call.h"
#include "lower/elementwise/fast.h"

namespace ww::lower {

class ElementValue {
 public:
  /// `type` is the one in which the primitive computes, `dst` that of its destination.
  ElementValue(const Call& call, CodeWriter& code, num::DType type, num::DType dst)
      : call_(call),
        code_(code),
        f_(code.f()),
        type_(type),
        dst_(dst),
        is_fast_(lower::is_fast(call.tile, type)) {}

  /// Operand i, as ir::operands_of lists them, in the type in which it is used.
  ir::ExprId converted(std::size_t i, ir::ExprId value);
  /// The same of a scalar, computed before anything else; none for none.
  ir::ExprId scalar(std::size_t i, ir::ExprId value);
  /// The element, in the type of the destination, of converted operands; none: left out.
  ir::ExprId of(const std::vector<ir::ExprId>& operands);

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
};

}  // namespace ww::lower
