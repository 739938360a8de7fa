// SPDX-License-Identifier: Apache-2.0
// Texts from values: `str()` and f-strings.
#include "script/interp/format.h"

#include <fmt/format.h>

#include <charconv>

#include "base/fail_at.h"
#include "script/interp/expressions.h"

namespace ww::script {
namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 20U;
constexpr std::size_t kWidestField = 10000;
constexpr std::string_view kAlignments = "<>^";

// The largest number in a format specification: a width of a billion is a way to take all memory.
std::size_t largest_number(std::string_view spec) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    std::size_t number = 0;
    const char* begin = spec.data() + i;
    const auto [end, error] = std::from_chars(begin, spec.data() + spec.size(), number);
    if (error == std::errc::result_out_of_range) return kWidestField + 1;
    if (error == std::errc{}) largest = std::max(largest, number);
  }
  return largest;
}

// `,` and `_` between groups of three digits.
std::string grouped(const std::string& digits, char mark) {
  const std::size_t first = digits.find_first_of("0123456789");
  if (first == std::string::npos) return digits;
  const std::size_t end = std::min(digits.find_first_not_of("0123456789", first), digits.size());
  std::string out = digits.substr(0, first);
  for (std::size_t i = first; i < end; ++i) {
    if (i != first && (end - i) % 3 == 0) out += mark;
    out += digits[i];
  }
  return out + digits.substr(end);
}

// Python's format specifications are fmt's, as far as numbers and texts go.
std::string formatted(const Value& value, const std::string& text, std::string_view spec) {
  const std::string pattern = fmt::format("{{:{}}}", spec);
  if (value.is(Kind::Bool)) return fmt::format(fmt::runtime(pattern), value.truth ? 1 : 0);
  if (value.is(Kind::Int)) {
    constexpr std::string_view kReal = "eEfFgG%";
    if (kReal.find(spec.back()) != std::string_view::npos)
      return fmt::format(fmt::runtime(pattern), static_cast<double>(value.integer));
    return fmt::format(fmt::runtime(pattern), value.integer);
  }
  if (value.is(Kind::Float)) return fmt::format(fmt::runtime(pattern), value.real);
  return fmt::format(fmt::runtime(pattern), text);
}

Result<std::string> format_value(const Value& value, char conversion, std::string_view spec,
                                 Span where) {
  std::string text = WW_TRY(str_of(value, where));
  const bool is_repr = conversion == 'r' || conversion == 'a';
  if (is_repr && value.is(Kind::Str)) text = full_repr(value, text.size() + 1).value_or(text);
  if (spec.empty()) return text;
  const auto refused = [&](std::string_view why) {
    return fail_at(where, DiagKind::Opaque, "format `{}` of {}: {}", spec, type_name(value), why);
  };
  const bool aligns = kAlignments.find(spec[0]) != std::string_view::npos ||
                      (spec.size() > 1 && kAlignments.find(spec[1]) != std::string_view::npos);
  const bool is_number = value.is(Kind::Int) || value.is(Kind::Bool) || value.is(Kind::Float);
  const bool takes_format = is_number || value.is(Kind::Str) || value.is(Kind::DType) || is_repr;
  if (!takes_format) return refused(fmt::format("{} takes no format", type_name(value)));
  if (spec.find_first_of("{}") != std::string_view::npos) return refused("it has a brace");
  if (largest_number(spec) > kWidestField) return refused("it is too wide");
  try {
    if ((spec == "," || spec == "_") && is_number) return grouped(text, spec[0]);
    if (spec.ends_with('%') && is_number && !aligns) {
      const double real = value.is(Kind::Float) ? value.real : static_cast<double>(value.integer);
      const std::string digits = fmt::format("{}f", spec.substr(0, spec.size() - 1));
      return formatted(of_float(real * 100), "", digits) + "%";
    }
    const bool as_text = is_repr && !value.is(Kind::Str);
    return formatted(as_text ? none() : value, text, spec);
  } catch (const fmt::format_error& problem) {
    return refused(problem.what());
  }
}

}  // namespace

Result<std::string> str_of(const Value& value, Span where) {
  if (value.is(Kind::Str)) return std::string(text_of(value));
  if (std::optional<std::string> text = full_repr(value, kLongestText)) return *std::move(text);
  return fail_at(where, DiagKind::Budget, "the text of a {} is too long", type_name(value));
}

Result<Value> eval_fstring(Context& in, const Expr& e, Env& env) {
  std::string out;
  for (const ExprId id : in.ast().list(e.items)) {
    const Expr& part = in.ast()[id];
    if (part.kind == ExprKind::String) {
      out += in.ast().strings[part.text];
      continue;
    }
    const Value value = WW_TRY(eval(in, part.a, env));
    if (value.is(Kind::Opaque) || value.is(Kind::Poison)) return value;
    std::string spec;
    if (part.b.valid()) {
      const Value given = WW_TRY(eval(in, part.b, env));
      if (!given.is(Kind::Str)) return given;  // of an unknown value
      spec = std::string(text_of(given));
    }
    out += WW_TRY(format_value(value, part.conversion, spec, in.span(part.place)));
    if (!in.heap.has_room(out.size() / 8))
      return fail_at(in.span(part.place), DiagKind::Budget, "a text too long");
  }
  return in.heap.str(std::move(out));
}

}  // namespace ww::script
