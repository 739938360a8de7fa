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

/// `a`, `a if b else c`, `lambda: a`.
Result<ExprId> parse_expr(ParseCursor& cursor);
/// The same, or `name := a`.
Result<ExprId> parse_named_expr(ParseCursor& cursor);
/// One expression, or a tuple without parentheses, whose items may be starred.
Result<ExprId> parse_exprs(ParseCursor& cursor);
/// The same, or `yield`.
Result<ExprId> parse_value(ParseCursor& cursor);
/// What may stand before the `in` of a loop: targets that are not checked yet.
Result<ExprId> parse_loop_target(ParseCursor& cursor);
/// One of them, or what may stand behind the `as` of a `with`.
Result<ExprId> parse_loop_target_item(ParseCursor& cursor);
/// `*a`, with the star.
Result<ExprId> parse_starred(ParseCursor& cursor);
/// The error for one that stands where nothing takes its items.
[[nodiscard]] Diag lone_star(const ParseCursor& cursor, ExprId starred);

/// The arguments of a call up to and with `)`; `opener` is the `(` taken before.
Result<ListOf<Arg>> parse_arguments(ParseCursor& cursor, const Token& opener);
/// Parameters up to `closer`, which stays: `)` of a function, where annotations may stand, or `:`
/// of a lambda.
Result<ListOf<Param>> parse_parameters(ParseCursor& cursor, TokenKind closer);

// target_check.cpp
/// Syntax unless the expression can be assigned to, or deleted.
Result<void> check_target(ParseCursor& cursor, ExprId target, TargetUse use);
/// A kind of expression in a few words: "a call".
[[nodiscard]] std::string describe_expr(const ParseCursor& cursor, ExprId id);

}  // namespace ww::script
