// SPDX-License-Identifier: Apache-2.0
// Arithmetic in CUDA C++ that means what the IR means (eval/value/arithmetic.h): integers wrap at
// their width, division by zero and shifts beyond the width have results, every float operation is
// rounded once to its type. nvcc joins a multiplication and an addition into one operation with
// one rounding unless the multiplication is one of `__fmul_rn`, `__dmul_rn`, `__hmul_rn`.
#pragma once

#include <span>
#include <string>

#include "emit/cuda/helpers.h"
#include "emit/cuda/types.h"
#include "ir/function.h"

namespace ww::emit::cuda {

/// How tightly an expression's outermost operator binds, as in C++.
enum Precedence : int {
  kAnything,
  kTernary,
  kOr,
  kAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEqual,
  kCompare,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom
};

struct Text {
  std::string text;
  Precedence precedence = kAtom;
};
/// In parentheses if it binds less tightly.
std::string within(const Text& text, Precedence at_least);

/// What is known about the operands of an integer operation, so that plain C++ says the same.
struct Known {
  bool fits = false;  // the exact result is a value of the type
  bool divides_plainly =
      false;  // dividend not negative, divisor positive (truncated: any but 0, -1)
  bool shifts_plainly = false;  // by 0 up to the width
};

class Numbers {
 public:
  explicit Numbers(Helpers& helpers) : helpers_(helpers) {}

  /// Operators of two and of one operand; is_number() must hold.
  Text binary(ir::ExprOp op, num::DType dtype, const Text& a, const Text& b, Known known = {});
  Text unary(ir::ExprOp op, num::DType dtype, const Text& a, Known known = {});
  /// By value.
  Text cast(num::DType from, num::DType to, const Text& value);
  /// Mathematics and the other pure functions of numbers.
  Text call(ir::Intrinsic callee, num::DType dtype, std::span<const Text> args);
  /// `name` is one of `__shfl_sync`, `__shfl_up_sync`, …; `rest` the text after the value.
  Text shuffle(std::string_view name, num::DType dtype, const std::string& mask, const Text& value,
               const std::string& rest);

 private:
  Text int_binary(ir::ExprOp op, num::DType dtype, const Text& a, const Text& b, Known known);
  Text wrapping(ir::ExprOp op, num::DType dtype, const Text& a, const Text& b, bool fits);
  Text dividing(ir::ExprOp op, num::DType dtype, const Text& a, const Text& b, bool plain);
  Text shifting(ir::ExprOp op, num::DType dtype, const Text& a, const Text& b, Known known);
  Text bool_binary(ir::ExprOp op, const Text& a, const Text& b);
  Text float_binary(ir::ExprOp op, num::DType dtype, const Text& a, const Text& b);
  Text half_binary(ir::ExprOp op, num::DType dtype, const Text& a, const Text& b);
  Text float_to_int(num::DType from, num::DType to, const Text& value);
  Text int_to_half(num::DType from, num::DType to, const Text& value);
  Text odd_float(num::DType from, const Text& value);
  Text int_call(ir::Intrinsic callee, num::DType dtype, std::span<const Text> args);
  Text float_call(ir::Intrinsic callee, num::DType dtype, std::span<const Text> args);

  Helpers& helpers_;
};

}  // namespace ww::emit::cuda
