// SPDX-License-Identifier: Apache-2.0
// Expectations: one line that says what a kernel should have computed, checked against the arrays
// it left behind.
//
//   B == A.T                        C ~= A + 2*B - 1
//   D ~= A @ B within rtol=1e-3     $1 == max($0, 0)
//   D ~= f16(A) @ f16(B)            y ~= sum(A, 1)
//
// Arrays go by name, or `$0`, `$1`, ... by position; `before(A)` is what A was before the run.
// Operators are + - * / ** @ (matrix product), unary minus, .T (the last two dimensions exchanged),
// A[1:, ::2, -1] as in NumPy, with steps of 1 and more; and, in parentheses and arguments,
// comparisons, which give 0 and 1. Functions are abs, sqrt, exp, log, tanh, erf; where(c, a, b);
// max and min of two values; max, min, sum and mean over all elements of one, or along one
// dimension: `max(A, axis=1)`, `mean(A, axis=-1, keepdims=True)`. For sum and mean the dimension
// may stand by itself, `sum(A, 1)`; `max(A, 1)` is of A and 1. An element type is a function that
// rounds to it. Shapes are broadcast as in NumPy.
//
// The right side is computed in doubles, without rounding in between; or in 64-bit integers that
// wrap, when all of it is of integer types and there is no `/`. The left side is what was seen: it
// must have an element type, so it is an array, its transpose, or a cast; `f32(A + B) == C` is how
// to compare a sum. The right side may be broadcast to the left one, not the other way round.
//
//   ==  each element equals the right side rounded to the left side's type: floats to nearest even,
//       fractions to the nearest integer, integers modulo 2^bits. NaN equals NaN, and -0 equals 0.
//   ~=  each element is equal in that sense, or |seen - wanted| <= rtol * |wanted| + atol, where
//       wanted is not rounded. rtol depends on the left side's type:
//
//         float64             1e-9      room for the order of summation
//         float32             1e-4
//         tfloat32, float16   2^-10     one unit in the last place from here on
//         bfloat16            2^-7
//         e4m3, e2m3          2^-3
//         e5m2, e3m2          2^-2
//         e2m1, ue8m0         2^-1
//         integers, bool      0
//
//       atol is for elements in which large terms cancel, and depends on the data, so that results
//       of any magnitude are compared alike: rtol / 4 of the mean |wanted|; no less than the
//       type's smallest number, where that is less than a quarter of the mean. So zeros never pass
//       for something else, nor for nothing: where all is 0 that is wanted, atol is 0.
//
//       `within rtol=X`, `within atol=Y`, `within rtol=X, atol=Y` decide otherwise: an atol alone
//       makes rtol 0, and an rtol alone leaves atol to the data. `within X` makes both X. With an
//       explicit tolerance the left side may be anything.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "driver/expect/expr.h"
#include "num/dtype.h"

namespace ww::driver {

/// The array of that name (`$0` with its dollar), or null.
using FindArray = std::function<const Array*(std::string_view)>;
/// Which elements of the array of that name have been written; null: all of them have a value.
using FindWritten = std::function<const std::vector<bool>*(std::string_view)>;

/// |seen - wanted| may be rtol * |wanted| + atol.
struct Tolerance {
  double rtol = 0;
  double atol = 0;

  [[nodiscard]] bool is_exact() const { return rtol == 0 && atol == 0; }
};

struct Mismatch {
  std::vector<std::int64_t> index;
  std::string seen;    // "never written": there is nothing to see
  std::string wanted;  // rounded to the left side's type
  double error = 0;    // |seen - wanted|, infinite when just one of them is NaN
};

struct ExpectResult {
  bool holds = false;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::int64_t unwritten = 0;        // of them; they have no error
  std::vector<Mismatch> first = {};  // in C order, kShownMismatches at most
  double max_error = 0;              // over all elements, also those that agree
  Tolerance tolerance = {};          // 0 for `==`
  /// For people: one line, then one for each of `first`.
  std::string text = {};
};

inline constexpr std::size_t kShownMismatches = 8;

/// rtol of `~=` for a left side of that type.
double default_rtol(num::DType type);
/// That, and the atol of `~=` where this array is wanted.
Tolerance default_tolerance(const Array& wanted);

/// Computes both sides and compares them. Diags point into the expectation's text: UnknownName for
/// an array that `find` does not have (with the nearest of `known`), BadArgument for shapes that do
/// not go together or a left side without a type, TooLarge for values beyond 2^31 elements.
/// Elements that nothing has written equal nothing, where a side is just the name of an array.
/// `before` has what arrays were before the run; BadArgument for one that it does not have.
Result<ExpectResult> check_expectation(const Expectation& expectation, const FindArray& find,
                                       std::span<const std::string_view> known = {},
                                       const FindWritten& written = {},
                                       const FindArray& before = {});
/// Reads and checks.
Result<ExpectResult> check_expectation(std::string_view text, const FindArray& find,
                                       std::span<const std::string_view> known = {});

}  // namespace ww::driver
