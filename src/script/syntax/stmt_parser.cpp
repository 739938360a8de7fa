// SPDX-License-Identifier: Apache-2.0
// Statements on one line.
#include "script/syntax/stmt_parser.h"

#include <array>
#include <string>
#include <utility>

#include "base/suggest.h"
#include "script/syntax/errors.h"

namespace ww::script {
namespace {

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

}  // namespace

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

}  // namespace ww::script
