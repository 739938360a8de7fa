// SPDX-License-Identifier: Apache-2.0
// Operators, calls and what binds weaker.
#include "script/syntax/expr_parser.h"

#include <array>
#include <utility>

namespace ww::script {
namespace {

// How strongly operators bind, the weakest first. `**` and prefixes are not among them: they are
// part of an operand.
enum Strength : int {
  kNoOperator,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct
};

struct Infix {
  int strength = kNoOperator;
  Op op = Op::None;
};
constexpr std::array<Infix, 256> infix_table() {
  std::array<Infix, 256> table{};
  const auto set = [&](TokenKind kind, int strength, Op op) {
    table[static_cast<std::size_t>(kind)] = {strength, op};
  };
  set(TokenKind::KwOr, kOr, Op::None);
  set(TokenKind::KwAnd, kAnd, Op::None);
  set(TokenKind::KwIn, kCompare, Op::In);
  set(TokenKind::KwIs, kCompare, Op::Is);
  set(TokenKind::Equal, kCompare, Op::Eq);
  set(TokenKind::NotEqual, kCompare, Op::Ne);
  set(TokenKind::Less, kCompare, Op::Lt);
  set(TokenKind::LessEqual, kCompare, Op::Le);
  set(TokenKind::Greater, kCompare, Op::Gt);
  set(TokenKind::GreaterEqual, kCompare, Op::Ge);
  set(TokenKind::Bar, kBitOr, Op::BitOr);
  set(TokenKind::Caret, kBitXor, Op::BitXor);
  set(TokenKind::Amp, kBitAnd, Op::BitAnd);
  set(TokenKind::Shl, kShift, Op::Shl);
  set(TokenKind::Shr, kShift, Op::Shr);
  set(TokenKind::Plus, kSum, Op::Add);
  set(TokenKind::Minus, kSum, Op::Sub);
  set(TokenKind::Star, kProduct, Op::Mul);
  set(TokenKind::Slash, kProduct, Op::Div);
  set(TokenKind::DoubleSlash, kProduct, Op::FloorDiv);
  set(TokenKind::Percent, kProduct, Op::Mod);
  set(TokenKind::At, kProduct, Op::MatMul);
  return table;
}
constexpr auto kInfix = infix_table();

Infix infix_at(const ParseCursor& cursor) {
  if (cursor.at(TokenKind::KwNot) && cursor.ahead(1).kind == TokenKind::KwIn)
    return {kCompare, Op::NotIn};
  return kInfix[static_cast<std::size_t>(cursor.kind())];
}

Op prefix_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::Minus:
      return Op::Neg;
    case TokenKind::Plus:
      return Op::Pos;
    case TokenKind::Tilde:
      return Op::Invert;
    case TokenKind::KwNot:
      return Op::Not;
    default:
      return Op::None;
  }
}

// Whether a name or a literal is all that stands here, as is most often so.
bool is_lone_atom(const ParseCursor& cursor) {
  const TokenKind kind = cursor.kind();
  if (kind != TokenKind::Name && kind != TokenKind::Int) return false;
  switch (cursor.ahead(1).kind) {
    case TokenKind::Newline:
    case TokenKind::Comma:
    case TokenKind::Assign:
    case TokenKind::Colon:
    case TokenKind::RParen:
    case TokenKind::RBracket:
    case TokenKind::RBrace:
      return true;
    default:
      return false;
  }
}

Result<ExprId> parse_operators(ParseCursor& cursor, int weakest);
Result<ExprId> parse_operand(ParseCursor& cursor, int weakest);

Result<ExprId> parse_logical(ParseCursor& cursor, std::uint32_t begin, ExprId first) {
  const TokenKind word = cursor.kind();
  const bool is_or = word == TokenKind::KwOr;
  auto items = cursor.list<ExprId>();
  items.add(first);
  while (cursor.accept(word)) items.add(WW_TRY(parse_operators(cursor, is_or ? kAnd : kNot)));
  Expr out{.kind = is_or ? ExprKind::Or : ExprKind::And, .place = cursor.place_from(begin)};
  out.items = items.finish();
  return cursor.add(out);
}

Result<ExprId> parse_comparison(ParseCursor& cursor, std::uint32_t begin, ExprId first) {
  auto items = cursor.list<ExprId>();
  auto ops = cursor.list<Op>();
  items.add(first);
  for (Infix infix = infix_at(cursor); infix.strength == kCompare; infix = infix_at(cursor)) {
    cursor.take();
    if (infix.op == Op::NotIn) cursor.take();
    if (infix.op == Op::Is && cursor.accept(TokenKind::KwNot)) infix.op = Op::IsNot;
    ops.add(infix.op);
    items.add(WW_TRY(parse_operators(cursor, kBitOr)));
  }
  Expr out{.kind = ExprKind::Compare, .place = cursor.place_from(begin)};
  out.items = items.finish();
  out.compares = ops.finish();
  return cursor.add(out);
}

Result<ExprId> parse_binary(ParseCursor& cursor, std::uint32_t begin, ExprId left) {
  const Infix infix = infix_at(cursor);
  cursor.take();
  Expr out{.kind = ExprKind::Binary, .op = infix.op, .a = left};
  out.b = WW_TRY(parse_operators(cursor, infix.strength + 1));
  out.place = cursor.place_from(begin);
  return cursor.add(out);
}

Result<ExprId> parse_prefixed(ParseCursor& cursor, Op op, int weakest) {
  if (op == Op::Not && weakest > kNot) return fail(no_expression(cursor));
  WW_TRY_VOID(cursor.check_depth());
  const auto level = cursor.deeper();
  const Token sign = cursor.take();
  Expr out{.kind = ExprKind::Unary, .op = op};
  out.a = op == Op::Not ? WW_TRY(parse_operators(cursor, kNot))
                        : WW_TRY(parse_operand(cursor, kProduct));
  out.place = cursor.place_from(sign.begin);
  return cursor.add(out);
}

// The exponent may have a prefix and a power of its own: `2 ** -x ** 3`.
Result<ExprId> parse_power(ParseCursor& cursor, std::uint32_t begin, ExprId base) {
  WW_TRY_VOID(cursor.check_depth());
  const auto level = cursor.deeper();
  cursor.take();
  Expr out{.kind = ExprKind::Binary, .op = Op::Pow, .a = base};
  out.b = WW_TRY(parse_operand(cursor, kProduct));
  out.place = cursor.place_from(begin);
  return cursor.add(out);
}

// --- attributes, calls, subscripts --------------------------------------------------------------

Result<ExprId> parse_attribute(ParseCursor& cursor, std::uint32_t begin, ExprId object) {
  cursor.take();
  const Token name = WW_TRY(cursor.expect_name("the name of an attribute"));
  Expr out{.kind = ExprKind::Attribute, .place = cursor.place_from(begin), .a = object};
  out.name = cursor.intern(name);
  out.name_place = place_of(name);
  return cursor.add(out);
}

Result<ExprId> parse_call(ParseCursor& cursor, std::uint32_t begin, ExprId callee) {
  const Token opener = cursor.take();
  Expr out{.kind = ExprKind::Call, .a = callee};
  out.args = WW_TRY(parse_arguments(cursor, opener));
  out.place = cursor.place_from(begin);
  return cursor.add(out);
}

// One index: an expression, a starred one, or `a:b:c`.
Result<ExprId> parse_slice(ParseCursor& cursor) {
  if (cursor.at(TokenKind::Star)) return parse_starred(cursor);
  const std::uint32_t begin = cursor.here().begin;
  Expr out{.kind = ExprKind::Slice};
  if (!cursor.at(TokenKind::Colon)) {
    out.a = WW_TRY(parse_named_expr(cursor));
    if (!cursor.at(TokenKind::Colon)) return out.a;
  }
  cursor.take();
  if (begins_expression(cursor.kind())) out.b = WW_TRY(parse_expr(cursor));
  if (cursor.accept(TokenKind::Colon) && begins_expression(cursor.kind()))
    out.c = WW_TRY(parse_expr(cursor));
  out.place = cursor.place_from(begin);
  return cursor.add(out);
}

// `x[*a]` is a tuple of one, as `x[*a,]` is.
Result<ExprId> parse_index(ParseCursor& cursor) {
  const std::uint32_t begin = cursor.here().begin;
  const bool is_starred = cursor.at(TokenKind::Star);
  const ExprId first = WW_TRY(parse_slice(cursor));
  if (!cursor.at(TokenKind::Comma) && !is_starred) return first;
  return parse_tuple(cursor, begin, first, parse_slice);
}

Result<ExprId> parse_subscript(ParseCursor& cursor, std::uint32_t begin, ExprId object) {
  const Token opener = cursor.take();
  Expr out{.kind = ExprKind::Subscript, .a = object};
  out.b = WW_TRY(parse_index(cursor));
  if (!cursor.accept(TokenKind::RBracket)) return fail(cursor.unexpected_in("`,` or `]`", opener));
  out.place = cursor.place_from(begin);
  return cursor.add(out);
}

Result<ExprId> parse_primary(ParseCursor& cursor) {
  const std::uint32_t begin = cursor.here().begin;
  const Token first = cursor.here();
  const bool is_await = cursor.accept(TokenKind::KwAwait);
  ExprId value = WW_TRY(parse_atom(cursor));
  for (bool going = true; going;) {
    switch (cursor.kind()) {
      case TokenKind::Dot:
        value = WW_TRY(parse_attribute(cursor, begin, value));
        break;
      case TokenKind::LParen:
        value = WW_TRY(parse_call(cursor, begin, value));
        break;
      case TokenKind::LBracket:
        value = WW_TRY(parse_subscript(cursor, begin, value));
        break;
      default:
        going = false;
    }
  }
  if (!is_await) return value;
  Expr out{.kind = ExprKind::Unsupported, .place = cursor.place_from(begin), .a = value};
  out.name = cursor.intern(first);
  out.name_place = place_of(first);
  return cursor.add(out);
}

Result<ExprId> parse_operand(ParseCursor& cursor, int weakest) {
  const Op op = prefix_of(cursor.kind());
  if (op != Op::None) return parse_prefixed(cursor, op, weakest);
  const std::uint32_t begin = cursor.here().begin;
  const ExprId value = WW_TRY(parse_primary(cursor));
  return cursor.at(TokenKind::Power) ? parse_power(cursor, begin, value) : value;
}

// Operands joined by operators that bind at least as strongly as `weakest`.
Result<ExprId> parse_operators(ParseCursor& cursor, int weakest) {
  WW_TRY_VOID(cursor.check_depth());
  if (is_lone_atom(cursor)) return parse_atom(cursor);  // not needed, but faster
  const auto level = cursor.deeper();
  const std::uint32_t begin = cursor.here().begin;
  ExprId left = WW_TRY(parse_operand(cursor, weakest));
  for (;;) {
    const int strength = infix_at(cursor).strength;
    if (strength < weakest || strength == kNoOperator) return left;
    if (strength <= kAnd)
      left = WW_TRY(parse_logical(cursor, begin, left));
    else if (strength == kCompare)
      left = WW_TRY(parse_comparison(cursor, begin, left));
    else
      left = WW_TRY(parse_binary(cursor, begin, left));
  }
}

Result<ExprId> parse_conditional(ParseCursor& cursor, std::uint32_t begin, ExprId value) {
  WW_TRY_VOID(cursor.check_depth());
  const auto level = cursor.deeper();
  cursor.take();
  Expr out{.kind = ExprKind::Conditional, .a = value};
  out.b = WW_TRY(parse_operators(cursor, kOr));
  WW_TRY_VOID(cursor.expect(TokenKind::KwElse, "`else` of the conditional expression"));
  out.c = WW_TRY(parse_expr(cursor));
  out.place = cursor.place_from(begin);
  return cursor.add(out);
}

Result<ExprId> parse_lambda(ParseCursor& cursor) {
  WW_TRY_VOID(cursor.check_depth());
  const auto level = cursor.deeper();
  const Token word = cursor.take();
  Expr out{.kind = ExprKind::Lambda};
  out.params = WW_TRY(parse_parameters(cursor, TokenKind::Colon));
  WW_TRY_VOID(cursor.expect(TokenKind::Colon, "`,` or `:`"));
  out.a = WW_TRY(parse_expr(cursor));
  out.place = cursor.place_from(word.begin);
  return cursor.add(out);
}

Result<ExprId> parse_starred_or_expr(ParseCursor& cursor) {
  return cursor.at(TokenKind::Star) ? parse_starred(cursor) : parse_expr(cursor);
}

}  // namespace

bool begins_expression(TokenKind kind) {
  switch (kind) {
    case TokenKind::Name:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::FStringBegin:
    case TokenKind::KwTrue:
    case TokenKind::KwFalse:
    case TokenKind::KwNone:
    case TokenKind::Dots:
    case TokenKind::LParen:
    case TokenKind::LBracket:
    case TokenKind::LBrace:
    case TokenKind::Star:
    case TokenKind::KwLambda:
    case TokenKind::KwAwait:
      return true;
    default:
      return prefix_of(kind) != Op::None;
  }
}

// --- what is weaker than operators --------------------------------------------------------------

Result<ExprId> parse_expr(ParseCursor& cursor) {
  if (cursor.at(TokenKind::KwLambda)) return parse_lambda(cursor);
  const std::uint32_t begin = cursor.here().begin;
  const ExprId value = WW_TRY(parse_operators(cursor, kOr));
  return cursor.at(TokenKind::KwIf) ? parse_conditional(cursor, begin, value) : value;
}

Result<ExprId> parse_named_expr(ParseCursor& cursor) {
  if (!cursor.at(TokenKind::Name) || cursor.ahead(1).kind != TokenKind::Walrus)
    return parse_expr(cursor);
  const Token name = cursor.take();
  cursor.take();
  Expr out{.kind = ExprKind::Walrus, .name_place = place_of(name)};
  out.name = cursor.intern(name);
  out.a = WW_TRY(parse_expr(cursor));
  out.place = cursor.place_from(name.begin);
  return cursor.add(out);
}

Result<ExprId> parse_starred(ParseCursor& cursor) {
  const Token star = cursor.take();
  Expr out{.kind = ExprKind::Starred};
  out.a = WW_TRY(parse_unpacked(cursor));
  out.place = cursor.place_from(star.begin);
  return cursor.add(out);
}

Diag lone_star(const ParseCursor& cursor, ExprId starred) {
  Diag out = diag(DiagKind::Syntax,
                  "found a starred expression, expected it in a tuple, list, set or call");
  out.span = cursor.ast()[starred].place.span();
  return out;
}

Result<ExprId> parse_exprs(ParseCursor& cursor) {
  const std::uint32_t begin = cursor.here().begin;
  const bool is_starred = cursor.at(TokenKind::Star);
  const ExprId first = WW_TRY(parse_starred_or_expr(cursor));
  if (cursor.at(TokenKind::Comma)) return parse_tuple(cursor, begin, first, parse_starred_or_expr);
  if (is_starred) return fail(lone_star(cursor, first));
  return first;
}

Result<ExprId> parse_value(ParseCursor& cursor) {
  return cursor.at(TokenKind::KwYield) ? parse_yield(cursor) : parse_exprs(cursor);
}

// At the comma behind the first item.
Result<ExprId> parse_tuple(ParseCursor& cursor, std::uint32_t begin, ExprId first, ParseItem item) {
  auto items = cursor.list<ExprId>();
  items.add(first);
  while (cursor.accept(TokenKind::Comma)) {
    const bool may_be_slice = item == parse_slice && cursor.at(TokenKind::Colon);
    if (!begins_expression(cursor.kind()) && !may_be_slice) break;
    items.add(WW_TRY(item(cursor)));
  }
  Expr out{.kind = ExprKind::Tuple, .place = cursor.place_from(begin)};
  out.items = items.finish();
  return cursor.add(out);
}

Result<ExprId> parse_yield(ParseCursor& cursor) {
  const Token word = cursor.take();
  Expr out{.kind = ExprKind::Unsupported, .name_place = place_of(word)};
  out.name = cursor.intern(word);
  if (cursor.accept(TokenKind::KwFrom))
    out.a = WW_TRY(parse_expr(cursor));
  else if (begins_expression(cursor.kind()))
    out.a = WW_TRY(parse_exprs(cursor));
  out.place = cursor.place_from(word.begin);
  return cursor.add(out);
}

// An `in` ends it, which therefore is no operator here.
Result<ExprId> parse_loop_target_item(ParseCursor& cursor) {
  return cursor.at(TokenKind::Star) ? parse_starred(cursor) : parse_operators(cursor, kBitOr);
}

Result<ExprId> parse_loop_target(ParseCursor& cursor) {
  const std::uint32_t begin = cursor.here().begin;
  const ExprId first = WW_TRY(parse_loop_target_item(cursor));
  if (!cursor.at(TokenKind::Comma)) return first;
  return parse_tuple(cursor, begin, first, parse_loop_target_item);
}

// --- operators ----------------------------------------------------------------------------------

// Without `if`, which means something else behind it.
Result<ExprId> parse_disjunction(ParseCursor& cursor) { return parse_operators(cursor, kOr); }

// What may stand behind a star or two.
Result<ExprId> parse_unpacked(ParseCursor& cursor) { return parse_operators(cursor, kBitOr); }

Diag no_expression(const ParseCursor& cursor) {
  Diag out = cursor.unexpected("an expression");
  if (cursor.at(TokenKind::Error)) return out;
  const Token& before = cursor.back(1);
  const bool is_doubled = before.end == cursor.here().begin && before.kind == cursor.kind();
  if (is_doubled && cursor.at(TokenKind::Amp))
    return std::move(out).with_note("did you mean `and`?");
  if (is_doubled && cursor.at(TokenKind::Bar))
    return std::move(out).with_note("did you mean `or`?");
  const Token& sign = cursor.back(2);
  const bool is_sign = before.kind == TokenKind::Plus || before.kind == TokenKind::Minus;
  if (is_sign && sign.kind == before.kind && sign.end == before.begin) {
    const std::string_view text = before.kind == TokenKind::Plus ? "+" : "-";
    return std::move(out).with_note(
        fmt::format("there is no `{}{}`; write `{}= 1`", text, text, text));
  }
  return out;
}

}  // namespace ww::script
