// SPDX-License-Identifier: Apache-2.0
// Statements with blocks.
#include <utility>
#include <vector>

#include "script/syntax/parser.h"
#include "script/syntax/stmt_parser.h"

namespace ww::script {

Result<StmtId> StmtParser::compound() {
  const Token first = cursor_.here();
  switch (first.kind) {
    case TokenKind::KwIf:
      return if_();
    case TokenKind::KwWhile:
      return while_();
    case TokenKind::KwFor:
      return for_();
    case TokenKind::KwTry:
      return try_();
    case TokenKind::KwWith:
      return with();
    case TokenKind::KwDef:
      return function(first.begin, {});
    case TokenKind::KwClass:
      return class_(first.begin, {});
    case TokenKind::At:
      return decorated();
    case TokenKind::KwAsync:
      return async(first.begin);
    default:
      return unsupported(first.begin, first);
  }
}

// --- blocks -------------------------------------------------------------------------------------

// A colon and the statements behind it. `word` is the one that opened the statement.
Result<void> StmtParser::block(const Token& word, List& out) {
  if (!cursor_.at(TokenKind::Colon)) return fail(no_colon(word));
  cursor_.take();
  if (!cursor_.accept(TokenKind::Newline)) return line(out);
  if (!cursor_.at(TokenKind::Indent))
    return fail(
        cursor_.unexpected("an indented block")
            .with_note(fmt::format("the block of this `{}`", cursor_.text_of(word)), word.span()));
  if (blocks_ >= kMaxNesting)
    return fail(diag(DiagKind::TooLarge, "blocks are nested deeper than {} levels", kMaxNesting)
                    .with_span(word.span()));
  const ParseCursor::Level level(blocks_);
  cursor_.take();
  while (!cursor_.accept(TokenKind::Dedent)) WW_TRY_VOID(statement(out));
  return {};
}

Diag StmtParser::no_colon(const Token& word) const {
  Diag out = cursor_.unexpected("`:`");
  if (cursor_.at(TokenKind::Error)) return out;
  const bool is_condition = word.kind == TokenKind::KwIf || word.kind == TokenKind::KwElif ||
                            word.kind == TokenKind::KwWhile;
  if (cursor_.at(TokenKind::Assign) && is_condition)
    return std::move(out).with_note("`=` compares nothing; did you mean `==`?");
  if (cursor_.at(TokenKind::KwIf) && word.kind == TokenKind::KwElse)
    return std::move(out).with_note("did you mean `elif`?");
  if (cursor_.at(TokenKind::Comma) && word.kind == TokenKind::KwExcept)
    return std::move(out).with_note("several exceptions need parentheses around them");
  return out;
}

Result<ListOf<StmtId>> StmtParser::block_of(const Token& word) {
  auto out = cursor_.stmt_list();
  WW_TRY_VOID(block(word, out));
  return out.finish();
}

// The block of an `else`, if there is one here.
Result<ListOf<StmtId>> StmtParser::else_block() {
  if (!cursor_.at(TokenKind::KwElse)) return ListOf<StmtId>{};
  const Token word = cursor_.take();
  return block_of(word);
}

// --- if, while, for -----------------------------------------------------------------------------

// An `elif` is an If in the `other` of the one before it. They are read in a loop, because there
// may be hundreds.
Result<StmtId> StmtParser::if_() {
  std::vector<Stmt> branches;
  do {
    if (branches.size() > kMaxElifs)
      return fail(diag(DiagKind::TooLarge, "the `if` has more than {} `elif`", kMaxElifs)
                      .with_span(cursor_.here().span()));
    branches.push_back(WW_TRY(if_branch()));
  } while (cursor_.at(TokenKind::KwElif));
  ListOf<StmtId> other = WW_TRY(else_block());
  StmtId id;
  for (std::size_t i = branches.size(); i-- > 0;) {
    Stmt& branch = branches[i];
    branch.other = other;
    branch.place = cursor_.place_from(branch.head.begin);
    id = cursor_.add(branch);
    if (i == 0) break;
    auto list = cursor_.stmt_list();
    list.add(id);
    other = list.finish();
  }
  return id;
}

// At `if` or `elif`.
Result<Stmt> StmtParser::if_branch() {
  const Token word = cursor_.take();
  Stmt out{.kind = StmtKind::If};
  out.a = WW_TRY(exprs_.named_expression());
  out.head = cursor_.place_from(word.begin);
  out.body = WW_TRY(block_of(word));
  return out;
}

Result<StmtId> StmtParser::while_() {
  const Token word = cursor_.take();
  Stmt out{.kind = StmtKind::While};
  out.a = WW_TRY(exprs_.named_expression());
  out.head = cursor_.place_from(word.begin);
  out.body = WW_TRY(block_of(word));
  out.other = WW_TRY(else_block());
  return finish_block(out, word.begin);
}

Result<StmtId> StmtParser::for_() {
  const Token word = cursor_.take();
  Stmt out{.kind = StmtKind::For};
  const ExprId target = WW_TRY(exprs_.loop_target());
  WW_TRY_VOID(exprs_.check_target(target, TargetUse::Assign));
  auto items = cursor_.expr_list();
  items.add(target);
  out.items = items.finish();
  WW_TRY_VOID(cursor_.expect(TokenKind::KwIn, "`in`"));
  out.a = WW_TRY(exprs_.expressions());
  out.head = cursor_.place_from(word.begin);
  out.body = WW_TRY(block_of(word));
  out.other = WW_TRY(else_block());
  return finish_block(out, word.begin);
}

StmtId StmtParser::finish_block(Stmt stmt, std::uint32_t begin) {
  stmt.place = cursor_.place_from(begin);
  return cursor_.add(stmt);
}

// --- try, with ----------------------------------------------------------------------------------

Result<StmtId> StmtParser::try_() {
  const Token word = cursor_.take();
  Stmt out{.kind = StmtKind::Try, .head = ParseCursor::place_of(word)};
  out.body = WW_TRY(block_of(word));
  auto other = cursor_.stmt_list();
  bool is_handled = false;
  for (; cursor_.at(TokenKind::KwExcept); is_handled = true) WW_TRY_VOID(handler(other));
  const Token next = cursor_.here();
  if (is_handled && cursor_.accept(TokenKind::KwElse)) WW_TRY_VOID(block(next, other));
  const Token last = cursor_.here();
  if (cursor_.accept(TokenKind::KwFinally))
    WW_TRY_VOID(block(last, other));
  else if (!is_handled)
    return fail(cursor_.unexpected("`except` or `finally`")
                    .with_note("the block of this `try`", word.span()));
  out.other = other.finish();
  return finish_block(out, word.begin);
}

// `except`, `except*`, `except E`, `except E as name`.
Result<void> StmtParser::handler(List& out) {
  const Token word = cursor_.take();
  const bool is_group = cursor_.accept(TokenKind::Star);
  if (is_group || !cursor_.at(TokenKind::Colon)) {
    WW_TRY_VOID(exprs_.expression());
    if (cursor_.accept(TokenKind::KwAs)) WW_TRY_VOID(cursor_.expect_name("a name"));
  }
  return block(word, out);
}

Result<StmtId> StmtParser::with() {
  const Token word = cursor_.take();
  std::vector<WithItem>& pool = cursor_.ast().withs;
  Stmt out{.kind = StmtKind::With};
  out.withs.first = static_cast<std::uint32_t>(pool.size());
  if (at_grouped_items()) {
    const Token opener = cursor_.take();
    WW_TRY_VOID(with_items(TokenKind::RParen));
    if (!cursor_.accept(TokenKind::RParen))
      return fail(cursor_.unexpected_in("`,` or `)`", opener));
  } else {
    WW_TRY_VOID(with_items(TokenKind::Colon));
  }
  out.withs.count = static_cast<std::uint32_t>(pool.size()) - out.withs.first;
  out.head = cursor_.place_from(word.begin);
  out.body = WW_TRY(block_of(word));
  return finish_block(out, word.begin);
}

// `a as b, c`; before `)` a comma may stand.
Result<void> StmtParser::with_items(TokenKind end) {
  do {
    WithItem item;
    item.value = WW_TRY(exprs_.expression());
    if (cursor_.accept(TokenKind::KwAs)) {
      item.target = WW_TRY(exprs_.with_target());
      WW_TRY_VOID(exprs_.check_target(item.target, TargetUse::Assign));
    }
    cursor_.ast().withs.push_back(item);
  } while (cursor_.accept(TokenKind::Comma) &&
           !(end == TokenKind::RParen && cursor_.at(TokenKind::RParen)));
  return {};
}

// Whether the `(` here encloses the items of a `with`, rather than beginning the first of them: the
// colon follows its `)`, and what is between is no generator, named expression or the like.
bool StmtParser::at_grouped_items() const {
  if (!cursor_.at(TokenKind::LParen)) return false;
  int depth = 0;
  bool is_expression = !begins_expression(cursor_.ahead(1).kind);
  bool has_target = false;
  for (std::size_t i = 0;; ++i) {
    switch (cursor_.ahead(i).kind) {
      case TokenKind::LParen:
      case TokenKind::LBracket:
      case TokenKind::LBrace:
        ++depth;
        break;
      case TokenKind::RParen:
      case TokenKind::RBracket:
      case TokenKind::RBrace:
        if (--depth == 0) return !is_expression && cursor_.ahead(i + 1).kind == TokenKind::Colon;
        break;
      case TokenKind::KwFor:
      case TokenKind::Walrus:
        is_expression |= depth == 1;
        break;
      case TokenKind::Star:
        // A starred item; elsewhere it multiplies.
        is_expression |= depth == 1 && (cursor_.ahead(i - 1).kind == TokenKind::LParen ||
                                        cursor_.ahead(i - 1).kind == TokenKind::Comma);
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

// --- functions and classes ----------------------------------------------------------------------

Result<StmtId> StmtParser::decorated() {
  const Token first = cursor_.here();
  auto list = cursor_.expr_list();
  while (cursor_.accept(TokenKind::At)) {
    list.add(WW_TRY(exprs_.named_expression()));
    WW_TRY_VOID(cursor_.expect(TokenKind::Newline, "the end of the line"));
  }
  const ListOf<ExprId> decorators = list.finish();
  switch (cursor_.kind()) {
    case TokenKind::KwDef:
      return function(first.begin, decorators);
    case TokenKind::KwClass:
      return class_(first.begin, decorators);
    case TokenKind::KwAsync:
      return async(first.begin);
    default:
      return fail(cursor_.unexpected("`def` or `class` after a decorator"));
  }
}

Result<StmtId> StmtParser::function(std::uint32_t begin, ListOf<ExprId> decorators) {
  const Token word = cursor_.take();
  const Token name = WW_TRY(cursor_.expect_name("the name of a function"));
  Stmt out{.kind = StmtKind::FunctionDef, .name_place = ParseCursor::place_of(name)};
  out.name = cursor_.intern(name);
  out.decorators = decorators;
  const Token opener = WW_TRY(cursor_.expect(TokenKind::LParen, "`(` and parameters"));
  out.params = WW_TRY(exprs_.parameters(TokenKind::RParen));
  if (!cursor_.accept(TokenKind::RParen)) return fail(cursor_.unexpected_in("`,` or `)`", opener));
  if (cursor_.accept(TokenKind::Arrow)) out.b = WW_TRY(exprs_.expression());
  out.head = cursor_.place_from(word.begin);
  out.body = WW_TRY(block_of(word));
  return finish_block(out, begin);
}

Result<StmtId> StmtParser::class_(std::uint32_t begin, ListOf<ExprId> decorators) {
  const Token word = cursor_.take();
  const Token name = WW_TRY(cursor_.expect_name("the name of a class"));
  Stmt out{.kind = StmtKind::ClassDef, .name_place = ParseCursor::place_of(name)};
  out.name = cursor_.intern(name);
  out.decorators = decorators;
  if (cursor_.at(TokenKind::LParen)) {
    const Token opener = cursor_.take();
    out.args = WW_TRY(exprs_.arguments(opener));
  }
  out.head = cursor_.place_from(word.begin);
  out.body = WW_TRY(block_of(word));
  return finish_block(out, begin);
}

// --- what is skipped ----------------------------------------------------------------------------

// `match` is a keyword when its line ends with a colon and a block of `case` follows.
bool StmtParser::at_match() const {
  if (!cursor_.at_word("match") || cursor_.ahead(1).kind == TokenKind::Colon) return false;
  std::size_t i = 1;
  while (!is_layout(cursor_.ahead(i).kind)) {
    const TokenKind kind = cursor_.ahead(i).kind;
    if (kind == TokenKind::Semicolon || kind == TokenKind::Error) return false;
    ++i;
  }
  const Token& first = cursor_.ahead(i + 2);
  return cursor_.ahead(i - 1).kind == TokenKind::Colon &&
         cursor_.ahead(i + 1).kind == TokenKind::Indent && first.kind == TokenKind::Name &&
         cursor_.text_of(first) == "case";
}

// `type X = int`, of Python 3.12.
bool StmtParser::at_type() const {
  const TokenKind after = cursor_.ahead(2).kind;
  return cursor_.at_word("type") && cursor_.ahead(1).kind == TokenKind::Name &&
         (after == TokenKind::Assign || after == TokenKind::LBracket);
}

Result<StmtId> StmtParser::async(std::uint32_t begin) {
  const Token word = cursor_.take();
  const TokenKind next = cursor_.kind();
  if (next != TokenKind::KwDef && next != TokenKind::KwFor && next != TokenKind::KwWith)
    return fail(cursor_.unexpected("`def`, `for` or `with` after `async`"));
  return unsupported(begin, word);
}

// The rest of the statement is skipped, with its block and the `else` of a loop.
Result<StmtId> StmtParser::unsupported(std::uint32_t begin, const Token& word) {
  Stmt out{.kind = StmtKind::Unsupported, .name_place = ParseCursor::place_of(word)};
  out.name = cursor_.intern(word);
  const bool is_loop = cursor_.at(TokenKind::KwFor);
  WW_TRY_VOID(skip_line());
  out.head = cursor_.place_from(word.begin);
  if (cursor_.text_of(word) == "type") return finish_block(out, begin);
  WW_TRY_VOID(skip_block());
  if (is_loop && cursor_.at(TokenKind::KwElse)) {
    WW_TRY_VOID(skip_line());
    WW_TRY_VOID(skip_block());
  }
  return finish_block(out, begin);
}

// Up to the end of the line, or a semicolon.
Result<void> StmtParser::skip_line() {
  while (!is_layout(cursor_.kind()) && !cursor_.at(TokenKind::Semicolon)) {
    if (cursor_.at(TokenKind::Error)) return fail(cursor_.unexpected("the end of the line"));
    cursor_.take();
  }
  return {};
}

// From the end of the line that may have opened it.
Result<void> StmtParser::skip_block() {
  while (cursor_.accept(TokenKind::Semicolon)) WW_TRY_VOID(skip_line());
  WW_TRY_VOID(cursor_.expect(TokenKind::Newline, "the end of the line"));
  if (!cursor_.at(TokenKind::Indent)) return {};
  int depth = 0;
  do {
    if (cursor_.at(TokenKind::Error)) return fail(cursor_.unexpected("the end of the block"));
    const TokenKind kind = cursor_.take().kind;
    depth += kind == TokenKind::Indent ? 1 : kind == TokenKind::Dedent ? -1 : 0;
  } while (depth > 0);
  return {};
}

}  // namespace ww::script
