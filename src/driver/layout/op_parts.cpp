// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/op_parts.h"

#include <fmt/format.h>

namespace ww::driver {

using layout::Shape;

Result<ShapedLayout> parse_shaped(Piece piece, const layout::Names& names) {
  const auto parts = cut_last(piece, '/');
  NotatedLayout notated = WW_TRY(parse_notation_at(parts ? parts->first : piece, names));
  if (!parts) {
    Shape shape = written_shape(notated);
    return ShapedLayout{std::move(notated.layout), std::move(shape)};
  }
  Shape shape = WW_TRY(parse_shape_at(parts->second));
  WW_TRY_VOID(located(layout::require_admitted(notated.layout.tile(), shape), parts->second));
  return ShapedLayout{std::move(notated.layout), std::move(shape)};
}

void set_layout(LayoutState& state, layout::Layout layout, Shape shape) {
  const bool fits = layout::require_admitted(layout.tile(), shape).has_value();
  state.shape = fits ? std::move(shape) : reading_shape(layout);
  state.layout = std::move(layout);
}

void add_answer(LayoutState& state, std::string text, Json json, bool holds) {
  state.answers.push_back(
      {.op = {}, .text = std::move(text), .json = std::move(json), .holds = holds});
}

void add_number(LayoutState& state, std::int64_t number) {
  add_answer(state, fmt::format("{}", number), number);
}

void add_claim(LayoutState& state, bool is_true, const std::string& why_not) {
  std::string text = is_true ? "yes" : "no";
  if (!is_true && !why_not.empty()) text += ": " + why_not;
  add_answer(state, std::move(text), is_true);
}

std::string place_words(const layout::Place& place) {
  std::string out;
  for (const auto& [axis, value] : place)
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", axis.name(), value);
  return out.empty() ? "origin" : out;
}

Shape product(const Shape& a, const Shape& b) {
  Shape out;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) out.push_back(a[i] * b[i]);
  return out;
}

Result<Shape> quotient(const Shape& whole, const Shape& part) {
  if (whole.size() != part.size())
    return fail(DiagKind::RankMismatch, "shape {} has {} dimensions and part {} has {}",
                layout::shape_text(whole), whole.size(), layout::shape_text(part), part.size());
  Shape out;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] % part[i] != 0)
      return fail(DiagKind::Indivisible, "extent {} of dimension {} is not a multiple of {}",
                  whole[i], i, part[i]);
    out.push_back(whole[i] / part[i]);
  }
  return out;
}

}  // namespace ww::driver
