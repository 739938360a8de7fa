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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/array.h"
#include "num/dtype.h"

namespace ww::driver {

// --- the notation --------------------------------------------------------------------------------
//
// The notation of expectations (driver/expect/expect.h), read into a tree:
//
//   expectation := side ("==" | "~=") side ["within" tolerance]
//   tolerance   := NUMBER | setting { "," setting }
//   setting     := ("rtol" | "atol") "=" NUMBER
//
// A side is an expression of Python's, read by its parser, in which $0 is a name, too. It may have
// numbers, arrays, + - * / ** @, signs, .T, slices with integers, calls, and, in parentheses and
// arguments, comparisons. What is called is a function, or an element type, which rounds its
// argument; `axis=` and `keepdims=` are for sum, mean, max and min of one array. Nodes stand in a
// vector, operands before what uses them, and know their place in the text.

enum class ExpectOp : std::uint8_t {
  Integer,       // `integer`
  Real,          // `real`
  Name,          // an array; its span is its name
  Before,        // what the array `name` was before the run
  Negate,        // operands: one
  Transpose,     // one
  Cast,          // one, to `dtype`
  Add,           // two
  Subtract,      // two
  Multiply,      // two
  Divide,        // two
  MatMul,        // two
  Abs,           // one
  Sqrt,          // one
  Exp,           // one
  Log,           // one
  Tanh,          // one
  Erf,           // one
  Power,         // two
  Less,          // two; 1 where it holds, 0 elsewhere, as the others
  LessEqual,     // two
  Greater,       // two
  GreaterEqual,  // two
  Equal,         // two
  NotEqual,      // two
  Where,  // three: a condition, and what is taken where it is other than 0, and where it is 0
  Slice,  // one, and `parts`
  Max,    // one, perhaps along `axis`, or two
  Min,    // one, perhaps along `axis`, or two
  Sum,    // one, perhaps along `axis`
  Mean,   // one, perhaps along `axis`
};

/// What an index takes of a dimension: one element, or every `step`-th from `begin` to `end`, which
/// count from the end where they are negative.
struct SlicePart {
  std::optional<std::int64_t> begin = {};
  std::optional<std::int64_t> end = {};
  std::int64_t step = 1;
  bool is_index = false;  // one element, `begin`; the dimension disappears
};

struct ExprNode {
  ExpectOp op{};
  Span span;
  std::int64_t integer = 0;
  double real = 0;
  num::DType dtype{};
  std::string name = {};                   // Before
  std::vector<SlicePart> parts = {};       // Slice
  std::optional<std::int64_t> axis = {};   // Sum, Mean, Max, Min; may count from the end
  bool keeps_dims = false;                 // the dimensions that are gone stay with extent 1
  std::vector<std::size_t> operands = {};  // places in the vector of nodes, all before this one
};

enum class ExpectRelation : std::uint8_t { Equal, Near };

struct Expectation {
  std::string text;
  std::vector<ExprNode> nodes;
  std::size_t left = 0;  // places of the two sides
  std::size_t right = 0;
  ExpectRelation relation = ExpectRelation::Equal;
  // Behind `within`; one number is both.
  std::optional<double> rtol = {};
  std::optional<double> atol = {};

  [[nodiscard]] bool has_tolerance() const { return rtol || atol; }
  /// The text a node was read from.
  [[nodiscard]] std::string_view text_of(const ExprNode& node) const {
    return std::string_view(text).substr(node.span.begin, node.span.end - node.span.begin);
  }
  /// The array that a node stands for, now or before the run; nothing for other nodes.
  [[nodiscard]] std::optional<std::string_view> name_of(const ExprNode& node) const {
    if (node.op == ExpectOp::Before) return node.name;
    return node.op == ExpectOp::Name ? std::optional(text_of(node)) : std::nullopt;
  }
  /// The arrays it speaks of, each once, in the order of the text; `$0` with its dollar.
  [[nodiscard]] std::vector<std::string> names(bool only_before = false) const;
  /// Those of them whose value before the run it needs.
  [[nodiscard]] std::vector<std::string> names_before() const { return names(true); }
};

/// Reads an expectation. Syntax, TooLarge (nesting), Overflow (an integer), UnknownName (functions
/// and types, with the nearest one) or BadArgument (number of arguments, an invalid tolerance), at
/// a place in `text`.
Result<Expectation> parse_expectation(std::string_view text);

// --- checking ------------------------------------------------------------------------------------

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
