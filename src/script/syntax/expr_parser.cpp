// SPDX-License-Identifier: Apache-2.0
// Operators and what binds weaker, calls and their parameters, strings, names, numbers, brackets.
#include "script/syntax/expr_parser.h"

#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/fail_at.h"
#include "script/syntax/literals.h"

namespace ww::script {
namespace {

bool at_clause(const ParseCursor& cursor) {
  return cursor.at(TokenKind::KwFor) || cursor.at(TokenKind::KwAsync);
}

}  // namespace

// Expressions hold each other:

// `a or b`: no conditional, no lambda.
Result<ExprId> parse_disjunction(ParseCursor& cursor);
// What stands behind `*`.
Result<ExprId> parse_unpacked(ParseCursor& cursor);
Result<ExprId> parse_yield(ParseCursor& cursor);
using ParseItem = Result<ExprId> (*)(ParseCursor&);
// A tuple from its first item on; a comma stands here.
Result<ExprId> parse_tuple(ParseCursor& cursor, std::uint32_t begin, ExprId first, ParseItem item);
[[nodiscard]] Diag no_expression(const ParseCursor& cursor);
// A name, a literal, or something in brackets.
Result<ExprId> parse_atom(ParseCursor& cursor);
// `element for …`: the clauses stand here.
Result<ExprId> parse_generator(ParseCursor& cursor, std::uint32_t begin, ExprId element);
// Literals that stand side by side.
Result<ExprId> parse_strings(ParseCursor& cursor);

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

// --- arguments and parameters --------------------------------------------------------------------

namespace {

// --- arguments ----------------------------------------------------------------------------------

struct ArgState {
  bool has_keyword = false;
  bool has_double_star = false;
};

Diag no_argument(const ParseCursor& cursor, const Token& opener) {
  Diag out = cursor.unexpected_in("`,` or `)`", opener);
  if (cursor.at(TokenKind::Assign))
    out.notes.push_back({"a keyword argument has a plain name before `=`; `==` compares", {}});
  return out;
}

Result<Arg> parse_argument(ParseCursor& cursor) {
  Arg out;
  if (cursor.accept(TokenKind::Star)) {
    out.kind = Arg::Kind::Star;
    out.value = WW_TRY(parse_expr(cursor));
  } else if (cursor.accept(TokenKind::Power)) {
    out.kind = Arg::Kind::DoubleStar;
    out.value = WW_TRY(parse_expr(cursor));
  } else if (cursor.ahead(1).kind == TokenKind::Assign &&
             (cursor.at(TokenKind::Name) || is_keyword(cursor.kind()))) {
    const Token name = WW_TRY(cursor.expect_name("the name of an argument"));
    cursor.take();
    out.kind = Arg::Kind::Keyword;
    out.name = cursor.intern(name);
    out.name_place = place_of(name);
    out.value = WW_TRY(parse_expr(cursor));
  } else {
    out.value = WW_TRY(parse_named_expr(cursor));
  }
  return out;
}

// What may stand behind keyword arguments and `**`.
Result<void> check_argument_order(ParseCursor& cursor, ArgState& state, const Arg& arg) {
  const bool is_plain = arg.kind == Arg::Kind::Plain;
  const bool is_bad = (is_plain && (state.has_keyword || state.has_double_star)) ||
                      (arg.kind == Arg::Kind::Star && state.has_double_star);
  state.has_keyword |= arg.kind == Arg::Kind::Keyword;
  state.has_double_star |= arg.kind == Arg::Kind::DoubleStar;
  if (!is_bad) return {};
  return fail_at(cursor.ast()[arg.value].place.span(), DiagKind::Syntax, "found {} after {}",
                 is_plain ? "a positional argument" : "an argument with `*`",
                 state.has_double_star ? "one with `**`" : "a keyword argument");
}

// --- parameters ---------------------------------------------------------------------------------

struct ParamState {
  Param::Kind kind = Param::Kind::Plain;  // of the next one
  bool annotated = false;                 // whether annotations may stand here
  bool has_slash = false;
  bool has_star = false;
  bool has_default = false;  // of a parameter before the star
  bool ended = false;        // by `**kwargs`
  std::set<std::uint32_t> names = {};
};

// All parameters so far are positional only.
Result<void> parse_slash(ParseCursor& cursor, ListBuilder<Param>& params, ParamState& state) {
  if (params.size() == 0) return fail(cursor.unexpected("a parameter before `/`"));
  if (state.has_slash || state.has_star) return fail(cursor.unexpected("one `/`, before `*`"));
  cursor.take();
  state.has_slash = true;
  for (std::size_t i = 0; i < params.size(); ++i) params[i].kind = Param::Kind::PositionalOnly;
  return {};
}

// The cursor is at the name; `begin` is where its stars are.
Result<Param> parse_named_parameter(ParseCursor& cursor, Param::Kind kind, std::uint32_t begin,
                                    ParamState& state) {
  const Token name = WW_TRY(cursor.expect_name("the name of a parameter"));
  if (!state.names.insert(cursor.intern(name).index).second)
    return fail_at(place_of(name).span(), DiagKind::Syntax, "found a second parameter `{}`",
                   cursor.text_of(name));
  const bool has_stars = kind == Param::Kind::Star || kind == Param::Kind::DoubleStar;
  Param out{.kind = kind, .name = cursor.intern(name)};
  if (state.annotated && cursor.accept(TokenKind::Colon)) {
    const bool is_starred = kind == Param::Kind::Star && cursor.at(TokenKind::Star);
    out.annotation = is_starred ? WW_TRY(parse_starred(cursor)) : WW_TRY(parse_expr(cursor));
  }
  if (cursor.at(TokenKind::Assign)) {
    if (has_stars) return fail(cursor.unexpected("no default for a parameter with `*`"));
    cursor.take();
    out.default_value = WW_TRY(parse_expr(cursor));
  }
  out.place = cursor.place_from(begin);
  return out;
}

// `*args`, or `*` alone before parameters that take keywords only.
Result<void> parse_star(ParseCursor& cursor, ListBuilder<Param>& params, ParamState& state) {
  if (state.has_star) return fail(cursor.unexpected("no second `*`"));
  const Token star = cursor.take();
  state.has_star = true;
  state.kind = Param::Kind::KeywordOnly;
  if (!cursor.at(TokenKind::Comma)) {
    params.add(WW_TRY(parse_named_parameter(cursor, Param::Kind::Star, star.begin, state)));
    return {};
  }
  if (cursor.ahead(1).kind != TokenKind::Name) {
    cursor.take();
    return fail(cursor.unexpected("a parameter after `*,`"));
  }
  return {};
}

Result<void> parse_parameter(ParseCursor& cursor, ListBuilder<Param>& params, ParamState& state) {
  const Token first = cursor.here();
  state.ended = cursor.accept(TokenKind::Power);
  const Param::Kind kind = state.ended ? Param::Kind::DoubleStar : state.kind;
  const Param param = WW_TRY(parse_named_parameter(cursor, kind, first.begin, state));
  if (kind == Param::Kind::Plain) {
    if (state.has_default && !param.default_value.valid())
      return fail_at(param.place.span(), DiagKind::Syntax,
                     "found a parameter without a default after one that has one");
    state.has_default = param.default_value.valid();
  }
  params.add(param);
  return {};
}

}  // namespace

Result<ListOf<Arg>> parse_arguments(ParseCursor& cursor, const Token& opener) {
  auto args = cursor.list<Arg>();
  ArgState state;
  while (!cursor.at(TokenKind::RParen)) {
    const std::uint32_t begin = cursor.here().begin;
    Arg arg = WW_TRY(parse_argument(cursor));
    if (arg.kind == Arg::Kind::Plain && at_clause(cursor)) {
      arg.value = WW_TRY(parse_generator(cursor, begin, arg.value));
      const bool is_alone = args.size() == 0 && !cursor.at(TokenKind::Comma);
      if (!is_alone)
        return fail_at(cursor.ast()[arg.value].place.span(), DiagKind::Syntax,
                       "found a generator beside other arguments, expected it in parentheses");
    }
    WW_TRY_VOID(check_argument_order(cursor, state, arg));
    args.add(arg);
    if (!cursor.accept(TokenKind::Comma)) break;
  }
  if (!cursor.at(TokenKind::RParen)) return fail(no_argument(cursor, opener));
  cursor.take();
  return args.finish();
}

Result<ListOf<Param>> parse_parameters(ParseCursor& cursor, TokenKind closer) {
  auto params = cursor.list<Param>();
  ParamState state{.annotated = closer == TokenKind::RParen};
  while (!cursor.at(closer)) {
    if (state.ended) return fail(cursor.unexpected("no parameter after the one with `**`"));
    if (cursor.at(TokenKind::Slash))
      WW_TRY_VOID(parse_slash(cursor, params, state));
    else if (cursor.at(TokenKind::Star))
      WW_TRY_VOID(parse_star(cursor, params, state));
    else
      WW_TRY_VOID(parse_parameter(cursor, params, state));
    if (!cursor.accept(TokenKind::Comma)) break;
  }
  return params.finish();
}

// --- names, numbers, brackets --------------------------------------------------------------------

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

// --- strings -------------------------------------------------------------------------------------

namespace {

// A string while its pieces are read. Text between two fields is one part, however many literals it
// comes from.
struct StringParts {
  explicit StringParts(ListBuilder<ExprId>& list) : items(list) {}

  void extend(Place piece) {
    if (!text_place) text_place = piece;
    text_place->end = piece.end;
  }

  ListBuilder<ExprId>& items;
  std::string text;                 // since the last field
  std::optional<Place> text_place;  // where it comes from
};

// Makes a part of the text collected.
Result<void> flush_text(ParseCursor& cursor, StringParts& parts) {
  if (!parts.text.empty()) {
    Expr out{.kind = ExprKind::String, .place = *parts.text_place};
    out.text = cursor.add_string(std::exchange(parts.text, {}));
    parts.items.add(WW_TRY(cursor.add(out)));
  }
  parts.text_place.reset();
  return {};
}

Result<void> parse_plain_string(ParseCursor& cursor, StringParts& parts) {
  const Token token = cursor.take();
  const std::string_view whole = cursor.text_of(token);
  const Quotes quotes = quotes_of(whole);
  const std::string_view inner =
      whole.substr(quotes.length, whole.size() - quotes.length - quotes.closing());
  parts.extend(place_of(token));
  return append_string(parts.text, inner, quotes, token.begin + quotes.length);
}

Result<char> parse_conversion(ParseCursor& cursor) {
  cursor.take();
  const std::string_view text = cursor.text_of(cursor.here());
  if (text != "r" && text != "s" && text != "a")
    return fail(cursor.unexpected("`r`, `s` or `a` after `!`"));
  cursor.take();
  return text[0];
}

Result<void> parse_text_or_field(ParseCursor& cursor, StringParts& parts, const Quotes& quotes);

Result<ExprId> parse_format_spec(ParseCursor& cursor, const Quotes& quotes) {
  const std::uint32_t begin = cursor.back(1).end;
  auto items = cursor.list<ExprId>();
  StringParts parts(items);
  while (cursor.at(TokenKind::FStringText) || cursor.at(TokenKind::LBrace))
    WW_TRY_VOID(parse_text_or_field(cursor, parts, quotes));
  WW_TRY_VOID(flush_text(cursor, parts));
  Expr out{.kind = ExprKind::FString, .place = cursor.place_from(begin)};
  out.items = items.finish();
  return cursor.add(out);
}

// `{value = !r :format}`; a `=` keeps the text before it.
Result<void> parse_field(ParseCursor& cursor, StringParts& parts, const Quotes& quotes) {
  WW_TRY_VOID(cursor.check_depth());
  const auto level = cursor.deeper();
  const Token opener = cursor.take();
  Expr out{.kind = ExprKind::Formatted};
  out.a = WW_TRY(parse_value(cursor));
  const bool shows_text = cursor.accept(TokenKind::Assign);
  if (shows_text) {
    const Place shown{opener.end, cursor.here().begin};
    parts.extend(shown);
    parts.text += cursor.text_between(shown.begin, shown.end);
  }
  WW_TRY_VOID(flush_text(cursor, parts));
  if (cursor.at(TokenKind::Bang)) out.conversion = WW_TRY(parse_conversion(cursor));
  if (cursor.accept(TokenKind::Colon)) out.b = WW_TRY(parse_format_spec(cursor, quotes));
  if (!cursor.at(TokenKind::RBrace)) return fail(cursor.unexpected_in("`!`, `:` or `}`", opener));
  cursor.take();
  if (shows_text && out.conversion == 0 && !out.b.valid()) out.conversion = 'r';
  out.place = cursor.place_from(opener.begin);
  parts.items.add(WW_TRY(cursor.add(out)));
  return {};
}

Result<void> parse_text_or_field(ParseCursor& cursor, StringParts& parts, const Quotes& quotes) {
  if (cursor.at(TokenKind::LBrace)) return parse_field(cursor, parts, quotes);
  const Token text = WW_TRY(cursor.expect(TokenKind::FStringText, "the text of a string"));
  parts.extend(place_of(text));
  return append_string(parts.text, cursor.text_of(text), quotes, text.begin);
}

Result<void> parse_format_string(ParseCursor& cursor, StringParts& parts) {
  const Quotes quotes = quotes_of(cursor.text_of(cursor.here()));
  cursor.take();
  while (!cursor.at(TokenKind::FStringEnd)) WW_TRY_VOID(parse_text_or_field(cursor, parts, quotes));
  cursor.take();
  return {};
}

}  // namespace

Result<ExprId> parse_strings(ParseCursor& cursor) {
  const Token first = cursor.here();
  const bool is_bytes = quotes_of(cursor.text_of(first)).bytes;
  bool is_format = false;
  auto items = cursor.list<ExprId>();
  StringParts parts(items);
  while (cursor.at(TokenKind::String) || cursor.at(TokenKind::FStringBegin)) {
    if (quotes_of(cursor.text_of(cursor.here())).bytes != is_bytes)
      return fail_at(cursor.here().span(), DiagKind::Syntax,
                     "found bytes and text strings side by side");
    if (cursor.at(TokenKind::String)) {
      WW_TRY_VOID(parse_plain_string(cursor, parts));
    } else {
      is_format = true;
      WW_TRY_VOID(parse_format_string(cursor, parts));
    }
  }
  Expr out{.kind = ExprKind::String, .place = cursor.place_from(first.begin)};
  if (is_format) {
    WW_TRY_VOID(flush_text(cursor, parts));
    out.kind = ExprKind::FString;
    out.items = items.finish();
  } else {
    out.text = cursor.add_string(std::move(parts.text));
  }
  return cursor.add(out);
}

}  // namespace ww::script
