// SPDX-License-Identifier: Apache-2.0
// Names, numbers and what stands in brackets.
#include <utility>

#include "script/syntax/errors.h"
#include "script/syntax/expr_parser.h"
#include "script/syntax/literals.h"

namespace ww::script {
namespace {

Result<ExprId> parse_simple(ParseCursor& cursor, ExprKind kind) {
  const Token token = cursor.take();
  Expr out{.kind = kind, .place = place_of(token)};
  if (kind == ExprKind::Name) {
    out.name_place = out.place;
    out.name = cursor.intern(token);
  }
  return cursor.add(out);
}

Result<ExprId> parse_number(ParseCursor& cursor) {
  const Token token = cursor.take();
  const std::string_view text = cursor.text_of(token);
  Expr out{.kind = ExprKind::Float, .place = place_of(token)};
  if (token.kind == TokenKind::Int) {
    out.kind = ExprKind::Int;
    const auto value = integer_of(text);
    if (!value) return fail(Diag(value.error()).with_span(token.span()));
    out.integer = *value;
  } else {
    out.real = real_of(text);
  }
  return cursor.add(out);
}

// --- brackets -----------------------------------------------------------------------------------

Result<ExprId> parse_starred_or_named(ParseCursor& cursor) {
  return cursor.at(TokenKind::Star) ? parse_starred(cursor) : parse_named_expr(cursor);
}

// What follows a complete item of a list in brackets.
Result<void> close_bracket(ParseCursor& cursor, const Token& opener, TokenKind closer) {
  if (cursor.accept(closer)) return {};
  const std::string wanted = fmt::format("`,` or `{}`", fixed_text_of(closer));
  Diag out = cursor.unexpected_in(wanted, opener);
  if (cursor.at(TokenKind::Assign))
    out.notes.push_back({"`=` compares nothing; did you mean `==`?", {}});
  return fail(std::move(out));
}

Result<ExprId> parse_inside_group(ParseCursor& cursor, const Token& opener) {
  const std::uint32_t begin = cursor.here().begin;
  if (cursor.at(TokenKind::RParen))
    return cursor.add({.kind = ExprKind::Tuple, .place = {opener.begin, cursor.here().end}});
  if (cursor.at(TokenKind::KwYield)) return parse_yield(cursor);
  const bool is_starred = cursor.at(TokenKind::Star);
  const ExprId first = WW_TRY(parse_starred_or_named(cursor));
  if (at_clause(cursor)) return parse_generator(cursor, begin, first);
  if (cursor.at(TokenKind::Comma)) return parse_tuple(cursor, begin, first, parse_starred_or_named);
  if (is_starred && cursor.at(TokenKind::RParen)) return fail(lone_star(cursor, first));
  return first;
}

// `(a)`, `(a, b)`, `()`, `(a for b in c)`, `(yield)`.
Result<ExprId> parse_group(ParseCursor& cursor) {
  const Token opener = cursor.take();
  const ExprId inner = WW_TRY(parse_inside_group(cursor, opener));
  WW_TRY_VOID(close_bracket(cursor, opener, TokenKind::RParen));
  cursor.ast().exprs[inner.index].parenthesized = true;
  return inner;
}

Result<Clause> parse_clause(ParseCursor& cursor) {
  if (cursor.at(TokenKind::KwAsync))
    return fail_at(cursor.here().span(), DiagKind::Syntax,
                   "found `async` in a comprehension, which is not supported");
  cursor.take();
  Clause out;
  out.target = WW_TRY(parse_loop_target(cursor));
  WW_TRY_VOID(check_target(cursor, out.target, TargetUse::Assign));
  WW_TRY_VOID(cursor.expect(TokenKind::KwIn, "`in`"));
  out.iterable = WW_TRY(parse_disjunction(cursor));
  auto conditions = cursor.list<ExprId>();
  while (cursor.accept(TokenKind::KwIf)) conditions.add(WW_TRY(parse_disjunction(cursor)));
  out.conditions = conditions.finish();
  return out;
}

Result<ListOf<Clause>> parse_clauses(ParseCursor& cursor, ExprId element) {
  if (cursor.ast()[element].kind == ExprKind::Starred) return fail(lone_star(cursor, element));
  auto out = cursor.list<Clause>();
  while (at_clause(cursor)) out.add(WW_TRY(parse_clause(cursor)));
  return out.finish();
}

// The rest of a comprehension in brackets of its own; `out` has all but the clauses.
Result<ExprId> parse_comprehension(ParseCursor& cursor, Expr out, const Token& opener,
                                   TokenKind closer) {
  out.clauses = WW_TRY(parse_clauses(cursor, out.a));
  if (!cursor.at(closer))
    return fail(
        cursor.unexpected_in(fmt::format("`for`, `if` or `{}`", fixed_text_of(closer)), opener));
  cursor.take();
  out.place = cursor.place_from(opener.begin);
  return cursor.add(out);
}

Result<ExprId> parse_list(ParseCursor& cursor) {
  const Token opener = cursor.take();
  auto items = cursor.list<ExprId>();
  while (!cursor.at(TokenKind::RBracket)) {
    items.add(WW_TRY(parse_starred_or_named(cursor)));
    if (items.size() == 1 && at_clause(cursor))
      return parse_comprehension(cursor, {.kind = ExprKind::ListComp, .a = items[0]}, opener,
                                 TokenKind::RBracket);
    if (!cursor.accept(TokenKind::Comma)) break;
  }
  WW_TRY_VOID(close_bracket(cursor, opener, TokenKind::RBracket));
  Expr out{.kind = ExprKind::List, .place = cursor.place_from(opener.begin)};
  out.items = items.finish();
  return cursor.add(out);
}

Result<void> parse_dict_item(ParseCursor& cursor, ListBuilder<ExprId>& items) {
  if (cursor.accept(TokenKind::Power)) {
    items.add({});
    items.add(WW_TRY(parse_unpacked(cursor)));
    return {};
  }
  items.add(WW_TRY(parse_expr(cursor)));
  WW_TRY_VOID(cursor.expect(TokenKind::Colon, "`:` and the value for this key"));
  items.add(WW_TRY(parse_expr(cursor)));
  return {};
}

// A dict or a set: the first item tells which.
Result<ExprId> parse_braces(ParseCursor& cursor) {
  const Token opener = cursor.take();
  auto items = cursor.list<ExprId>();
  bool is_dict = cursor.at(TokenKind::RBrace) || cursor.at(TokenKind::Power);
  if (!is_dict) {
    items.add(WW_TRY(parse_starred_or_named(cursor)));
    is_dict = cursor.accept(TokenKind::Colon);
    if (is_dict) items.add(WW_TRY(parse_expr(cursor)));
    if (is_dict && at_clause(cursor))
      return parse_comprehension(cursor, {.kind = ExprKind::DictComp, .a = items[0], .b = items[1]},
                                 opener, TokenKind::RBrace);
    if (at_clause(cursor))
      return parse_comprehension(cursor, {.kind = ExprKind::SetComp, .a = items[0]}, opener,
                                 TokenKind::RBrace);
  }
  bool going = items.size() == 0 || cursor.accept(TokenKind::Comma);
  while (going && !cursor.at(TokenKind::RBrace)) {
    if (is_dict)
      WW_TRY_VOID(parse_dict_item(cursor, items));
    else
      items.add(WW_TRY(parse_starred_or_named(cursor)));
    going = cursor.accept(TokenKind::Comma);
  }
  WW_TRY_VOID(close_bracket(cursor, opener, TokenKind::RBrace));
  Expr out{.kind = is_dict ? ExprKind::Dict : ExprKind::Set,
           .place = cursor.place_from(opener.begin)};
  out.items = items.finish();
  return cursor.add(out);
}

}  // namespace

Result<ExprId> parse_atom(ParseCursor& cursor) {
  switch (cursor.kind()) {
    case TokenKind::Name:
      return parse_simple(cursor, ExprKind::Name);
    case TokenKind::Int:
    case TokenKind::Float:
      return parse_number(cursor);
    case TokenKind::String:
    case TokenKind::FStringBegin:
      return parse_strings(cursor);
    case TokenKind::KwTrue:
      return parse_simple(cursor, ExprKind::True);
    case TokenKind::KwFalse:
      return parse_simple(cursor, ExprKind::False);
    case TokenKind::KwNone:
      return parse_simple(cursor, ExprKind::None);
    case TokenKind::Dots:
      return parse_simple(cursor, ExprKind::Ellipsis);
    case TokenKind::LParen:
      return parse_group(cursor);
    case TokenKind::LBracket:
      return parse_list(cursor);
    case TokenKind::LBrace:
      return parse_braces(cursor);
    default:
      return fail(no_expression(cursor));
  }
}

// --- comprehensions -----------------------------------------------------------------------------

Result<ExprId> parse_generator(ParseCursor& cursor, std::uint32_t begin, ExprId element) {
  Expr out{.kind = ExprKind::GeneratorExp, .a = element};
  out.clauses = WW_TRY(parse_clauses(cursor, element));
  out.place = cursor.place_from(begin);
  return cursor.add(out);
}

}  // namespace ww::script
