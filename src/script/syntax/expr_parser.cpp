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

Result<ExprId> ExprParser::expression() {
  if (cursor_.at(TokenKind::KwLambda)) return lambda();
  const std::uint32_t begin = cursor_.here().begin;
  const ExprId value = WW_TRY(operators(kOr));
  return cursor_.at(TokenKind::KwIf) ? conditional(begin, value) : value;
}

Result<ExprId> ExprParser::conditional(std::uint32_t begin, ExprId value) {
  WW_TRY_VOID(cursor_.check_depth());
  const auto level = cursor_.deeper();
  cursor_.take();
  Expr out{.kind = ExprKind::Conditional, .a = value};
  out.b = WW_TRY(operators(kOr));
  WW_TRY_VOID(cursor_.expect(TokenKind::KwElse, "`else` of the conditional expression"));
  out.c = WW_TRY(expression());
  out.place = cursor_.place_from(begin);
  return cursor_.add(out);
}

Result<ExprId> ExprParser::lambda() {
  WW_TRY_VOID(cursor_.check_depth());
  const auto level = cursor_.deeper();
  const Token word = cursor_.take();
  Expr out{.kind = ExprKind::Lambda};
  out.params = WW_TRY(parameters(TokenKind::Colon));
  WW_TRY_VOID(cursor_.expect(TokenKind::Colon, "`,` or `:`"));
  out.a = WW_TRY(expression());
  out.place = cursor_.place_from(word.begin);
  return cursor_.add(out);
}

Result<ExprId> ExprParser::named_expression() {
  if (!cursor_.at(TokenKind::Name) || cursor_.ahead(1).kind != TokenKind::Walrus)
    return expression();
  const Token name = cursor_.take();
  cursor_.take();
  Expr out{.kind = ExprKind::Walrus, .name_place = ParseCursor::place_of(name)};
  out.name = cursor_.intern(name);
  out.a = WW_TRY(expression());
  out.place = cursor_.place_from(name.begin);
  return cursor_.add(out);
}

Result<ExprId> ExprParser::starred() {
  const Token star = cursor_.take();
  Expr out{.kind = ExprKind::Starred};
  out.a = WW_TRY(unpacked());
  out.place = cursor_.place_from(star.begin);
  return cursor_.add(out);
}

Diag ExprParser::lone_star(ExprId starred) const {
  Diag out = diag(DiagKind::Syntax,
                  "found a starred expression, expected it in a tuple, list, set or call");
  out.span = cursor_.ast()[starred].place.span();
  return out;
}

Result<ExprId> ExprParser::starred_or_expression() {
  return cursor_.at(TokenKind::Star) ? starred() : expression();
}

Result<ExprId> ExprParser::expressions() {
  const std::uint32_t begin = cursor_.here().begin;
  const bool is_starred = cursor_.at(TokenKind::Star);
  const ExprId first = WW_TRY(starred_or_expression());
  if (cursor_.at(TokenKind::Comma)) return tuple(begin, first, &ExprParser::starred_or_expression);
  if (is_starred) return fail(lone_star(first));
  return first;
}

Result<ExprId> ExprParser::value() {
  return cursor_.at(TokenKind::KwYield) ? yield() : expressions();
}

// At the comma behind the first item.
Result<ExprId> ExprParser::tuple(std::uint32_t begin, ExprId first, Item item) {
  auto items = cursor_.expr_list();
  items.add(first);
  while (cursor_.accept(TokenKind::Comma)) {
    const bool may_be_slice = item == &ExprParser::slice && cursor_.at(TokenKind::Colon);
    if (!begins_expression(cursor_.kind()) && !may_be_slice) break;
    items.add(WW_TRY((this->*item)()));
  }
  Expr out{.kind = ExprKind::Tuple, .place = cursor_.place_from(begin)};
  out.items = items.finish();
  return cursor_.add(out);
}

Result<ExprId> ExprParser::yield() {
  const Token word = cursor_.take();
  Expr out{.kind = ExprKind::Unsupported, .name_place = ParseCursor::place_of(word)};
  out.name = cursor_.intern(word);
  if (cursor_.accept(TokenKind::KwFrom))
    out.a = WW_TRY(expression());
  else if (begins_expression(cursor_.kind()))
    out.a = WW_TRY(expressions());
  out.place = cursor_.place_from(word.begin);
  return cursor_.add(out);
}

// An `in` ends it, which therefore is no operator here.
Result<ExprId> ExprParser::loop_target_item() {
  return cursor_.at(TokenKind::Star) ? starred() : operators(kBitOr);
}

Result<ExprId> ExprParser::loop_target() {
  const std::uint32_t begin = cursor_.here().begin;
  const ExprId first = WW_TRY(loop_target_item());
  if (!cursor_.at(TokenKind::Comma)) return first;
  return tuple(begin, first, &ExprParser::loop_target_item);
}

// --- operators ----------------------------------------------------------------------------------

// Without `if`, which means something else behind it.
Result<ExprId> ExprParser::disjunction() { return operators(kOr); }

// What may stand behind a star or two.
Result<ExprId> ExprParser::unpacked() { return operators(kBitOr); }

// Operands joined by operators that bind at least as strongly as `weakest`.
Result<ExprId> ExprParser::operators(int weakest) {
  WW_TRY_VOID(cursor_.check_depth());
  if (is_lone_atom(cursor_)) return atom();  // not needed, but faster
  const auto level = cursor_.deeper();
  const std::uint32_t begin = cursor_.here().begin;
  ExprId left = WW_TRY(operand(weakest));
  for (;;) {
    const int strength = infix_at(cursor_).strength;
    if (strength < weakest || strength == kNoOperator) return left;
    if (strength <= kAnd)
      left = WW_TRY(logical(begin, left));
    else if (strength == kCompare)
      left = WW_TRY(comparison(begin, left));
    else
      left = WW_TRY(binary(begin, left));
  }
}

Result<ExprId> ExprParser::logical(std::uint32_t begin, ExprId first) {
  const TokenKind word = cursor_.kind();
  const bool is_or = word == TokenKind::KwOr;
  auto items = cursor_.expr_list();
  items.add(first);
  while (cursor_.accept(word)) items.add(WW_TRY(operators(is_or ? kAnd : kNot)));
  Expr out{.kind = is_or ? ExprKind::Or : ExprKind::And, .place = cursor_.place_from(begin)};
  out.items = items.finish();
  return cursor_.add(out);
}

Result<ExprId> ExprParser::comparison(std::uint32_t begin, ExprId first) {
  auto items = cursor_.expr_list();
  auto ops = cursor_.op_list();
  items.add(first);
  for (Infix infix = infix_at(cursor_); infix.strength == kCompare; infix = infix_at(cursor_)) {
    cursor_.take();
    if (infix.op == Op::NotIn) cursor_.take();
    if (infix.op == Op::Is && cursor_.accept(TokenKind::KwNot)) infix.op = Op::IsNot;
    ops.add(infix.op);
    items.add(WW_TRY(operators(kBitOr)));
  }
  Expr out{.kind = ExprKind::Compare, .place = cursor_.place_from(begin)};
  out.items = items.finish();
  out.compares = ops.finish();
  return cursor_.add(out);
}

Result<ExprId> ExprParser::binary(std::uint32_t begin, ExprId left) {
  const Infix infix = infix_at(cursor_);
  cursor_.take();
  Expr out{.kind = ExprKind::Binary, .op = infix.op, .a = left};
  out.b = WW_TRY(operators(infix.strength + 1));
  out.place = cursor_.place_from(begin);
  return cursor_.add(out);
}

Result<ExprId> ExprParser::operand(int weakest) {
  const Op op = prefix_of(cursor_.kind());
  if (op != Op::None) return prefixed(op, weakest);
  const std::uint32_t begin = cursor_.here().begin;
  const ExprId value = WW_TRY(primary());
  return cursor_.at(TokenKind::Power) ? power(begin, value) : value;
}

Result<ExprId> ExprParser::prefixed(Op op, int weakest) {
  if (op == Op::Not && weakest > kNot) return fail(no_expression());
  WW_TRY_VOID(cursor_.check_depth());
  const auto level = cursor_.deeper();
  const Token sign = cursor_.take();
  Expr out{.kind = ExprKind::Unary, .op = op};
  out.a = op == Op::Not ? WW_TRY(operators(kNot)) : WW_TRY(operand(kProduct));
  out.place = cursor_.place_from(sign.begin);
  return cursor_.add(out);
}

// The exponent may have a prefix and a power of its own: `2 ** -x ** 3`.
Result<ExprId> ExprParser::power(std::uint32_t begin, ExprId base) {
  WW_TRY_VOID(cursor_.check_depth());
  const auto level = cursor_.deeper();
  cursor_.take();
  Expr out{.kind = ExprKind::Binary, .op = Op::Pow, .a = base};
  out.b = WW_TRY(operand(kProduct));
  out.place = cursor_.place_from(begin);
  return cursor_.add(out);
}

// --- attributes, calls, subscripts --------------------------------------------------------------

Result<ExprId> ExprParser::primary() {
  const std::uint32_t begin = cursor_.here().begin;
  const Token first = cursor_.here();
  const bool is_await = cursor_.accept(TokenKind::KwAwait);
  ExprId value = WW_TRY(atom());
  for (bool going = true; going;) {
    switch (cursor_.kind()) {
      case TokenKind::Dot:
        value = WW_TRY(attribute(begin, value));
        break;
      case TokenKind::LParen:
        value = WW_TRY(call(begin, value));
        break;
      case TokenKind::LBracket:
        value = WW_TRY(subscript(begin, value));
        break;
      default:
        going = false;
    }
  }
  if (!is_await) return value;
  Expr out{.kind = ExprKind::Unsupported, .place = cursor_.place_from(begin), .a = value};
  out.name = cursor_.intern(first);
  out.name_place = ParseCursor::place_of(first);
  return cursor_.add(out);
}

Result<ExprId> ExprParser::attribute(std::uint32_t begin, ExprId object) {
  cursor_.take();
  const Token name = WW_TRY(cursor_.expect_name("the name of an attribute"));
  Expr out{.kind = ExprKind::Attribute, .place = cursor_.place_from(begin), .a = object};
  out.name = cursor_.intern(name);
  out.name_place = ParseCursor::place_of(name);
  return cursor_.add(out);
}

Result<ExprId> ExprParser::call(std::uint32_t begin, ExprId callee) {
  const Token opener = cursor_.take();
  Expr out{.kind = ExprKind::Call, .a = callee};
  out.args = WW_TRY(arguments(opener));
  out.place = cursor_.place_from(begin);
  return cursor_.add(out);
}

Result<ExprId> ExprParser::subscript(std::uint32_t begin, ExprId object) {
  const Token opener = cursor_.take();
  Expr out{.kind = ExprKind::Subscript, .a = object};
  out.b = WW_TRY(index());
  if (!cursor_.accept(TokenKind::RBracket))
    return fail(cursor_.unexpected_in("`,` or `]`", opener));
  out.place = cursor_.place_from(begin);
  return cursor_.add(out);
}

// `x[*a]` is a tuple of one, as `x[*a,]` is.
Result<ExprId> ExprParser::index() {
  const std::uint32_t begin = cursor_.here().begin;
  const bool is_starred = cursor_.at(TokenKind::Star);
  const ExprId first = WW_TRY(slice());
  if (!cursor_.at(TokenKind::Comma) && !is_starred) return first;
  return tuple(begin, first, &ExprParser::slice);
}

// One index: an expression, a starred one, or `a:b:c`.
Result<ExprId> ExprParser::slice() {
  if (cursor_.at(TokenKind::Star)) return starred();
  const std::uint32_t begin = cursor_.here().begin;
  Expr out{.kind = ExprKind::Slice};
  if (!cursor_.at(TokenKind::Colon)) {
    out.a = WW_TRY(named_expression());
    if (!cursor_.at(TokenKind::Colon)) return out.a;
  }
  cursor_.take();
  if (begins_expression(cursor_.kind())) out.b = WW_TRY(expression());
  if (cursor_.accept(TokenKind::Colon) && begins_expression(cursor_.kind()))
    out.c = WW_TRY(expression());
  out.place = cursor_.place_from(begin);
  return cursor_.add(out);
}

Diag ExprParser::no_expression() const {
  Diag out = cursor_.unexpected("an expression");
  if (cursor_.at(TokenKind::Error)) return out;
  const Token& before = cursor_.back(1);
  const bool is_doubled = before.end == cursor_.here().begin && before.kind == cursor_.kind();
  if (is_doubled && cursor_.at(TokenKind::Amp))
    return std::move(out).with_note("did you mean `and`?");
  if (is_doubled && cursor_.at(TokenKind::Bar))
    return std::move(out).with_note("did you mean `or`?");
  const Token& sign = cursor_.back(2);
  const bool is_sign = before.kind == TokenKind::Plus || before.kind == TokenKind::Minus;
  if (is_sign && sign.kind == before.kind && sign.end == before.begin) {
    const std::string_view text = before.kind == TokenKind::Plus ? "+" : "-";
    return std::move(out).with_note(
        fmt::format("there is no `{}{}`; write `{}= 1`", text, text, text));
  }
  return out;
}

}  // namespace ww::script
