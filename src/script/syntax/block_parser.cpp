// SPDX-License-Identifier: Apache-2.0
// Statements with blocks.
#include <utility>
#include <vector>

#include "script/syntax/errors.h"
#include "script/syntax/parser.h"
#include "script/syntax/stmt_parser.h"

namespace ww::script {
namespace {

// --- blocks -------------------------------------------------------------------------------------

Diag no_colon(const ParseCursor& cursor, const Token& word) {
  Diag out = cursor.unexpected("`:`");
  if (cursor.at(TokenKind::Error)) return out;
  const bool is_condition = word.kind == TokenKind::KwIf || word.kind == TokenKind::KwElif ||
                            word.kind == TokenKind::KwWhile;
  if (cursor.at(TokenKind::Assign) && is_condition)
    return std::move(out).with_note("`=` compares nothing; did you mean `==`?");
  if (cursor.at(TokenKind::KwIf) && word.kind == TokenKind::KwElse)
    return std::move(out).with_note("did you mean `elif`?");
  if (cursor.at(TokenKind::Comma) && word.kind == TokenKind::KwExcept)
    return std::move(out).with_note("several exceptions need parentheses around them");
  return out;
}

// A colon and the statements behind it. `word` is the one that opened the statement.
Result<void> parse_block(ParseCursor& cursor, const Token& word, ListBuilder<StmtId>& out) {
  if (!cursor.at(TokenKind::Colon)) return fail(no_colon(cursor, word));
  cursor.take();
  if (!cursor.accept(TokenKind::Newline)) return parse_line(cursor, out);
  if (!cursor.at(TokenKind::Indent))
    return fail(
        cursor.unexpected("an indented block")
            .with_note(fmt::format("the block of this `{}`", cursor.text_of(word)), word.span()));
  if (cursor.open_blocks >= kMaxNesting)
    return fail_at(word.span(), DiagKind::TooLarge, "blocks are nested deeper than {} levels",
                   kMaxNesting);
  const ParseCursor::Level level(cursor.open_blocks);
  cursor.take();
  while (!cursor.accept(TokenKind::Dedent)) WW_TRY_VOID(parse_statement(cursor, out));
  return {};
}

Result<ListOf<StmtId>> parse_block_of(ParseCursor& cursor, const Token& word) {
  auto out = cursor.list<StmtId>();
  WW_TRY_VOID(parse_block(cursor, word, out));
  return out.finish();
}

// The block of an `else`, if there is one here.
Result<ListOf<StmtId>> parse_else_block(ParseCursor& cursor) {
  if (!cursor.at(TokenKind::KwElse)) return ListOf<StmtId>{};
  const Token word = cursor.take();
  return parse_block_of(cursor, word);
}

// --- if, while, for -----------------------------------------------------------------------------

// At `if` or `elif`.
Result<Stmt> parse_if_branch(ParseCursor& cursor) {
  const Token word = cursor.take();
  Stmt out{.kind = StmtKind::If};
  out.a = WW_TRY(parse_named_expr(cursor));
  out.head = cursor.place_from(word.begin);
  out.body = WW_TRY(parse_block_of(cursor, word));
  return out;
}

// An `elif` is an If in the `other` of the one before it. They are read in a loop, because there
// may be hundreds.
Result<StmtId> parse_if(ParseCursor& cursor) {
  std::vector<Stmt> branches;
  do {
    if (branches.size() > kMaxElifs)
      return fail_at(cursor.here().span(), DiagKind::TooLarge, "the `if` has more than {} `elif`",
                     kMaxElifs);
    branches.push_back(WW_TRY(parse_if_branch(cursor)));
  } while (cursor.at(TokenKind::KwElif));
  ListOf<StmtId> other = WW_TRY(parse_else_block(cursor));
  StmtId id;
  for (std::size_t i = branches.size(); i-- > 0;) {
    Stmt& branch = branches[i];
    branch.other = other;
    branch.place = cursor.place_from(branch.head.begin);
    id = cursor.add(branch);
    if (i == 0) break;
    auto list = cursor.list<StmtId>();
    list.add(id);
    other = list.finish();
  }
  return id;
}

StmtId finish_block(ParseCursor& cursor, Stmt stmt, std::uint32_t begin) {
  stmt.place = cursor.place_from(begin);
  return cursor.add(stmt);
}

Result<StmtId> parse_while(ParseCursor& cursor) {
  const Token word = cursor.take();
  Stmt out{.kind = StmtKind::While};
  out.a = WW_TRY(parse_named_expr(cursor));
  out.head = cursor.place_from(word.begin);
  out.body = WW_TRY(parse_block_of(cursor, word));
  out.other = WW_TRY(parse_else_block(cursor));
  return finish_block(cursor, out, word.begin);
}

Result<StmtId> parse_for(ParseCursor& cursor) {
  const Token word = cursor.take();
  Stmt out{.kind = StmtKind::For};
  const ExprId target = WW_TRY(parse_loop_target(cursor));
  WW_TRY_VOID(check_target(cursor, target, TargetUse::Assign));
  auto items = cursor.list<ExprId>();
  items.add(target);
  out.items = items.finish();
  WW_TRY_VOID(cursor.expect(TokenKind::KwIn, "`in`"));
  out.a = WW_TRY(parse_exprs(cursor));
  out.head = cursor.place_from(word.begin);
  out.body = WW_TRY(parse_block_of(cursor, word));
  out.other = WW_TRY(parse_else_block(cursor));
  return finish_block(cursor, out, word.begin);
}

// --- try, with ----------------------------------------------------------------------------------

// `except`, `except*`, `except E`, `except E as name`.
Result<void> parse_handler(ParseCursor& cursor, ListBuilder<StmtId>& out) {
  const Token word = cursor.take();
  const bool is_group = cursor.accept(TokenKind::Star);
  if (is_group || !cursor.at(TokenKind::Colon)) {
    WW_TRY_VOID(parse_expr(cursor));
    if (cursor.accept(TokenKind::KwAs)) WW_TRY_VOID(cursor.expect_name("a name"));
  }
  return parse_block(cursor, word, out);
}

Result<StmtId> parse_try(ParseCursor& cursor) {
  const Token word = cursor.take();
  Stmt out{.kind = StmtKind::Try, .head = place_of(word)};
  out.body = WW_TRY(parse_block_of(cursor, word));
  auto other = cursor.list<StmtId>();
  bool is_handled = false;
  for (; cursor.at(TokenKind::KwExcept); is_handled = true)
    WW_TRY_VOID(parse_handler(cursor, other));
  const Token next = cursor.here();
  if (is_handled && cursor.accept(TokenKind::KwElse)) WW_TRY_VOID(parse_block(cursor, next, other));
  const Token last = cursor.here();
  if (cursor.accept(TokenKind::KwFinally))
    WW_TRY_VOID(parse_block(cursor, last, other));
  else if (!is_handled)
    return fail(cursor.unexpected("`except` or `finally`")
                    .with_note("the block of this `try`", word.span()));
  out.other = other.finish();
  return finish_block(cursor, out, word.begin);
}

// `a as b, c`; before `)` a comma may stand.
Result<void> parse_with_items(ParseCursor& cursor, TokenKind end) {
  do {
    WithItem item;
    item.value = WW_TRY(parse_expr(cursor));
    if (cursor.accept(TokenKind::KwAs)) {
      item.target = WW_TRY(parse_loop_target_item(cursor));
      WW_TRY_VOID(check_target(cursor, item.target, TargetUse::Assign));
    }
    cursor.ast().pool<WithItem>().push_back(item);
  } while (cursor.accept(TokenKind::Comma) &&
           !(end == TokenKind::RParen && cursor.at(TokenKind::RParen)));
  return {};
}

// Whether the `(` here encloses the items of a `with`, rather than beginning the first of them: the
// colon follows its `)`, and what is between is no generator, named expression or the like.
bool at_grouped_items(const ParseCursor& cursor) {
  if (!cursor.at(TokenKind::LParen)) return false;
  int depth = 0;
  bool is_expression = !begins_expression(cursor.ahead(1).kind);
  bool has_target = false;
  for (std::size_t i = 0;; ++i) {
    switch (cursor.ahead(i).kind) {
      case TokenKind::LParen:
      case TokenKind::LBracket:
      case TokenKind::LBrace:
        ++depth;
        break;
      case TokenKind::RParen:
      case TokenKind::RBracket:
      case TokenKind::RBrace:
        if (--depth == 0) return !is_expression && cursor.ahead(i + 1).kind == TokenKind::Colon;
        break;
      case TokenKind::KwFor:
      case TokenKind::Walrus:
        is_expression |= depth == 1;
        break;
      case TokenKind::Star:
        // A starred item; elsewhere it multiplies.
        is_expression |= depth == 1 && (cursor.ahead(i - 1).kind == TokenKind::LParen ||
                                        cursor.ahead(i - 1).kind == TokenKind::Comma);
        break;
      case TokenKind::KwAs:
        has_target |= depth == 1;
        break;
      case TokenKind::Newline:
      case TokenKind::End:
      case TokenKind::Error:
        return has_target;
      default:
        break;
    }
  }
}

Result<StmtId> parse_with(ParseCursor& cursor) {
  const Token word = cursor.take();
  std::vector<WithItem>& pool = cursor.ast().pool<WithItem>();
  Stmt out{.kind = StmtKind::With};
  out.withs.first = static_cast<std::uint32_t>(pool.size());
  if (at_grouped_items(cursor)) {
    const Token opener = cursor.take();
    WW_TRY_VOID(parse_with_items(cursor, TokenKind::RParen));
    if (!cursor.accept(TokenKind::RParen)) return fail(cursor.unexpected_in("`,` or `)`", opener));
  } else {
    WW_TRY_VOID(parse_with_items(cursor, TokenKind::Colon));
  }
  out.withs.count = static_cast<std::uint32_t>(pool.size()) - out.withs.first;
  out.head = cursor.place_from(word.begin);
  out.body = WW_TRY(parse_block_of(cursor, word));
  return finish_block(cursor, out, word.begin);
}

// --- functions and classes ----------------------------------------------------------------------

Result<StmtId> parse_function(ParseCursor& cursor, std::uint32_t begin, ListOf<ExprId> decorators) {
  const Token word = cursor.take();
  const Token name = WW_TRY(cursor.expect_name("the name of a function"));
  Stmt out{.kind = StmtKind::FunctionDef, .name_place = place_of(name)};
  out.name = cursor.intern(name);
  out.decorators = decorators;
  if (cursor.at(TokenKind::LBracket))
    return fail(
        cursor.unexpected("`(` and parameters")
            .with_note("type parameters are not taken; `n = T.int32()` in the body declares "
                       "an extent of run time, `n: T.constexpr` a constant of `@T.jit`"));
  const Token opener = WW_TRY(cursor.expect(TokenKind::LParen, "`(` and parameters"));
  out.params = WW_TRY(parse_parameters(cursor, TokenKind::RParen));
  if (!cursor.accept(TokenKind::RParen)) return fail(cursor.unexpected_in("`,` or `)`", opener));
  if (cursor.accept(TokenKind::Arrow)) out.b = WW_TRY(parse_expr(cursor));
  out.head = cursor.place_from(word.begin);
  out.body = WW_TRY(parse_block_of(cursor, word));
  return finish_block(cursor, out, begin);
}

Result<StmtId> parse_class(ParseCursor& cursor, std::uint32_t begin, ListOf<ExprId> decorators) {
  const Token word = cursor.take();
  const Token name = WW_TRY(cursor.expect_name("the name of a class"));
  Stmt out{.kind = StmtKind::ClassDef, .name_place = place_of(name)};
  out.name = cursor.intern(name);
  out.decorators = decorators;
  if (cursor.at(TokenKind::LParen)) {
    const Token opener = cursor.take();
    out.args = WW_TRY(parse_arguments(cursor, opener));
  }
  out.head = cursor.place_from(word.begin);
  out.body = WW_TRY(parse_block_of(cursor, word));
  return finish_block(cursor, out, begin);
}

Result<StmtId> parse_async(ParseCursor& cursor, std::uint32_t begin) {
  const Token word = cursor.take();
  const TokenKind next = cursor.kind();
  if (next != TokenKind::KwDef && next != TokenKind::KwFor && next != TokenKind::KwWith)
    return fail(cursor.unexpected("`def`, `for` or `with` after `async`"));
  return parse_unsupported(cursor, begin, word);
}

Result<StmtId> parse_decorated(ParseCursor& cursor) {
  const Token first = cursor.here();
  auto list = cursor.list<ExprId>();
  while (cursor.accept(TokenKind::At)) {
    list.add(WW_TRY(parse_named_expr(cursor)));
    WW_TRY_VOID(cursor.expect(TokenKind::Newline, "the end of the line"));
  }
  const ListOf<ExprId> decorators = list.finish();
  switch (cursor.kind()) {
    case TokenKind::KwDef:
      return parse_function(cursor, first.begin, decorators);
    case TokenKind::KwClass:
      return parse_class(cursor, first.begin, decorators);
    case TokenKind::KwAsync:
      return parse_async(cursor, first.begin);
    default:
      return fail(cursor.unexpected("`def` or `class` after a decorator"));
  }
}

// Up to the end of the line, or a semicolon.
Result<void> skip_line(ParseCursor& cursor) {
  while (!is_layout(cursor.kind()) && !cursor.at(TokenKind::Semicolon)) {
    if (cursor.at(TokenKind::Error)) return fail(cursor.unexpected("the end of the line"));
    cursor.take();
  }
  return {};
}

// From the end of the line that may have opened it.
Result<void> skip_block(ParseCursor& cursor) {
  while (cursor.accept(TokenKind::Semicolon)) WW_TRY_VOID(skip_line(cursor));
  WW_TRY_VOID(cursor.expect(TokenKind::Newline, "the end of the line"));
  if (!cursor.at(TokenKind::Indent)) return {};
  int depth = 0;
  do {
    if (cursor.at(TokenKind::Error)) return fail(cursor.unexpected("the end of the block"));
    const TokenKind kind = cursor.take().kind;
    depth += kind == TokenKind::Indent ? 1 : kind == TokenKind::Dedent ? -1 : 0;
  } while (depth > 0);
  return {};
}

}  // namespace

Result<StmtId> parse_compound(ParseCursor& cursor) {
  const Token first = cursor.here();
  switch (first.kind) {
    case TokenKind::KwIf:
      return parse_if(cursor);
    case TokenKind::KwWhile:
      return parse_while(cursor);
    case TokenKind::KwFor:
      return parse_for(cursor);
    case TokenKind::KwTry:
      return parse_try(cursor);
    case TokenKind::KwWith:
      return parse_with(cursor);
    case TokenKind::KwDef:
      return parse_function(cursor, first.begin, {});
    case TokenKind::KwClass:
      return parse_class(cursor, first.begin, {});
    case TokenKind::At:
      return parse_decorated(cursor);
    case TokenKind::KwAsync:
      return parse_async(cursor, first.begin);
    default:
      return parse_unsupported(cursor, first.begin, first);
  }
}

// --- what is skipped ----------------------------------------------------------------------------

// `match` is a keyword when its line ends with a colon and a block of `case` follows.
bool at_match(const ParseCursor& cursor) {
  if (!cursor.at_word("match") || cursor.ahead(1).kind == TokenKind::Colon) return false;
  std::size_t i = 1;
  while (!is_layout(cursor.ahead(i).kind)) {
    const TokenKind kind = cursor.ahead(i).kind;
    if (kind == TokenKind::Semicolon || kind == TokenKind::Error) return false;
    ++i;
  }
  const Token& first = cursor.ahead(i + 2);
  return cursor.ahead(i - 1).kind == TokenKind::Colon &&
         cursor.ahead(i + 1).kind == TokenKind::Indent && first.kind == TokenKind::Name &&
         cursor.text_of(first) == "case";
}

// `type X = int`, of Python 3.12.
bool at_type(const ParseCursor& cursor) {
  const TokenKind after = cursor.ahead(2).kind;
  return cursor.at_word("type") && cursor.ahead(1).kind == TokenKind::Name &&
         (after == TokenKind::Assign || after == TokenKind::LBracket);
}

// The rest of the statement is skipped, with its block and the `else` of a loop.
Result<StmtId> parse_unsupported(ParseCursor& cursor, std::uint32_t begin, const Token& word) {
  Stmt out{.kind = StmtKind::Unsupported, .name_place = place_of(word)};
  out.name = cursor.intern(word);
  const bool is_loop = cursor.at(TokenKind::KwFor);
  WW_TRY_VOID(skip_line(cursor));
  out.head = cursor.place_from(word.begin);
  if (cursor.text_of(word) == "type") return finish_block(cursor, out, begin);
  WW_TRY_VOID(skip_block(cursor));
  if (is_loop && cursor.at(TokenKind::KwElse)) {
    WW_TRY_VOID(skip_line(cursor));
    WW_TRY_VOID(skip_block(cursor));
  }
  return finish_block(cursor, out, begin);
}

}  // namespace ww::script
