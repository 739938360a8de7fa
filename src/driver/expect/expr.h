// SPDX-License-Identifier: Apache-2.0
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
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "num/dtype.h"

namespace ww::driver {

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

}  // namespace ww::driver
