// SPDX-License-Identifier: Apache-2.0
// Names, numbers and what stands in brackets.
#include <utility>

#include "script/syntax/expr_parser.h"
#include "script/syntax/literals.h"

namespace ww::script {

Result<ExprId> ExprParser::atom() {
  switch (cursor_.kind()) {
    case TokenKind::Name:
      return simple(ExprKind::Name);
    case TokenKind::Int:
    case TokenKind::Float:
      return number();
    case TokenKind::String:
    case TokenKind::FStringBegin:
      return strings();
    case TokenKind::KwTrue:
      return simple(ExprKind::True);
    case TokenKind::KwFalse:
      return simple(ExprKind::False);
    case TokenKind::KwNone:
      return simple(ExprKind::None);
    case TokenKind::Dots:
      return simple(ExprKind::Ellipsis);
    case TokenKind::LParen:
      return group();
    case TokenKind::LBracket:
      return list();
    case TokenKind::LBrace:
      return braces();
    default:
      return fail(no_expression());
  }
}

Result<ExprId> ExprParser::simple(ExprKind kind) {
  const Token token = cursor_.take();
  Expr out{.kind = kind, .place = ParseCursor::place_of(token)};
  if (kind == ExprKind::Name) {
    out.name_place = out.place;
    out.name = cursor_.intern(token);
  }
  return cursor_.add(out);
}

Result<ExprId> ExprParser::number() {
  const Token token = cursor_.take();
  const std::string_view text = cursor_.text_of(token);
  Expr out{.kind = ExprKind::Float, .place = ParseCursor::place_of(token)};
  if (token.kind == TokenKind::Int) {
    out.kind = ExprKind::Int;
    const auto value = integer_of(text);
    if (!value) return fail(Diag(value.error()).with_span(token.span()));
    out.integer = *value;
  } else {
    out.real = real_of(text);
  }
  return cursor_.add(out);
}

// --- brackets -----------------------------------------------------------------------------------

Result<ExprId> ExprParser::starred_or_named() {
  return cursor_.at(TokenKind::Star) ? starred() : named_expression();
}

// What follows a complete item of a list in brackets.
Result<void> ExprParser::close(const Token& opener, TokenKind closer) {
  if (cursor_.accept(closer)) return {};
  const std::string wanted = fmt::format("`,` or `{}`", fixed_text_of(closer));
  Diag out = cursor_.unexpected_in(wanted, opener);
  if (cursor_.at(TokenKind::Assign))
    out.notes.push_back({"`=` compares nothing; did you mean `==`?", {}});
  return fail(std::move(out));
}

// `(a)`, `(a, b)`, `()`, `(a for b in c)`, `(yield)`.
Result<ExprId> ExprParser::group() {
  const Token opener = cursor_.take();
  const ExprId inner = WW_TRY(inside_group(opener));
  WW_TRY_VOID(close(opener, TokenKind::RParen));
  cursor_.ast().exprs[inner.index].parenthesized = true;
  return inner;
}

Result<ExprId> ExprParser::inside_group(const Token& opener) {
  const std::uint32_t begin = cursor_.here().begin;
  if (cursor_.at(TokenKind::RParen))
    return cursor_.add({.kind = ExprKind::Tuple, .place = {opener.begin, cursor_.here().end}});
  if (cursor_.at(TokenKind::KwYield)) return yield();
  const bool is_starred = cursor_.at(TokenKind::Star);
  const ExprId first = WW_TRY(starred_or_named());
  if (at_clause()) return generator(begin, first);
  if (cursor_.at(TokenKind::Comma)) return tuple(begin, first, &ExprParser::starred_or_named);
  if (is_starred && cursor_.at(TokenKind::RParen)) return fail(lone_star(first));
  return first;
}

Result<ExprId> ExprParser::list() {
  const Token opener = cursor_.take();
  auto items = cursor_.expr_list();
  while (!cursor_.at(TokenKind::RBracket)) {
    items.add(WW_TRY(starred_or_named()));
    if (items.size() == 1 && at_clause())
      return comprehension({.kind = ExprKind::ListComp, .a = items[0]}, opener,
                           TokenKind::RBracket);
    if (!cursor_.accept(TokenKind::Comma)) break;
  }
  WW_TRY_VOID(close(opener, TokenKind::RBracket));
  Expr out{.kind = ExprKind::List, .place = cursor_.place_from(opener.begin)};
  out.items = items.finish();
  return cursor_.add(out);
}

// A dict or a set: the first item tells which.
Result<ExprId> ExprParser::braces() {
  const Token opener = cursor_.take();
  auto items = cursor_.expr_list();
  bool is_dict = cursor_.at(TokenKind::RBrace) || cursor_.at(TokenKind::Power);
  if (!is_dict) {
    items.add(WW_TRY(starred_or_named()));
    is_dict = cursor_.accept(TokenKind::Colon);
    if (is_dict) items.add(WW_TRY(expression()));
    if (is_dict && at_clause())
      return comprehension({.kind = ExprKind::DictComp, .a = items[0], .b = items[1]}, opener,
                           TokenKind::RBrace);
    if (at_clause())
      return comprehension({.kind = ExprKind::SetComp, .a = items[0]}, opener, TokenKind::RBrace);
  }
  bool going = items.size() == 0 || cursor_.accept(TokenKind::Comma);
  while (going && !cursor_.at(TokenKind::RBrace)) {
    if (is_dict)
      WW_TRY_VOID(dict_item(items));
    else
      items.add(WW_TRY(starred_or_named()));
    going = cursor_.accept(TokenKind::Comma);
  }
  WW_TRY_VOID(close(opener, TokenKind::RBrace));
  Expr out{.kind = is_dict ? ExprKind::Dict : ExprKind::Set,
           .place = cursor_.place_from(opener.begin)};
  out.items = items.finish();
  return cursor_.add(out);
}

Result<void> ExprParser::dict_item(ListBuilder<ExprId>& items) {
  if (cursor_.accept(TokenKind::Power)) {
    items.add({});
    items.add(WW_TRY(unpacked()));
    return {};
  }
  items.add(WW_TRY(expression()));
  WW_TRY_VOID(cursor_.expect(TokenKind::Colon, "`:` and the value for this key"));
  items.add(WW_TRY(expression()));
  return {};
}

// --- comprehensions -----------------------------------------------------------------------------

Result<ExprId> ExprParser::generator(std::uint32_t begin, ExprId element) {
  Expr out{.kind = ExprKind::GeneratorExp, .a = element};
  out.clauses = WW_TRY(clauses(element));
  out.place = cursor_.place_from(begin);
  return cursor_.add(out);
}

// The rest of a comprehension in brackets of its own; `out` has all but the clauses.
Result<ExprId> ExprParser::comprehension(Expr out, const Token& opener, TokenKind closer) {
  out.clauses = WW_TRY(clauses(out.a));
  if (!cursor_.at(closer))
    return fail(
        cursor_.unexpected_in(fmt::format("`for`, `if` or `{}`", fixed_text_of(closer)), opener));
  cursor_.take();
  out.place = cursor_.place_from(opener.begin);
  return cursor_.add(out);
}

Result<ListOf<Clause>> ExprParser::clauses(ExprId element) {
  if (cursor_.ast()[element].kind == ExprKind::Starred) return fail(lone_star(element));
  auto out = cursor_.clause_list();
  while (at_clause()) out.add(WW_TRY(clause()));
  return out.finish();
}

Result<Clause> ExprParser::clause() {
  if (cursor_.at(TokenKind::KwAsync))
    return fail(diag(DiagKind::Syntax, "found `async` in a comprehension, which is not supported")
                    .with_span(cursor_.here().span()));
  cursor_.take();
  Clause out;
  out.target = WW_TRY(loop_target());
  WW_TRY_VOID(check_target(out.target, TargetUse::Assign));
  WW_TRY_VOID(cursor_.expect(TokenKind::KwIn, "`in`"));
  out.iterable = WW_TRY(disjunction());
  auto conditions = cursor_.expr_list();
  while (cursor_.accept(TokenKind::KwIf)) conditions.add(WW_TRY(disjunction()));
  out.conditions = conditions.finish();
  return out;
}

}  // namespace ww::script
