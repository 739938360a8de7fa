// SPDX-License-Identifier: Apache-2.0
// Arguments and parameters.
#include <set>
#include <utility>

#include "script/syntax/expr_parser.h"

namespace ww::script {

// --- arguments ----------------------------------------------------------------------------------

struct ExprParser::ArgState {
  bool has_keyword = false;
  bool has_double_star = false;
};

Result<ListOf<Arg>> ExprParser::arguments(const Token& opener) {
  auto args = cursor_.arg_list();
  ArgState state;
  while (!cursor_.at(TokenKind::RParen)) {
    const std::uint32_t begin = cursor_.here().begin;
    Arg arg = WW_TRY(argument());
    if (arg.kind == Arg::Kind::Plain && at_clause()) {
      arg.value = WW_TRY(generator(begin, arg.value));
      const bool is_alone = args.size() == 0 && !cursor_.at(TokenKind::Comma);
      if (!is_alone)
        return fail(diag(DiagKind::Syntax,
                         "found a generator beside other arguments, expected it in parentheses")
                        .with_span(cursor_.ast()[arg.value].place.span()));
    }
    WW_TRY_VOID(check_order(state, arg));
    args.add(arg);
    if (!cursor_.accept(TokenKind::Comma)) break;
  }
  if (!cursor_.at(TokenKind::RParen)) return fail(no_argument(opener));
  cursor_.take();
  return args.finish();
}

Diag ExprParser::no_argument(const Token& opener) const {
  Diag out = cursor_.unexpected_in("`,` or `)`", opener);
  if (cursor_.at(TokenKind::Assign))
    out.notes.push_back({"a keyword argument has a plain name before `=`; `==` compares", {}});
  return out;
}

Result<Arg> ExprParser::argument() {
  Arg out;
  if (cursor_.accept(TokenKind::Star)) {
    out.kind = Arg::Kind::Star;
    out.value = WW_TRY(expression());
  } else if (cursor_.accept(TokenKind::Power)) {
    out.kind = Arg::Kind::DoubleStar;
    out.value = WW_TRY(expression());
  } else if (cursor_.ahead(1).kind == TokenKind::Assign &&
             (cursor_.at(TokenKind::Name) || is_keyword(cursor_.kind()))) {
    const Token name = WW_TRY(cursor_.expect_name("the name of an argument"));
    cursor_.take();
    out.kind = Arg::Kind::Keyword;
    out.name = cursor_.intern(name);
    out.name_place = ParseCursor::place_of(name);
    out.value = WW_TRY(expression());
  } else {
    out.value = WW_TRY(named_expression());
  }
  return out;
}

// What may stand behind keyword arguments and `**`.
Result<void> ExprParser::check_order(ArgState& state, const Arg& arg) {
  const bool is_plain = arg.kind == Arg::Kind::Plain;
  const bool is_bad = (is_plain && (state.has_keyword || state.has_double_star)) ||
                      (arg.kind == Arg::Kind::Star && state.has_double_star);
  state.has_keyword |= arg.kind == Arg::Kind::Keyword;
  state.has_double_star |= arg.kind == Arg::Kind::DoubleStar;
  if (!is_bad) return {};
  return fail(diag(DiagKind::Syntax, "found {} after {}",
                   is_plain ? "a positional argument" : "an argument with `*`",
                   state.has_double_star ? "one with `**`" : "a keyword argument")
                  .with_span(cursor_.ast()[arg.value].place.span()));
}

// --- parameters ---------------------------------------------------------------------------------

struct ExprParser::ParamState {
  Param::Kind kind = Param::Kind::Plain;  // of the next one
  bool annotated = false;                 // whether annotations may stand here
  bool has_slash = false;
  bool has_star = false;
  bool has_default = false;  // of a parameter before the star
  bool ended = false;        // by `**kwargs`
  std::set<std::uint32_t> names = {};
};

Result<ListOf<Param>> ExprParser::parameters(TokenKind closer) {
  auto params = cursor_.param_list();
  ParamState state{.annotated = closer == TokenKind::RParen};
  while (!cursor_.at(closer)) {
    if (state.ended) return fail(cursor_.unexpected("no parameter after the one with `**`"));
    if (cursor_.at(TokenKind::Slash))
      WW_TRY_VOID(slash(params, state));
    else if (cursor_.at(TokenKind::Star))
      WW_TRY_VOID(star(params, state));
    else
      WW_TRY_VOID(parameter(params, state));
    if (!cursor_.accept(TokenKind::Comma)) break;
  }
  return params.finish();
}

// All parameters so far are positional only.
Result<void> ExprParser::slash(ListBuilder<Param>& params, ParamState& state) {
  if (params.size() == 0) return fail(cursor_.unexpected("a parameter before `/`"));
  if (state.has_slash || state.has_star) return fail(cursor_.unexpected("one `/`, before `*`"));
  cursor_.take();
  state.has_slash = true;
  for (std::size_t i = 0; i < params.size(); ++i) params[i].kind = Param::Kind::PositionalOnly;
  return {};
}

// `*args`, or `*` alone before parameters that take keywords only.
Result<void> ExprParser::star(ListBuilder<Param>& params, ParamState& state) {
  if (state.has_star) return fail(cursor_.unexpected("no second `*`"));
  const Token star = cursor_.take();
  state.has_star = true;
  state.kind = Param::Kind::KeywordOnly;
  if (!cursor_.at(TokenKind::Comma)) {
    params.add(WW_TRY(named_parameter(Param::Kind::Star, star.begin, state)));
    return {};
  }
  if (cursor_.ahead(1).kind != TokenKind::Name) {
    cursor_.take();
    return fail(cursor_.unexpected("a parameter after `*,`"));
  }
  return {};
}

Result<void> ExprParser::parameter(ListBuilder<Param>& params, ParamState& state) {
  const Token first = cursor_.here();
  state.ended = cursor_.accept(TokenKind::Power);
  const Param::Kind kind = state.ended ? Param::Kind::DoubleStar : state.kind;
  const Param param = WW_TRY(named_parameter(kind, first.begin, state));
  if (kind == Param::Kind::Plain) {
    if (state.has_default && !param.default_value.valid())
      return fail(
          diag(DiagKind::Syntax, "found a parameter without a default after one that has one")
              .with_span(param.place.span()));
    state.has_default = param.default_value.valid();
  }
  params.add(param);
  return {};
}

// The cursor is at the name; `begin` is where its stars are.
Result<Param> ExprParser::named_parameter(Param::Kind kind, std::uint32_t begin,
                                          ParamState& state) {
  const Token name = WW_TRY(cursor_.expect_name("the name of a parameter"));
  if (!state.names.insert(cursor_.intern(name).index).second)
    return fail(diag(DiagKind::Syntax, "found a second parameter `{}`", cursor_.text_of(name))
                    .with_span(ParseCursor::place_of(name).span()));
  const bool has_stars = kind == Param::Kind::Star || kind == Param::Kind::DoubleStar;
  Param out{.kind = kind, .name = cursor_.intern(name)};
  if (state.annotated && cursor_.accept(TokenKind::Colon)) {
    const bool is_starred = kind == Param::Kind::Star && cursor_.at(TokenKind::Star);
    out.annotation = is_starred ? WW_TRY(starred()) : WW_TRY(expression());
  }
  if (cursor_.at(TokenKind::Assign)) {
    if (has_stars) return fail(cursor_.unexpected("no default for a parameter with `*`"));
    cursor_.take();
    out.default_value = WW_TRY(expression());
  }
  out.place = cursor_.place_from(begin);
  return out;
}

}  // namespace ww::script
