// SPDX-License-Identifier: Apache-2.0
#include "script/interp/host_expr.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "script/interp/evaluator.h"
#include "script/syntax/parser.h"

namespace ww::script {
namespace {

constexpr int kMaxHostNesting = 16;  // of tuples; a list may even hold itself

Result<HostValue> spelled(const Value& value, int depth = 0) {
  switch (value.kind) {
    case Kind::None:
      return HostValue{};
    case Kind::Bool:
      return HostValue{value.truth};
    case Kind::Float:
      return HostValue{value.real};
    case Kind::Str:
      return HostValue{value.as<StrObject>().text};
    case Kind::Int:
      if (value.integer < std::numeric_limits<std::int64_t>::min() ||
          value.integer > std::numeric_limits<std::int64_t>::max())
        return fail(DiagKind::Overflow, "the number leaves 64 bits");
      return HostValue{static_cast<std::int64_t>(value.integer)};
    case Kind::Tuple:
    case Kind::List: {
      if (depth == kMaxHostNesting)
        return fail(DiagKind::TooLarge, "tuples are nested deeper than {}", kMaxHostNesting);
      HostValue::Tuple items;
      for (const Value& item : value.as<SeqObject>().items)
        items.push_back(WW_TRY(spelled(item, depth + 1)));
      return HostValue{std::move(items)};
    }
    default:
      return fail(DiagKind::BadType,
                  "the expression gives {}, expected a number, a text, True, False or a tuple",
                  type_name(value));
  }
}

}  // namespace

Result<HostValue> evaluate_host(std::string_view expression, std::span<const HostName> names) {
  std::string text;
  for (const HostName& each : names) text += fmt::format("{} = ({})\n", each.name, each.value);
  SymbolTable symbols;
  Unit module{.ast = WW_TRY(parse_file(text, symbols))};
  // Places in the expression count from 0, which is what callers want; none of the module's is
  // ever shown.
  ExprId root;
  Unit unit{.ast = WW_TRY(parse_expression(expression, symbols, root))};
  Context in({}, Dialect::D2, std::move(symbols));
  WW_TRY_VOID(run_prelude(in, module));
  const Span whole = Span::at(0, expression.size());
  Result<Value> value = eval_in_module(in, unit, root);
  if (!value) return fail(std::move(value).error().with_span(whole));
  if (value->is(Kind::Opaque)) return fail(needs_opaque(in, {*value, whole}));
  Result<HostValue> out = spelled(*value);
  if (!out) return fail(std::move(out).error().with_span(whole));
  return out;
}

Result<void> check_host_syntax(std::string_view expression) {
  SymbolTable symbols;
  ExprId root;
  WW_TRY(parse_expression(expression, symbols, root));
  return {};
}

}  // namespace ww::script
