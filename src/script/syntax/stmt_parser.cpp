// SPDX-License-Identifier: Apache-2.0
// Statements on one line.
#include "script/syntax/stmt_parser.h"

#include <array>
#include <string>
#include <utility>

#include "base/suggest.h"

namespace ww::script {
namespace {

Op augmented_op(TokenKind kind) {
  switch (kind) {
    case TokenKind::PlusAssign:
      return Op::Add;
    case TokenKind::MinusAssign:
      return Op::Sub;
    case TokenKind::StarAssign:
      return Op::Mul;
    case TokenKind::SlashAssign:
      return Op::Div;
    case TokenKind::DoubleSlashAssign:
      return Op::FloorDiv;
    case TokenKind::PercentAssign:
      return Op::Mod;
    case TokenKind::PowerAssign:
      return Op::Pow;
    case TokenKind::AtAssign:
      return Op::MatMul;
    case TokenKind::ShlAssign:
      return Op::Shl;
    case TokenKind::ShrAssign:
      return Op::Shr;
    case TokenKind::AmpAssign:
      return Op::BitAnd;
    case TokenKind::BarAssign:
      return Op::BitOr;
    case TokenKind::CaretAssign:
      return Op::BitXor;
    default:
      return Op::None;
  }
}

// Words that begin a statement: what a first word that is none of them was perhaps meant to be.
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

}  // namespace

Result<ListOf<StmtId>> StmtParser::file() {
  auto statements = cursor_.stmt_list();
  while (!cursor_.at(TokenKind::End)) WW_TRY_VOID(statement(statements));
  return statements.finish();
}

// One statement, or several on a line.
Result<void> StmtParser::statement(List& out) {
  switch (cursor_.kind()) {
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
      if (at_match()) break;
      return line(out);
    case TokenKind::Indent:
      return fail(diag(DiagKind::Syntax, "found an indented line, but no block opened before it")
                      .with_span(cursor_.here().span()));
    default:
      return line(out);
  }
  out.add(WW_TRY(compound()));
  return {};
}

Result<void> StmtParser::line(List& out) {
  do {
    const Token first = cursor_.here();
    out.add(WW_TRY(small()));
    if (!cursor_.at(TokenKind::Newline) && !cursor_.at(TokenKind::Semicolon))
      return fail(no_line_end(first));
  } while (cursor_.accept(TokenKind::Semicolon) && !cursor_.at(TokenKind::Newline));
  WW_TRY_VOID(cursor_.expect(TokenKind::Newline, "the end of the line"));
  return {};
}

// `first` began the statement behind which something else stands.
Diag StmtParser::no_line_end(const Token& first) const {
  Diag out =
      cursor_.unexpected(ends_with_expression(first.kind) ? "an operator or the end of the line"
                                                          : "the end of the line");
  if (cursor_.at(TokenKind::Error)) return out;
  const std::string_view word = cursor_.text_of(first);
  const bool is_lone_word = first.kind == TokenKind::Name && first.end == cursor_.back(1).end;
  if (cursor_.at(TokenKind::Walrus))
    return std::move(out).with_note("a statement assigns by `=`; `:=` needs parentheses");
  if (!is_lone_word || !begins_expression(cursor_.kind())) return out;
  if (word == "print" || word == "exec")
    return std::move(out).with_note(
        fmt::format("`{}` is a function; did you mean `{}(...)`?", word, word), first.span());
  if (const auto near = nearest(word, kFirstWords))
    return std::move(out).with_note(fmt::format("did you mean `{}`?", *near), first.span());
  return out;
}

StmtId StmtParser::finish(Stmt stmt, std::uint32_t begin) {
  stmt.place = cursor_.place_from(begin);
  stmt.head = stmt.place;
  return cursor_.add(stmt);
}

Result<StmtId> StmtParser::small() {
  const Token first = cursor_.here();
  const auto lone_word = [&](StmtKind kind) {
    cursor_.take();
    return finish({.kind = kind}, first.begin);
  };
  switch (first.kind) {
    case TokenKind::KwPass:
      return lone_word(StmtKind::Pass);
    case TokenKind::KwBreak:
      return lone_word(StmtKind::Break);
    case TokenKind::KwContinue:
      return lone_word(StmtKind::Continue);
    case TokenKind::KwReturn:
      return return_();
    case TokenKind::KwAssert:
      return assert_();
    case TokenKind::KwRaise:
      return raise();
    case TokenKind::KwDel:
      return delete_();
    case TokenKind::KwGlobal:
      return names(StmtKind::Global);
    case TokenKind::KwNonlocal:
      return names(StmtKind::Nonlocal);
    case TokenKind::KwImport:
      return import();
    case TokenKind::KwFrom:
      return import_from();
    case TokenKind::KwElse:
    case TokenKind::KwElif:
    case TokenKind::KwExcept:
    case TokenKind::KwFinally:
      return fail(diag(DiagKind::Syntax, "found {}, but no block before it that it continues",
                       cursor_.describe_here())
                      .with_span(first.span()));
    default:
      return at_type() ? unsupported(first.begin, first) : expression_or_assignment();
  }
}

// --- assignments --------------------------------------------------------------------------------

Result<StmtId> StmtParser::expression_or_assignment() {
  const Token first = cursor_.here();
  if (!begins_expression(first.kind) && first.kind != TokenKind::KwYield)
    return fail(cursor_.unexpected("a statement"));
  const ExprId value = WW_TRY(exprs_.value());
  if (cursor_.at(TokenKind::Assign)) return assignment(first.begin, value);
  if (cursor_.at(TokenKind::Colon)) return annotated(first.begin, value);
  if (augmented_op(cursor_.kind()) != Op::None) return augmented(first.begin, value);
  return finish({.kind = StmtKind::Expression, .a = value}, first.begin);
}

// `a = b = c`: all but the last are targets.
Result<StmtId> StmtParser::assignment(std::uint32_t begin, ExprId first) {
  auto targets = cursor_.expr_list();
  Stmt out{.kind = StmtKind::Assign, .a = first};
  while (cursor_.accept(TokenKind::Assign)) {
    WW_TRY_VOID(exprs_.check_target(out.a, TargetUse::Assign));
    targets.add(out.a);
    out.a = WW_TRY(exprs_.value());
  }
  out.items = targets.finish();
  return finish(out, begin);
}

Result<void> StmtParser::check_single_target(ExprId target, std::string_view use) {
  const ExprKind kind = cursor_.ast()[target].kind;
  if (kind == ExprKind::Name || kind == ExprKind::Attribute || kind == ExprKind::Subscript)
    return {};
  return fail(diag(DiagKind::Syntax, "cannot {} {}", use, exprs_.describe_expr(target))
                  .with_span(cursor_.ast()[target].place.span()));
}

Result<StmtId> StmtParser::augmented(std::uint32_t begin, ExprId target) {
  const std::string use = fmt::format("use `{}` on", cursor_.text_of(cursor_.here()));
  WW_TRY_VOID(check_single_target(target, use));
  Stmt out{.kind = StmtKind::AugAssign, .op = augmented_op(cursor_.kind())};
  cursor_.take();
  auto targets = cursor_.expr_list();
  targets.add(target);
  out.items = targets.finish();
  out.a = WW_TRY(exprs_.value());
  return finish(out, begin);
}

Result<StmtId> StmtParser::annotated(std::uint32_t begin, ExprId target) {
  WW_TRY_VOID(check_single_target(target, "annotate"));
  cursor_.take();
  auto targets = cursor_.expr_list();
  targets.add(target);
  Stmt out{.kind = StmtKind::AnnAssign};
  out.items = targets.finish();
  out.b = WW_TRY(exprs_.expression());
  if (cursor_.accept(TokenKind::Assign)) out.a = WW_TRY(exprs_.value());
  return finish(out, begin);
}

// --- statements that begin with a word ----------------------------------------------------------

Result<StmtId> StmtParser::return_() {
  const Token word = cursor_.take();
  Stmt out{.kind = StmtKind::Return};
  if (begins_expression(cursor_.kind())) out.a = WW_TRY(exprs_.expressions());
  return finish(out, word.begin);
}

Result<StmtId> StmtParser::assert_() {
  const Token word = cursor_.take();
  Stmt out{.kind = StmtKind::Assert};
  out.a = WW_TRY(exprs_.expression());
  if (cursor_.at(TokenKind::Assign))
    return fail(cursor_.unexpected("`,` or the end of the line")
                    .with_note("`=` compares nothing; did you mean `==`?"));
  if (cursor_.accept(TokenKind::Comma)) out.b = WW_TRY(exprs_.expression());
  return finish(out, word.begin);
}

Result<StmtId> StmtParser::raise() {
  const Token word = cursor_.take();
  Stmt out{.kind = StmtKind::Raise};
  if (begins_expression(cursor_.kind())) {
    out.a = WW_TRY(exprs_.expression());
    if (cursor_.accept(TokenKind::KwFrom)) out.b = WW_TRY(exprs_.expression());
  }
  return finish(out, word.begin);
}

// `del a, b` has two items, `del (a, b)` one.
Result<StmtId> StmtParser::delete_() {
  const Token word = cursor_.take();
  const ExprId value = WW_TRY(exprs_.expressions());
  WW_TRY_VOID(exprs_.check_target(value, TargetUse::Delete));
  Stmt out{.kind = StmtKind::Delete};
  const Expr& expr = cursor_.ast()[value];
  if (expr.kind == ExprKind::Tuple && !expr.parenthesized) {
    out.items = expr.items;
  } else {
    auto items = cursor_.expr_list();
    items.add(value);
    out.items = items.finish();
  }
  return finish(out, word.begin);
}

Result<StmtId> StmtParser::names(StmtKind kind) {
  const Token word = cursor_.take();
  std::vector<Symbol>& pool = cursor_.ast().symbol_lists;
  Stmt out{.kind = kind};
  out.names.first = static_cast<std::uint32_t>(pool.size());
  do {
    pool.push_back(cursor_.intern(WW_TRY(cursor_.expect_name("a name"))));
    ++out.names.count;
  } while (cursor_.accept(TokenKind::Comma));
  return finish(out, word.begin);
}

// --- imports ------------------------------------------------------------------------------------

// `a.b.c`; blanks and comments between the parts are left out.
Result<std::string> StmtParser::dotted_name() {
  std::string out(cursor_.text_of(WW_TRY(cursor_.expect_name("the name of a module"))));
  while (cursor_.accept(TokenKind::Dot)) {
    out += '.';
    out += cursor_.text_of(WW_TRY(cursor_.expect_name("the name of a module")));
  }
  return out;
}

Result<StmtId> StmtParser::import() {
  const Token word = cursor_.take();
  std::vector<Import>& pool = cursor_.ast().imports;
  Stmt out{.kind = StmtKind::Import};
  out.imports.first = static_cast<std::uint32_t>(pool.size());
  do {
    const Token first = cursor_.here();
    Import item{.path = WW_TRY(dotted_name())};
    item.as = cursor_.intern(first);  // `import a.b` binds `a`
    if (cursor_.accept(TokenKind::KwAs))
      item.as = cursor_.intern(WW_TRY(cursor_.expect_name("a name")));
    item.place = cursor_.place_from(first.begin);
    pool.push_back(std::move(item));
    ++out.imports.count;
  } while (cursor_.accept(TokenKind::Comma));
  return finish(out, word.begin);
}

Result<StmtId> StmtParser::import_from() {
  const Token word = cursor_.take();
  std::string module;
  while (cursor_.at(TokenKind::Dot) || cursor_.at(TokenKind::Dots))
    module += cursor_.text_of(cursor_.take());
  if (module.empty() || !cursor_.at(TokenKind::KwImport)) module += WW_TRY(dotted_name());
  WW_TRY_VOID(cursor_.expect(TokenKind::KwImport, "`import`"));
  Stmt out{.kind = StmtKind::ImportFrom, .module = cursor_.add_string(std::move(module))};
  const std::size_t first = cursor_.ast().imports.size();
  WW_TRY_VOID(imported_names());
  out.imports = {static_cast<std::uint32_t>(first),
                 static_cast<std::uint32_t>(cursor_.ast().imports.size() - first)};
  return finish(out, word.begin);
}

Result<void> StmtParser::imported_names() {
  if (cursor_.at(TokenKind::Star)) {
    const Token star = cursor_.take();
    cursor_.ast().imports.push_back(
        {.path = "*", .as = cursor_.intern(star), .place = ParseCursor::place_of(star)});
    return {};
  }
  const Token opener = cursor_.here();
  const bool is_grouped = cursor_.accept(TokenKind::LParen);
  do {
    WW_TRY_VOID(imported_name());
  } while (cursor_.accept(TokenKind::Comma) && !(is_grouped && cursor_.at(TokenKind::RParen)));
  if (is_grouped && !cursor_.accept(TokenKind::RParen))
    return fail(cursor_.unexpected_in("`,` or `)`", opener));
  return {};
}

Result<void> StmtParser::imported_name() {
  const Token name = WW_TRY(cursor_.expect_name("a name to import"));
  Import item{.path = std::string(cursor_.text_of(name)), .as = cursor_.intern(name)};
  if (cursor_.accept(TokenKind::KwAs))
    item.as = cursor_.intern(WW_TRY(cursor_.expect_name("a name")));
  item.place = cursor_.place_from(name.begin);
  cursor_.ast().imports.push_back(std::move(item));
  return {};
}

}  // namespace ww::script
