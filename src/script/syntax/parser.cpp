// SPDX-License-Identifier: Apache-2.0
// Statements: those with blocks, and those on one line.
#include "script/syntax/parser.h"

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail_at.h"
#include "base/result.h"
#include "base/suggest.h"
#include "script/syntax/expr_parser.h"
#include "script/syntax/lexer.h"

namespace ww::script {
namespace {

// An `if` has no more `elif` than this. Each is a statement inside the one before it.
constexpr int kMaxElifs = 1000;

// All statements up to the end of the text.
Result<ListOf<StmtId>> parse_statements(ParseCursor& cursor);

// One statement, or several on a line.
Result<void> parse_statement(ParseCursor& cursor, ListBuilder<StmtId>& out);
// Statements without blocks, up to the end of the line.
Result<void> parse_line(ParseCursor& cursor, ListBuilder<StmtId>& out);

// A statement with blocks.
Result<StmtId> parse_compound(ParseCursor& cursor);
// A statement that is not modelled, `word` long: its lines and block are skipped.
Result<StmtId> parse_unsupported(ParseCursor& cursor, std::uint32_t begin, const Token& word);
bool at_match(const ParseCursor& cursor);
bool at_type(const ParseCursor& cursor);

// --- on one line ---------------------------------------------------------------------------------

// The operator of `+=` and its like.
Op augmented_op(TokenKind kind) {
  const std::string_view text = fixed_text_of(kind);
  if (!text.ends_with('=')) return Op::None;
  for (std::size_t i = static_cast<std::size_t>(Op::Add); i <= static_cast<std::size_t>(Op::BitXor);
       ++i)
    if (text_of(static_cast<Op>(i)) == text.substr(0, text.size() - 1)) return static_cast<Op>(i);
  return Op::None;
}

// Words that begin a statement, to suggest for a misspelt first word.
constexpr std::array<std::string_view, 22> kFirstWords = {
    "for",  "if",    "while",  "with",   "def",    "class",   "return", "import",
    "from", "raise", "try",    "except", "assert", "else",    "elif",   "finally",
    "del",  "pass",  "global", "lambda", "not",    "nonlocal"};

// Whether an operator may follow a complete statement that begins with such a token.
bool ends_with_expression(TokenKind first) {
  switch (first) {
    case TokenKind::KwPass:
    case TokenKind::KwBreak:
    case TokenKind::KwContinue:
    case TokenKind::KwImport:
    case TokenKind::KwFrom:
    case TokenKind::KwGlobal:
    case TokenKind::KwNonlocal:
      return false;
    default:
      return true;
  }
}

// `first` began the statement behind which something else stands.
Diag no_line_end(const ParseCursor& cursor, const Token& first) {
  Diag out =
      cursor.unexpected(ends_with_expression(first.kind) ? "an operator or the end of the line"
                                                         : "the end of the line");
  if (cursor.at(TokenKind::Error)) return out;
  const std::string_view word = cursor.text_of(first);
  const bool is_lone_word = first.kind == TokenKind::Name && first.end == cursor.back(1).end;
  if (cursor.at(TokenKind::Walrus))
    return std::move(out).with_note("a statement assigns by `=`; `:=` needs parentheses");
  if (!is_lone_word || !begins_expression(cursor.kind())) return out;
  if (word == "print" || word == "exec")
    return std::move(out).with_note(
        fmt::format("`{}` is a function; did you mean `{}(...)`?", word, word), first.span());
  if (const auto near = nearest(word, kFirstWords))
    return std::move(out).with_note(fmt::format("did you mean `{}`?", *near), first.span());
  return out;
}

StmtId finish_stmt(ParseCursor& cursor, Stmt stmt, std::uint32_t begin) {
  stmt.place = cursor.place_from(begin);
  stmt.head = stmt.place;
  return cursor.add(stmt);
}

// --- assignments --------------------------------------------------------------------------------

// `a = b = c`: all but the last are targets.
Result<StmtId> parse_assignment(ParseCursor& cursor, std::uint32_t begin, ExprId first) {
  auto targets = cursor.list<ExprId>();
  Stmt out{.kind = StmtKind::Assign, .a = first};
  while (cursor.accept(TokenKind::Assign)) {
    WW_TRY_VOID(check_target(cursor, out.a, TargetUse::Assign));
    targets.add(out.a);
    out.a = WW_TRY(parse_value(cursor));
  }
  out.items = targets.finish();
  return finish_stmt(cursor, out, begin);
}

Result<void> check_single_target(ParseCursor& cursor, ExprId target, std::string_view use) {
  const ExprKind kind = cursor.ast()[target].kind;
  if (kind == ExprKind::Name || kind == ExprKind::Attribute || kind == ExprKind::Subscript)
    return {};
  Diag problem = diag_at(cursor.ast()[target].place.span(), DiagKind::Syntax, "cannot {} {}", use,
                         describe_expr(cursor, target));
  if (kind == ExprKind::Tuple || kind == ExprKind::List)
    problem.notes.push_back({"write one statement for each name", {}});
  return fail(std::move(problem));
}

Result<StmtId> parse_augmented(ParseCursor& cursor, std::uint32_t begin, ExprId target) {
  const std::string use = fmt::format("use `{}` on", cursor.text_of(cursor.here()));
  WW_TRY_VOID(check_single_target(cursor, target, use));
  Stmt out{.kind = StmtKind::AugAssign, .op = augmented_op(cursor.kind())};
  cursor.take();
  auto targets = cursor.list<ExprId>();
  targets.add(target);
  out.items = targets.finish();
  out.a = WW_TRY(parse_value(cursor));
  return finish_stmt(cursor, out, begin);
}

Result<StmtId> parse_annotated(ParseCursor& cursor, std::uint32_t begin, ExprId target) {
  WW_TRY_VOID(check_single_target(cursor, target, "annotate"));
  cursor.take();
  auto targets = cursor.list<ExprId>();
  targets.add(target);
  Stmt out{.kind = StmtKind::AnnAssign};
  out.items = targets.finish();
  out.b = WW_TRY(parse_expr(cursor));
  if (cursor.accept(TokenKind::Assign)) out.a = WW_TRY(parse_value(cursor));
  return finish_stmt(cursor, out, begin);
}

Result<StmtId> parse_expr_or_assignment(ParseCursor& cursor) {
  const Token first = cursor.here();
  if (!begins_expression(first.kind) && first.kind != TokenKind::KwYield)
    return fail(cursor.unexpected("a statement"));
  const ExprId value = WW_TRY(parse_value(cursor));
  if (cursor.at(TokenKind::Assign)) return parse_assignment(cursor, first.begin, value);
  if (cursor.at(TokenKind::Colon)) return parse_annotated(cursor, first.begin, value);
  if (augmented_op(cursor.kind()) != Op::None) return parse_augmented(cursor, first.begin, value);
  return finish_stmt(cursor, {.kind = StmtKind::Expression, .a = value}, first.begin);
}

// --- statements that begin with a word ----------------------------------------------------------

Result<StmtId> parse_return(ParseCursor& cursor) {
  const Token word = cursor.take();
  Stmt out{.kind = StmtKind::Return};
  if (begins_expression(cursor.kind())) out.a = WW_TRY(parse_exprs(cursor));
  return finish_stmt(cursor, out, word.begin);
}

Result<StmtId> parse_assert(ParseCursor& cursor) {
  const Token word = cursor.take();
  Stmt out{.kind = StmtKind::Assert};
  out.a = WW_TRY(parse_expr(cursor));
  if (cursor.at(TokenKind::Assign))
    return fail(cursor.unexpected("`,` or the end of the line")
                    .with_note("`=` compares nothing; did you mean `==`?"));
  if (cursor.accept(TokenKind::Comma)) out.b = WW_TRY(parse_expr(cursor));
  return finish_stmt(cursor, out, word.begin);
}

Result<StmtId> parse_raise(ParseCursor& cursor) {
  const Token word = cursor.take();
  Stmt out{.kind = StmtKind::Raise};
  if (begins_expression(cursor.kind())) {
    out.a = WW_TRY(parse_expr(cursor));
    if (cursor.accept(TokenKind::KwFrom)) out.b = WW_TRY(parse_expr(cursor));
  }
  return finish_stmt(cursor, out, word.begin);
}

// `del a, b` has two items, `del (a, b)` one.
Result<StmtId> parse_delete(ParseCursor& cursor) {
  const Token word = cursor.take();
  const ExprId value = WW_TRY(parse_exprs(cursor));
  WW_TRY_VOID(check_target(cursor, value, TargetUse::Delete));
  Stmt out{.kind = StmtKind::Delete};
  const Expr& expr = cursor.ast()[value];
  if (expr.kind == ExprKind::Tuple && !expr.parenthesized) {
    out.items = expr.items;
  } else {
    auto items = cursor.list<ExprId>();
    items.add(value);
    out.items = items.finish();
  }
  return finish_stmt(cursor, out, word.begin);
}

Result<StmtId> parse_names(ParseCursor& cursor, StmtKind kind) {
  const Token word = cursor.take();
  std::vector<Symbol>& pool = cursor.ast().pool<Symbol>();
  Stmt out{.kind = kind};
  out.names.first = static_cast<std::uint32_t>(pool.size());
  do {
    pool.push_back(cursor.intern(WW_TRY(cursor.expect_name("a name"))));
    ++out.names.count;
  } while (cursor.accept(TokenKind::Comma));
  return finish_stmt(cursor, out, word.begin);
}

// --- imports ------------------------------------------------------------------------------------

// `a.b.c`; blanks and comments between the parts are left out.
Result<std::string> parse_dotted_name(ParseCursor& cursor) {
  std::string out(cursor.text_of(WW_TRY(cursor.expect_name("the name of a module"))));
  while (cursor.accept(TokenKind::Dot)) {
    out += '.';
    out += cursor.text_of(WW_TRY(cursor.expect_name("the name of a module")));
  }
  return out;
}

Result<StmtId> parse_import(ParseCursor& cursor) {
  const Token word = cursor.take();
  std::vector<Import>& pool = cursor.ast().pool<Import>();
  Stmt out{.kind = StmtKind::Import};
  out.imports.first = static_cast<std::uint32_t>(pool.size());
  do {
    const Token first = cursor.here();
    Import item{.path = WW_TRY(parse_dotted_name(cursor))};
    item.as = cursor.intern(first);  // `import a.b` binds `a`
    if (cursor.accept(TokenKind::KwAs))
      item.as = cursor.intern(WW_TRY(cursor.expect_name("a name")));
    item.place = cursor.place_from(first.begin);
    pool.push_back(std::move(item));
    ++out.imports.count;
  } while (cursor.accept(TokenKind::Comma));
  return finish_stmt(cursor, out, word.begin);
}

Result<void> parse_imported_name(ParseCursor& cursor) {
  const Token name = WW_TRY(cursor.expect_name("a name to import"));
  Import item{.path = std::string(cursor.text_of(name)), .as = cursor.intern(name)};
  if (cursor.accept(TokenKind::KwAs)) item.as = cursor.intern(WW_TRY(cursor.expect_name("a name")));
  item.place = cursor.place_from(name.begin);
  cursor.ast().pool<Import>().push_back(std::move(item));
  return {};
}

Result<void> parse_imported_names(ParseCursor& cursor) {
  if (cursor.at(TokenKind::Star)) {
    const Token star = cursor.take();
    cursor.ast().pool<Import>().push_back(
        {.path = "*", .as = cursor.intern(star), .place = place_of(star)});
    return {};
  }
  const Token opener = cursor.here();
  const bool is_grouped = cursor.accept(TokenKind::LParen);
  do {
    WW_TRY_VOID(parse_imported_name(cursor));
  } while (cursor.accept(TokenKind::Comma) && !(is_grouped && cursor.at(TokenKind::RParen)));
  if (is_grouped && !cursor.accept(TokenKind::RParen))
    return fail(cursor.unexpected_in("`,` or `)`", opener));
  return {};
}

Result<StmtId> parse_import_from(ParseCursor& cursor) {
  const Token word = cursor.take();
  std::string module;
  while (cursor.at(TokenKind::Dot) || cursor.at(TokenKind::Dots))
    module += cursor.text_of(cursor.take());
  if (module.empty() || !cursor.at(TokenKind::KwImport))
    module += WW_TRY(parse_dotted_name(cursor));
  WW_TRY_VOID(cursor.expect(TokenKind::KwImport, "`import`"));
  Stmt out{.kind = StmtKind::ImportFrom, .module = cursor.add_string(std::move(module))};
  const std::size_t first = cursor.ast().pool<Import>().size();
  WW_TRY_VOID(parse_imported_names(cursor));
  out.imports = {static_cast<std::uint32_t>(first),
                 static_cast<std::uint32_t>(cursor.ast().pool<Import>().size() - first)};
  return finish_stmt(cursor, out, word.begin);
}

Result<StmtId> parse_small(ParseCursor& cursor) {
  const Token first = cursor.here();
  const auto lone_word = [&](StmtKind kind) {
    cursor.take();
    return finish_stmt(cursor, {.kind = kind}, first.begin);
  };
  switch (first.kind) {
    case TokenKind::KwPass:
      return lone_word(StmtKind::Pass);
    case TokenKind::KwBreak:
      return lone_word(StmtKind::Break);
    case TokenKind::KwContinue:
      return lone_word(StmtKind::Continue);
    case TokenKind::KwReturn:
      return parse_return(cursor);
    case TokenKind::KwAssert:
      return parse_assert(cursor);
    case TokenKind::KwRaise:
      return parse_raise(cursor);
    case TokenKind::KwDel:
      return parse_delete(cursor);
    case TokenKind::KwGlobal:
      return parse_names(cursor, StmtKind::Global);
    case TokenKind::KwNonlocal:
      return parse_names(cursor, StmtKind::Nonlocal);
    case TokenKind::KwImport:
      return parse_import(cursor);
    case TokenKind::KwFrom:
      return parse_import_from(cursor);
    case TokenKind::KwElse:
    case TokenKind::KwElif:
    case TokenKind::KwExcept:
    case TokenKind::KwFinally:
      return fail_at(first.span(), DiagKind::Syntax,
                     "found {}, but no block before it that it continues", cursor.describe_here());
    default:
      return at_type(cursor) ? parse_unsupported(cursor, first.begin, first)
                             : parse_expr_or_assignment(cursor);
  }
}

Result<ListOf<StmtId>> parse_statements(ParseCursor& cursor) {
  auto statements = cursor.list<StmtId>();
  while (!cursor.at(TokenKind::End)) WW_TRY_VOID(parse_statement(cursor, statements));
  return statements.finish();
}

// One statement, or several on a line.
Result<void> parse_statement(ParseCursor& cursor, ListBuilder<StmtId>& out) {
  switch (cursor.kind()) {
    case TokenKind::KwIf:
    case TokenKind::KwWhile:
    case TokenKind::KwFor:
    case TokenKind::KwTry:
    case TokenKind::KwWith:
    case TokenKind::KwDef:
    case TokenKind::KwClass:
    case TokenKind::KwAsync:
    case TokenKind::At:
      break;
    case TokenKind::Name:
      if (at_match(cursor)) break;
      return parse_line(cursor, out);
    case TokenKind::Indent:
      return fail_at(cursor.here().span(), DiagKind::Syntax,
                     "found an indented line, but no block opened before it");
    default:
      return parse_line(cursor, out);
  }
  out.add(WW_TRY(parse_compound(cursor)));
  return {};
}

Result<void> parse_line(ParseCursor& cursor, ListBuilder<StmtId>& out) {
  do {
    const Token first = cursor.here();
    out.add(WW_TRY(parse_small(cursor)));
    if (!cursor.at(TokenKind::Newline) && !cursor.at(TokenKind::Semicolon))
      return fail(no_line_end(cursor, first));
  } while (cursor.accept(TokenKind::Semicolon) && !cursor.at(TokenKind::Newline));
  WW_TRY_VOID(cursor.expect(TokenKind::Newline, "the end of the line"));
  return {};
}

// --- with blocks ---------------------------------------------------------------------------------

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

// --- texts ---------------------------------------------------------------------------------------

Result<void> check_size(std::string_view text) {
  if (text.size() > kMaxSourceBytes)
    return fail(DiagKind::TooLarge, "the text has {} bytes, more than the {} that are read",
                text.size(), kMaxSourceBytes);
  return {};
}

}  // namespace

Result<Ast> parse_file(std::string_view text, SymbolTable& symbols) {
  WW_TRY_VOID(check_size(text));
  const TokenList tokens = tokenize(text, Layout::Lines);
  Ast ast;
  ParseCursor cursor(text, tokens, symbols, ast);
  ast.body = WW_TRY(parse_statements(cursor));
  return ast;
}

Result<Ast> parse_expression(std::string_view text, SymbolTable& symbols, ExprId& root) {
  WW_TRY_VOID(check_size(text));
  const TokenList tokens = tokenize(text, Layout::Free);
  Ast ast;
  ParseCursor cursor(text, tokens, symbols, ast);
  root = WW_TRY(parse_exprs(cursor));
  if (!cursor.at(TokenKind::End))
    return fail(cursor.unexpected("an operator or the end of the text"));
  return ast;
}

// --- the cursor ----------------------------------------------------------------------------------

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

// --- the tree ------------------------------------------------------------------------------------

namespace {

// clang-format off
constexpr std::string_view kOpTexts[] = {
    "",
    "+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^",
    "-", "+", "~", "not",
    "==", "!=", "<", "<=", ">", ">=", "in", "not in", "is", "is not"};
// clang-format on
static_assert(std::size(kOpTexts) == static_cast<std::size_t>(Op::IsNot) + 1);

}  // namespace

std::string_view text_of(Op op) { return kOpTexts[static_cast<std::size_t>(op)]; }

Symbol SymbolTable::intern(std::string_view name) {
  const auto found = ids_.lower_bound(name);
  if (found != ids_.end() && found->first == name) return found->second;
  const Symbol symbol{static_cast<std::uint32_t>(texts_.size())};
  const auto entry = ids_.emplace_hint(found, std::string(name), symbol);
  texts_.push_back(&entry->first);
  return symbol;
}

// --- what may be assigned to ---------------------------------------------------------------------
//
// What can be assigned to or deleted.

namespace {

// By ExprKind.
// clang-format off
constexpr std::string_view kExprTexts[] = {
    "a name", "a literal", "a literal", "a literal", "an f-string", "a literal",
    "`True`", "`False`", "`None`", "`...`", "a tuple", "a list", "a set", "a dict",
    "an operator's result", "an operator's result", "an operator's result", "an operator's result",
    "a comparison", "a conditional expression", "a lambda", "a call", "an attribute", "a subscript",
    "a slice", "a starred expression", "a comprehension", "a comprehension", "a generator",
    "a comprehension", "a named expression"};
// clang-format on
static_assert(std::size(kExprTexts) == static_cast<std::size_t>(ExprKind::Unsupported));

}  // namespace

std::string describe_expr(const ParseCursor& cursor, ExprId id) {
  const Expr& expr = cursor.ast()[id];
  if (expr.kind == ExprKind::Unsupported)
    return fmt::format("`{}`", cursor.text_between(expr.name_place.begin, expr.name_place.end));
  return std::string(kExprTexts[static_cast<std::size_t>(expr.kind)]);
}

Result<void> check_target(ParseCursor& cursor, ExprId target, TargetUse use) {
  const Expr& expr = cursor.ast()[target];
  switch (expr.kind) {
    case ExprKind::Name:
    case ExprKind::Attribute:
    case ExprKind::Subscript:
      return {};
    case ExprKind::Tuple:
    case ExprKind::List: {
      int stars = 0;
      for (ExprId item : cursor.ast().list(expr.items)) {
        const Expr& inner = cursor.ast()[item];
        if (inner.kind == ExprKind::Starred && use == TargetUse::Assign) {
          if (++stars > 1)
            return fail_at(inner.place.span(), DiagKind::Syntax,
                           "found a second starred target, expected one");
          item = inner.a;
        }
        WW_TRY_VOID(check_target(cursor, item, use));
      }
      return {};
    }
    case ExprKind::Starred:
      if (use == TargetUse::Assign) return fail(lone_star(cursor, target));
      [[fallthrough]];
    default:
      return fail_at(expr.place.span(), DiagKind::Syntax, "cannot {} {}",
                     use == TargetUse::Assign ? "assign to" : "delete",
                     describe_expr(cursor, target));
  }
}

}  // namespace ww::script
