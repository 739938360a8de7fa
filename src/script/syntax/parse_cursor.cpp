// SPDX-License-Identifier: Apache-2.0
#include "script/syntax/parse_cursor.h"

#include <utility>

#include "script/syntax/parser.h"

namespace ww::script {
namespace {

// Larger texts grow the vectors step by step; reserving for the largest would take gigabytes.
constexpr std::size_t kMaxReserved = std::size_t{1} << 19U;

Diag too_deep(Span where) {
  Diag out =
      diag(DiagKind::TooLarge, "the expression is nested deeper than {} levels", kMaxNesting);
  out.span = where;
  return out;
}

}  // namespace

ParseCursor::ParseCursor(std::string_view text, const TokenList& tokens, SymbolTable& symbols,
                         Ast& ast)
    : text_(text),
      first_(tokens.tokens.data()),
      at_(first_),
      last_(&tokens.tokens.back()),
      error_(tokens.error),
      symbols_(symbols),
      ast_(ast) {
  const std::size_t guess = std::min(tokens.tokens.size() / 2 + 1, kMaxReserved);
  ast_.exprs.reserve(guess);
  heights_.reserve(guess);
  ast_.pool<ExprId>().reserve(guess / 2);
  ast_.stmts.reserve(guess / 4);
  ast_.pool<StmtId>().reserve(guess / 4);
}

Diag ParseCursor::unexpected(std::string_view wanted) const {
  if (at(TokenKind::Error)) return error_;
  Diag out = diag(DiagKind::Syntax, "found {}, expected {}", describe_here(), wanted);
  out.span = here().span();
  return out;
}

Diag ParseCursor::unexpected_in(std::string_view wanted, const Token& opener) const {
  if (at(TokenKind::Error)) return error_;
  return unexpected(wanted).with_note(fmt::format("`{}` is opened here", text_of(opener)),
                                      opener.span());
}

Result<Token> ParseCursor::expect(TokenKind kind, std::string_view wanted) {
  if (!at(kind)) return fail(unexpected(wanted));
  return take();
}

Result<Token> ParseCursor::expect_name(std::string_view what) {
  if (at(TokenKind::Name)) return take();
  Diag out = unexpected(what);
  if (is_keyword(kind()))
    out.text = fmt::format("found the keyword {}, expected {}", describe_here(), what);
  return fail(std::move(out));
}

std::uint32_t ParseCursor::add_string(std::string text) {
  ast_.strings.push_back(std::move(text));
  return static_cast<std::uint32_t>(ast_.strings.size() - 1);
}

Result<ExprId> ParseCursor::add(const Expr& expr) {
  const unsigned height = height_below(expr);
  if (height > kMaxNesting) return fail(too_deep(expr.place.span()));
  ast_.exprs.push_back(expr);
  heights_.push_back(static_cast<std::uint16_t>(height));
  return ExprId{static_cast<std::uint32_t>(ast_.exprs.size() - 1)};
}

StmtId ParseCursor::add(const Stmt& stmt) {
  ast_.stmts.push_back(stmt);
  return {static_cast<std::uint32_t>(ast_.stmts.size() - 1)};
}

unsigned ParseCursor::height_below(const Expr& expr) const {
  unsigned height = 0;
  const auto include = [&](ExprId id) {
    if (id.valid()) height = std::max(height, heights_[id.index] + 1U);
  };
  for (const ExprId part : {expr.a, expr.b, expr.c}) include(part);
  for (const ExprId item : ast_.list(expr.items)) include(item);
  for (const Arg& arg : ast_.list(expr.args)) include(arg.value);
  for (const Param& param : ast_.list(expr.params)) include(param.default_value);
  for (const Clause& clause : ast_.list(expr.clauses)) {
    include(clause.target);
    include(clause.iterable);
    for (const ExprId condition : ast_.list(clause.conditions)) include(condition);
  }
  return height;
}

Result<void> ParseCursor::check_depth() const {
  if (depth_ > kMaxNesting) return fail(too_deep(here().span()));
  return {};
}

}  // namespace ww::script
