// SPDX-License-Identifier: Apache-2.0
// Arguments and parameters.
#include <set>
#include <utility>

#include "script/syntax/errors.h"
#include "script/syntax/expr_parser.h"

namespace ww::script {
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

}  // namespace ww::script
