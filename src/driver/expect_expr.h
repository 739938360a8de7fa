// SPDX-License-Identifier: Apache-2.0
// The notation of expectations (driver/expect.h), read into a tree:
//
//   expectation := sum ("==" | "~=") sum ["within" tolerance]
//   tolerance   := NUMBER | setting { "," setting }
//   setting     := ("rtol" | "atol") "=" NUMBER
//   sum         := product { ("+" | "-") product }
//   product     := unary { ("*" | "/" | "@") unary }
//   unary       := "-" unary | primary { ".T" }
//   primary     := NUMBER | array | "(" sum ")" | NAME "(" sum { "," sum } ")"
//   array       := NAME | "$" DIGITS
//
// A NAME before a parenthesis is a function or an element type, which rounds its argument. Nodes
// stand in a vector, operands before what uses them, and know their place in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "num/dtype.h"

namespace ww::driver {

enum class ExprOp : std::uint8_t {
  Integer,    // `integer`
  Real,       // `real`
  Name,       // an array; its span is its name
  Negate,     // operands: one
  Transpose,  // one
  Cast,       // one, to `dtype`
  Add,        // two
  Subtract,   // two
  Multiply,   // two
  Divide,     // two
  MatMul,     // two
  Abs,        // one
  Sqrt,       // one
  Exp,        // one
  Log,        // one
  Max,        // one, or two
  Min,        // one, or two
  Sum,        // one, or two: an array and a dimension
};

struct ExprNode {
  ExprOp op{};
  Span span;
  std::int64_t integer = 0;
  double real = 0;
  num::DType dtype{};
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
  /// The arrays it speaks of, each once, in the order of the text; `$0` with its dollar.
  [[nodiscard]] std::vector<std::string> names() const;
};

/// A function that expectations know.
struct ExprFunction {
  std::string_view name;
  ExprOp op;
  std::size_t min_operands;
  std::size_t max_operands;
};
std::span<const ExprFunction> expr_functions();

/// Reads an expectation. Syntax, UnknownName (functions and types, with the nearest one) or
/// BadArgument (number of arguments, a tolerance that is none), at a place in `text`.
Result<Expectation> parse_expectation(std::string_view text);

}  // namespace ww::driver
