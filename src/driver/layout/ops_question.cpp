// SPDX-License-Identifier: Apache-2.0
// Questions: where an element is, who is at a place, and what is known about all places together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/image.h"
#include "view/json.h"

namespace ww::driver {
namespace {

using layout::Axis;
using layout::Expr;
using layout::Place;
using layout::Shape;

// ---- coordinates

Result<std::vector<Expr>> parse_coordinate(const LayoutState& state, Piece arguments) {
  std::vector<Expr> values;
  for (const Piece& piece : split_top(unwrapped(arguments), ','))
    values.push_back(WW_TRY(parse_expr_at(piece, state.names)));
  return values;
}

bool is_constant(const std::vector<Expr>& values) {
  return std::all_of(values.begin(), values.end(), [](const Expr& e) { return e.is_constant(); });
}

Shape constants(const std::vector<Expr>& values) {
  Shape out;
  for (const Expr& value : values) out.push_back(value.constant());
  return out;
}

// A single number is a flat index, several are a coordinate in the shape.
Result<std::int64_t> flat_index(const LayoutState& state, const Shape& values) {
  if (values.size() != 1 || state.shape.size() == 1) return layout::flatten(values, state.shape);
  if (values[0] >= 0 &&
      (state.layout.tile().has_unknown_extent() || values[0] < state.layout.size()))
    return values[0];
  return fail(DiagKind::OutOfBounds, "flat index {} is not in 0..{}", values[0],
              state.layout.size() - 1);
}

// ---- where an element is

std::string places_words(const std::vector<Place>& places) {
  std::string out;
  for (const Place& place : places) out += (out.empty() ? "" : " | ") + place_words(place);
  return out;
}

Json places_json(const std::vector<Place>& places) {
  Json out = Json::array();
  for (const Place& place : places) out.push_back(view::place_json(place));
  return out;
}

Result<void> apply_symbolic(LayoutState& state, const std::vector<Expr>& coordinate) {
  const bool is_flat = coordinate.size() == 1 && state.shape.size() != 1;
  const Shape shape = is_flat ? Shape{state.layout.size()} : state.shape;
  const auto place = WW_TRY(layout::apply_symbolic(state.layout, coordinate, shape));
  std::string text;
  Json json = Json::object();
  for (const auto& [axis, value] : place.values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name(), value.text());
    json[axis.name()] = value.text();
  }
  if (state.layout.is_swizzled()) text += " (m before the swizzle)";
  add_answer(state, std::move(text), std::move(json));
  return {};
}

Result<void> apply(LayoutState& state, Piece arguments) {
  const auto coordinate = WW_TRY(parse_coordinate(state, arguments));
  if (!is_constant(coordinate) || !state.layout.tile().offset().is_constant())
    return apply_symbolic(state, coordinate);
  const std::int64_t flat = WW_TRY(flat_index(state, constants(coordinate)));
  const auto places = WW_TRY(layout::apply_all(state.layout, flat));
  add_answer(state, places_words(places), places_json(places));
  return {};
}

Result<void> apply_digits(LayoutState& state, Piece arguments) {
  const Shape digits = WW_TRY(parse_ints(arguments));
  const Place place = WW_TRY(layout::apply_digits(state.layout, digits));
  add_answer(state, place_words(place), view::place_json(place));
  return {};
}

Result<void> digits(LayoutState& state, Piece arguments) {
  const Shape values = WW_TRY(parse_ints(arguments));
  const std::int64_t flat = WW_TRY(flat_index(state, values));
  const bool is_flat = values.size() == 1 && state.shape.size() != 1;
  const Shape found = is_flat ? layout::split_digits(state.layout.tile(), flat)
                              : WW_TRY(layout::digits_in_shape(state.layout, values, state.shape));
  add_answer(state, layout::shape_text(found), found);
  return {};
}

// ---- who is at a place

// AXIS=VALUE,…; a bare VALUE is on the only axis, or on `m`.
Result<Place> parse_place(const LayoutState& state, Piece arguments) {
  Place place;
  for (const Piece& piece : split_top(arguments, ',')) {
    const auto sides = cut_first(piece, '=');
    const Axis axis = sides ? WW_TRY(find_own_axis(sides->first, state.layout, state.names))
                            : WW_TRY(bare_axis(piece, state.layout));
    const std::int64_t value = WW_TRY(parse_int(sides ? sides->second : piece));
    const bool is_twice = std::any_of(place.begin(), place.end(),
                                      [&](const auto& known) { return known.axis == axis; });
    if (is_twice)
      return fail(diag(DiagKind::BadArgument, "axis `{}` is given twice", axis.name())
                      .with_span(piece.span()));
    place.push_back({axis, value});
  }
  return place;
}

// The elements with a copy there, ascending; axes that `place` leaves out may have any value.
Result<std::vector<std::int64_t>> elements_on(const layout::Layout& layout, const Place& place) {
  const layout::Image image = WW_TRY(layout::enumerate(layout));
  // A layout without axes has all elements at 0.
  const auto value_on = [&](Axis axis, std::size_t i) {
    return image.axes.empty() ? 0 : image.on(axis)[i];
  };
  std::vector<bool> is_there(static_cast<std::size_t>(image.size), false);
  for (std::int64_t i = 0; i < image.size * image.copies; ++i) {
    const auto at = static_cast<std::size_t>(i);
    is_there[at % is_there.size()] =
        is_there[at % is_there.size()] ||
        std::all_of(place.begin(), place.end(),
                    [&](const auto& given) { return value_on(given.axis, at) == given.value; });
  }
  std::vector<std::int64_t> out;
  for (std::int64_t x = 0; x < image.size; ++x)
    if (is_there[static_cast<std::size_t>(x)]) out.push_back(x);
  return out;
}

Result<void> at(LayoutState& state, Piece arguments) {
  const Place place = WW_TRY(parse_place(state, arguments));
  const auto elements = WW_TRY(elements_on(state.layout, place));
  std::string text;
  Json json = Json::array();
  for (const std::int64_t flat : elements) {
    const Shape coordinate = layout::unflatten(flat, state.shape);
    text += (text.empty() ? "" : " ") + layout::shape_text(coordinate);
    json.push_back(coordinate);
  }
  add_answer(state, text.empty() ? "nothing" : text, std::move(json));
  return {};
}

// ---- equality

Result<void> equal(LayoutState& state, Piece arguments) {
  const NotatedLayout other = WW_TRY(parse_notation_at(arguments, state.names));
  const bool same = WW_TRY(layout::same_places(state.layout, other.layout));
  add_answer(state, same ? "yes" : "no", same, same);
  return {};
}

Result<void> trivial(LayoutState& state, Piece) {
  add_claim(state, layout::is_trivial(state.layout));
  return {};
}

// ---- numbers

Result<void> require_known(const LayoutState& state) {
  if (!state.layout.tile().has_unknown_extent()) return {};
  return fail(DiagKind::NeedsConstant, "the first extent is only known at run time");
}

Result<void> size(LayoutState& state, Piece arguments) {
  WW_TRY_VOID(require_known(state));
  if (arguments.empty()) {
    add_number(state, state.layout.size());
    return {};
  }
  const Axis axis = WW_TRY(find_own_axis(arguments, state.layout, state.names));
  add_number(state, layout::size_on(state.layout.tile(), axis));
  return {};
}

Result<void> span(LayoutState& state, Piece arguments) {
  WW_TRY_VOID(require_known(state));
  if (arguments.empty()) {
    add_number(state, WW_TRY(layout::memory_span(state.layout)));
    return {};
  }
  const Axis axis = WW_TRY(find_own_axis(arguments, state.layout, state.names));
  add_number(state, WW_TRY(layout::span_on(state.layout, axis)));
  return {};
}

Result<void> copies(LayoutState& state, Piece) {
  add_number(state, WW_TRY(layout::image_facts(state.layout)).copies);
  return {};
}

// ---- the image

std::string collision_words(const LayoutState& state, const layout::Collision& collision) {
  return fmt::format("{} and {} are both at {}",
                     layout::shape_text(layout::unflatten(collision.first, state.shape)),
                     layout::shape_text(layout::unflatten(collision.second, state.shape)),
                     place_words(collision.place));
}

Result<void> injective(LayoutState& state, Piece) {
  const auto facts = WW_TRY(layout::image_facts(state.layout));
  add_claim(state, facts.is_injective,
            facts.collision ? collision_words(state, *facts.collision) : std::string());
  return {};
}

Result<void> coverage(LayoutState& state, Piece) {
  const auto facts = WW_TRY(layout::image_facts(state.layout));
  add_answer(state,
             fmt::format("{} places of a box of {}{}", facts.places, facts.box,
                         facts.is_onto_box ? ", all of it" : ""),
             {{"places", facts.places}, {"box", facts.box}, {"onto", facts.is_onto_box}});
  return {};
}

Result<void> extent(LayoutState& state, Piece) {
  const auto facts = WW_TRY(layout::image_facts(state.layout));
  std::string text;
  for (const layout::AxisExtent& side : facts.extents)
    text += fmt::format("{}{} {}..{} ({} values)", text.empty() ? "" : ", ", side.axis.name(),
                        side.min, side.max, side.distinct);
  add_answer(state, text.empty() ? "no axis" : text, view::extents_json(facts));
  return {};
}

constexpr std::string_view kCaseStudy =
    "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid";
constexpr std::string_view kFragment = "S[(8,4,2):(4@laneid,1@laneid,1)]";

constexpr std::array kQuestionOps = {
    LayoutOp{"apply", "", "COORDINATE",
             "the places of an element; a single number is its flat index", kCaseStudy, "apply:1,3",
             apply},
    LayoutOp{"apply_digits", "", "DIGIT,...", "the place of an element given by one digit per iter",
             kFragment, "apply_digits:1,1,1", apply_digits},
    LayoutOp{"digits", "", "COORDINATE", "an element's digits over the iters",
             "S[(16,4,4):(16,4,1)]", "digits:5,7", digits},
    LayoutOp{"at", "", "AXIS=VALUE,...",
             "the elements held at a place; axes left out may have any value", kFragment,
             "at:laneid=5,m=1", at},
    LayoutOp{"equal", "same", "NOTATION", "are the places the same? If not, the exit status is 1",
             "S[(8,8):(8,1)]", "equal:S[64:1]", equal},
    LayoutOp{"trivial", "", "", "are elements contiguous from 0 on one memory axis?",
             "S[(8,8):(8,1)]", "trivial", trivial},
    LayoutOp{"size", "", "[AXIS]", "number of elements, or of those that an axis tells apart",
             kFragment, "size:laneid", size},
    LayoutOp{"span", "", "[AXIS]", "storage to reserve: one past the largest value on an axis",
             "S[(8,6):(8,1)]", "span", span},
    LayoutOp{"copies", "", "", "different places per element", kCaseStudy, "copies", copies},
    LayoutOp{"injective", "", "", "does every place hold one element only?", "S[(4,4):(2,1)]",
             "injective", injective},
    LayoutOp{"coverage", "", "", "how much of the box around the places is used", "S[(8,6):(8,1)]",
             "coverage", coverage},
    LayoutOp{"extent", "", "", "smallest, largest and number of values on each axis", kCaseStudy,
             "extent", extent},
};

}  // namespace

std::span<const LayoutOp> question_ops() { return kQuestionOps; }

}  // namespace ww::driver
