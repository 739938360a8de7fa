// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/declarations.h"

#include <array>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "driver/args/text.h"

namespace ww::driver {
namespace {

using layout::Axis;
using layout::AxisKind;

struct Declaration {
  Piece name;
  std::vector<Piece> parts;
};

// NAME=PART:PART:…
Result<Declaration> parse_declaration(std::string_view text, std::string_view expected) {
  const Piece whole = trimmed({text, 0});
  const auto sides = cut_first(whole, '=');
  if (!sides || sides->first.empty() || sides->second.empty())
    return fail(diag(DiagKind::Syntax, "expected {}, found `{}`", expected, whole.text)
                    .with_span(whole.span()));
  return Declaration{sides->first, split_top(sides->second, ':')};
}

struct KindName {
  std::string_view name;
  AxisKind kind;
};
constexpr std::array kAxisKinds = {KindName{"thread", AxisKind::Thread},
                                   KindName{"memory", AxisKind::Memory},
                                   KindName{"device", AxisKind::Device}};

Result<AxisKind> parse_kind(Piece piece) {
  std::vector<std::string_view> names;
  for (const KindName& row : kAxisKinds) {
    if (row.name == piece.text) return row.kind;
    names.push_back(row.name);
  }
  return fail(diag(DiagKind::UnknownName,
                   "`{}` is not a kind of axis; accepted: thread, memory, device{}", piece.text,
                   did_you_mean(piece.text, names))
                  .with_span(piece.span()));
}

Result<Axis> make_axis(const Declaration& declaration, AxisKind kind) {
  const std::vector<Piece>& parts = declaration.parts;
  if (parts.size() == 1)
    return located(Axis::declare(declaration.name.text, kind), declaration.name);
  const std::int64_t divisor = WW_TRY(parse_int(parts[1]));
  const std::int64_t modulus = parts.size() > 2 ? WW_TRY(parse_int(parts[2])) : 0;
  return located(Axis::declare_cta_thread(declaration.name.text, divisor, modulus),
                 declaration.name);
}

Result<std::int64_t> parse_positive(Piece piece) {
  const std::int64_t value = WW_TRY(parse_int(piece));
  if (value >= 1) return value;
  return fail(diag(DiagKind::BadArgument, "the divisor is {}; it must be at least 1", value)
                  .with_span(piece.span()));
}

std::int64_t round_down(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

// The smallest and largest multiple of `step` in [begin, end); max < min when there is none.
layout::Range multiples_in(std::int64_t begin, std::int64_t end, std::int64_t step) {
  return {-round_down(-begin, step), round_down(end - 1, step)};
}

Diag declared_twice(Piece name) {
  return diag(DiagKind::BadArgument, "`{}` is declared twice", name.text).with_span(name.span());
}

}  // namespace

Result<void> declare_axis(std::string_view text, layout::Names& names) {
  const Declaration declaration =
      WW_TRY(parse_declaration(text, "NAME=KIND, as in `reg=memory` or `quad=thread:4:8`"));
  const std::vector<Piece>& parts = declaration.parts;
  const AxisKind kind = WW_TRY(parse_kind(parts[0]));
  if (parts.size() > 3 || (parts.size() > 1 && kind != AxisKind::Thread))
    return fail(
        diag(DiagKind::BadArgument, "only thread axes take numbers, a divisor and a modulus")
            .with_span(parts[kind == AxisKind::Thread ? 3 : 1].span()));
  const Axis axis = WW_TRY(make_axis(declaration, kind));
  if (!names.axes.emplace(declaration.name.text, axis).second)
    return fail(declared_twice(declaration.name));
  return {};
}

Result<void> declare_variable(std::string_view text, layout::Names& names) {
  const Declaration declaration =
      WW_TRY(parse_declaration(text, "NAME=BEGIN:END[:MULTIPLE], as in `k=0:8`"));
  const std::vector<Piece>& parts = declaration.parts;
  if (parts.size() < 2 || parts.size() > 3)
    return fail(diag(DiagKind::Syntax,
                     "expected BEGIN:END or BEGIN:END:MULTIPLE, found {} number{}", parts.size(),
                     parts.size() == 1 ? "" : "s")
                    .with_span(parts[0].span()));
  const std::int64_t begin = WW_TRY(parse_int(parts[0]));
  const std::int64_t end = WW_TRY(parse_int(parts[1]));
  const std::int64_t multiple = parts.size() == 3 ? WW_TRY(parse_positive(parts[2])) : 1;
  const layout::Range range = multiples_in(begin, end, multiple);
  if (range.max < range.min)
    return fail(
        diag(DiagKind::BadArgument, "no multiple of {} is in the range {}:{}", multiple, begin, end)
            .with_span(parts[0].span()));
  const layout::Sym symbol =
      WW_TRY(located(layout::Sym::make(declaration.name.text, range, multiple), declaration.name));
  if (!names.symbols.emplace(declaration.name.text, symbol).second)
    return fail(declared_twice(declaration.name));
  return {};
}

}  // namespace ww::driver
