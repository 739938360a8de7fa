// SPDX-License-Identifier: Apache-2.0
// The expressions of a text, read through a cursor. Used inside this folder only. Each function
// stands at the first token of what it reads and leaves the cursor behind it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "script/syntax/literals.h"
#include "script/syntax/parse_cursor.h"

namespace ww::script {

/// What is done to a target.
enum class TargetUse : std::uint8_t { Assign, Delete };

/// Whether an expression, perhaps starred, can begin with such a token.
bool begins_expression(TokenKind kind);

class ExprParser {
 public:
  explicit ExprParser(ParseCursor& cursor) : cursor_(cursor) {}

  /// `a`, `a if b else c`, `lambda: a`.
  Result<ExprId> expression();
  /// The same, or `name := a`.
  Result<ExprId> named_expression();
  /// One expression, or a tuple without parentheses, whose items may be starred.
  Result<ExprId> expressions();
  /// The same, or `yield`.
  Result<ExprId> value();
  /// What may stand before the `in` of a loop: targets that are not checked yet.
  Result<ExprId> loop_target();
  /// What may stand behind the `as` of a `with`: one target that is not checked yet.
  Result<ExprId> with_target() { return loop_target_item(); }
  /// `*a`, with the star.
  Result<ExprId> starred();
  /// The arguments of a call up to and with `)`; `opener` is the `(` taken before.
  Result<ListOf<Arg>> arguments(const Token& opener);
  /// Parameters up to `closer`, which stays: `)` of a function, where annotations may stand, or `:`
  /// of a lambda.
  Result<ListOf<Param>> parameters(TokenKind closer);

  // target_check.cpp
  /// Syntax unless the expression can be assigned to, or deleted.
  Result<void> check_target(ExprId target, TargetUse use);
  /// A kind of expression in a few words: "a call".
  [[nodiscard]] std::string describe_expr(ExprId id) const;

 private:
  // expr_parser.cpp
  Result<ExprId> conditional(std::uint32_t begin, ExprId value);
  Result<ExprId> lambda();
  Result<ExprId> yield();
  Result<ExprId> disjunction();
  Result<ExprId> unpacked();
  Result<ExprId> operators(int weakest);
  Result<ExprId> logical(std::uint32_t begin, ExprId first);
  Result<ExprId> comparison(std::uint32_t begin, ExprId first);
  Result<ExprId> binary(std::uint32_t begin, ExprId left);
  Result<ExprId> operand(int weakest);
  Result<ExprId> prefixed(Op op, int weakest);
  Result<ExprId> power(std::uint32_t begin, ExprId base);
  Result<ExprId> primary();
  Result<ExprId> attribute(std::uint32_t begin, ExprId object);
  Result<ExprId> call(std::uint32_t begin, ExprId callee);
  Result<ExprId> subscript(std::uint32_t begin, ExprId object);
  Result<ExprId> index();
  Result<ExprId> slice();
  using Item = Result<ExprId> (ExprParser::*)();
  Result<ExprId> tuple(std::uint32_t begin, ExprId first, Item item);
  Result<ExprId> loop_target_item();
  Result<ExprId> starred_or_expression();
  [[nodiscard]] Diag lone_star(ExprId starred) const;
  [[nodiscard]] Diag no_expression() const;

  // atom_parser.cpp
  Result<ExprId> atom();
  Result<ExprId> simple(ExprKind kind);
  Result<ExprId> number();
  Result<ExprId> group();
  Result<ExprId> inside_group(const Token& opener);
  Result<ExprId> list();
  Result<ExprId> braces();
  Result<void> dict_item(ListBuilder<ExprId>& items);
  Result<ExprId> generator(std::uint32_t begin, ExprId element);
  Result<ExprId> comprehension(Expr out, const Token& opener, TokenKind closer);
  Result<ListOf<Clause>> clauses(ExprId element);
  Result<Clause> clause();
  Result<ExprId> starred_or_named();
  Result<void> close(const Token& opener, TokenKind closer);
  [[nodiscard]] bool at_clause() const {
    return cursor_.at(TokenKind::KwFor) || cursor_.at(TokenKind::KwAsync);
  }

  // call_parser.cpp
  Result<Arg> argument();
  [[nodiscard]] Diag no_argument(const Token& opener) const;
  struct ArgState;
  Result<void> check_order(ArgState& state, const Arg& arg);
  struct ParamState;
  Result<void> parameter(ListBuilder<Param>& params, ParamState& state);
  Result<void> slash(ListBuilder<Param>& params, ParamState& state);
  Result<void> star(ListBuilder<Param>& params, ParamState& state);
  Result<Param> named_parameter(Param::Kind kind, std::uint32_t begin, ParamState& state);

  // string_parser.cpp
  struct StringParts;
  Result<ExprId> strings();
  Result<void> plain_string(StringParts& parts);
  Result<void> format_string(StringParts& parts);
  Result<void> text_or_field(StringParts& parts, const Quotes& quotes);
  Result<void> field(StringParts& parts, const Quotes& quotes);
  Result<char> conversion();
  Result<ExprId> format_spec(const Quotes& quotes);
  Result<void> flush(StringParts& parts);

  ParseCursor& cursor_;
};

}  // namespace ww::script
