// SPDX-License-Identifier: Apache-2.0
// Scalar expressions, and one lane of elementwise vector ones: `lane` says which, none for scalars.
#pragma once

#include "emit/cuda/context.h"

namespace ww::emit::cuda {

/// In parentheses if it binds less tightly.
std::string expr(Context& c, ExprId id, Precedence at_least = kAnything);
/// A vector is a value of its own type.
Text render(Context& c, ExprId id);
Text render_as(Context& c, ExprId id, const Lane* lane);
/// A constant beside a value of its type needs no type of its own.
Text operand(Context& c, ExprId id, const Lane* lane, ExprId beside = {});
Text reinterpret(Context& c, const Expr& expr);

/// Refuses types that CUDA C++ can only move.
bool check_number(Context& c, DType dtype, Span span);

}  // namespace ww::emit::cuda
