// SPDX-License-Identifier: Apache-2.0
// Where integers wrap around, and where they must not.
//
// A value wraps: it is computed modulo 2^width, at every width. A rewrite must be valid for numbers
// that wrap, or show from ranges that these do not (ir/simplify/simplify.h).
//
// An index must not overflow: the index of an element, the start and extent of a region, the bounds
// of a loop, an offset. The rule covers the sums and products it is made of, in signed integers,
// as far as they stand there themselves:
//
//   A[i * 4096 + j]                     both operations are index arithmetic
//   A[(i * 1103515245 + 12345) % 1000]  `%` is of another kind: its operand is a value
//   x = i * 4096; A[x + j]              a name is a value: `x + j` is index arithmetic
//
// Such nodes have `Expr::no_wrap`. The evaluator reports an `overflow` if one does, so the rest of
// the compiler may treat them as whole numbers: split sums, reorder additions, divide. Lowering
// writes its own index arithmetic with the same promise (lower/code_writer.h).
#pragma once

#include "ir/function.h"

namespace ww::ir {

/// Marks the index arithmetic of a function. A node that is also part of a value gets a twin.
void mark_indices(Function& function);

/// Sums and products, of numbers or vectors of them.
bool is_linear(const Expr& expr);

}  // namespace ww::ir
