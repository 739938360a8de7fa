// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "driver/layout/named_layouts.h"
#include "layout/algebra.h"
#include "layout/apply.h"
#include "layout/banks.h"
#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "layout/fit.h"
#include "layout/group.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/slice.h"
#include "layout/swizzle.h"
#include "layout/threads.h"
#include "layout/tile.h"
#include "layout/views.h"
#include "num/dtype.h"
#include "view/json.h"

namespace ww::driver {
namespace {

using layout::Axis;
using layout::BoxSide;
using layout::Expr;
using layout::Place;
using layout::Shape;
using layout::Slice1;

// Sets layout and shape; a shape that does not fit the layout becomes `reading_shape`.
void set_layout(LayoutState& state, layout::Layout layout, Shape shape) {
  const bool fits = layout::require_admitted(layout.tile(), shape).has_value();
  state.shape = fits ? std::move(shape) : reading_shape(layout);
  state.layout = std::move(layout);
}

void add_answer(LayoutState& state, std::string text, Json json, bool holds = true) {
  state.answers.push_back(
      {.op = {}, .text = std::move(text), .json = std::move(json), .holds = holds});
}

void add_number(LayoutState& state, std::int64_t number) {
  add_answer(state, fmt::format("{}", number), number);
}

void add_claim(LayoutState& state, bool is_true, const std::string& why_not = {}) {
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

// AXIS=VALUE,…; a bare VALUE is on the only axis, or on `m`.
Result<Place> parse_values(const LayoutState& state, Piece arguments,
                           Result<Axis> (*find)(Piece, const layout::Layout&,
                                                const layout::Names&)) {
  Place out;
  for (const Piece& piece : split_top(arguments, ',')) {
    const auto sides = cut_first(piece, '=');
    const Axis axis = sides ? WW_TRY(find(sides->first, state.layout, state.names))
                            : WW_TRY(bare_axis(piece, state.layout));
    const std::int64_t value = WW_TRY(parse_int(sides ? sides->second : piece));
    if (std::ranges::any_of(out, [&](const auto& known) { return known.axis == axis; }))
      return fail_at(piece.span(), DiagKind::BadArgument, "axis `{}` is given twice", axis.name());
    out.push_back({axis, value});
  }
  return out;
}

Result<std::vector<Expr>> parse_coordinate(const LayoutState& state, Piece arguments) {
  std::vector<Expr> values;
  for (const Piece& piece : split_top(unwrapped(arguments), ','))
    values.push_back(WW_TRY(parse_expr_at(piece, state.names)));
  return values;
}

// Element-wise product, and exact quotient, of shapes of equal rank.
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

// --- other spellings of the same places ----------------------------------------------------------

Result<void> canon(LayoutState& state, Piece) {
  state.layout = layout::canonicalize(state.layout);
  return {};
}

std::string seps_text(const layout::Seps& seps) {
  return layout::shape_text(std::vector<std::int64_t>(seps.begin(), seps.end()));
}

Result<void> group(LayoutState& state, Piece arguments) {
  layout::Shape shape = WW_TRY(parse_shape_at(arguments));
  layout::Grouped grouped = WW_TRY(layout::group(state.layout, shape));
  add_answer(state, "dimensions begin at iters " + seps_text(grouped.seps), grouped.seps);
  state.layout = std::move(grouped.layout);
  state.shape = std::move(shape);
  return {};
}

Result<void> group_many(LayoutState& state, Piece arguments) {
  std::vector<layout::Shape> shapes;
  for (const Piece& piece : split_top(arguments, '/'))
    shapes.push_back(WW_TRY(parse_shape_at(piece)));
  layout::GroupedMany grouped = WW_TRY(layout::group_many(state.layout, shapes));
  std::string text;
  for (const layout::Seps& seps : grouped.seps)
    text += (text.empty() ? "" : ", ") + seps_text(seps);
  add_answer(state, "dimensions begin at iters " + text, grouped.seps);
  state.layout = std::move(grouped.layout);
  state.shape = std::move(shapes.front());
  return {};
}

Result<void> refit(LayoutState& state, Piece) {
  if (!state.layout.tile().replica().empty())
    return fail(DiagKind::NotATile,
                "the layout has replicas, and `refit` reads one place per element");
  const layout::Image image = WW_TRY(layout::enumerate(state.layout));
  std::vector<layout::Column> columns;
  for (std::size_t i = 0; i < image.axes.size(); ++i)
    columns.push_back({image.axes[i], image.values[i]});
  state.layout = WW_TRY(layout::fit(columns));
  return {};
}

// --- thread axes: fused, split, and the scope they span ------------------------------------------

Result<void> require_machine(const LayoutState& state, std::string_view op) {
  if (state.machine != layout::Machine::None) return {};
  return fail(DiagKind::BadArgument, "`{}` rewrites CUDA thread axes, and the target is `none`",
              op);
}

Result<void> fuse(LayoutState& state, Piece) {
  WW_TRY_VOID(require_machine(state, "fuse"));
  state.layout = layout::fuse_threads(state.layout, state.machine);
  return {};
}

// WHOLE=OUTER,INNER
Result<void> split(LayoutState& state, Piece arguments) {
  const auto sides = cut_first(arguments, '=');
  const auto parts = sides ? split_top(sides->second, ',') : std::vector<Piece>{};
  if (parts.size() != 2)
    return fail_at(arguments.span(), DiagKind::Syntax,
                   "expected WHOLE=OUTER,INNER, as in `tx=warpid,laneid`, found `{}`",
                   arguments.text);
  const Axis whole = WW_TRY(find_own_axis(sides->first, state.layout, state.names));
  const Axis outer = WW_TRY(find_axis(parts[0], state.layout, state.names));
  const Axis inner = WW_TRY(find_axis(parts[1], state.layout, state.names));
  state.layout = WW_TRY(layout::split_threads(state.layout, whole, outer, inner));
  return {};
}

Result<void> split_like(LayoutState& state, Piece arguments) {
  WW_TRY_VOID(require_machine(state, "split_like"));
  const NotatedLayout like = WW_TRY(parse_notation_at(arguments, state.names));
  state.layout = WW_TRY(layout::split_like(state.layout, like.layout, state.machine));
  return {};
}

Result<void> scope(LayoutState& state, Piece) {
  const auto found = WW_TRY(layout::thread_scope(state.layout));
  const std::string text = found ? found->text() : "no thread axis";
  add_answer(state, text, found ? Json(text) : Json());
  return {};
}

// --- shapes, regions and dimensions --------------------------------------------------------------

Result<void> reshape(LayoutState& state, Piece arguments) {
  Shape shape = WW_TRY(parse_shape_at(arguments));
  WW_TRY_VOID(layout::require_admitted(state.layout.tile(), shape));
  state.shape = std::move(shape);
  return {};
}

// ---- slice

Diag open_end(Piece piece) {
  return diag_at(piece.span(), DiagKind::BadExtent,
                 "`{}` has no end, and the extent of its dimension is only known at "
                 "run time",
                 piece.text);
}

// BEGIN:END, with either side left out, or a single INDEX.
Result<Slice1> parse_range(Piece piece, std::int64_t extent, const layout::Names& names) {
  const auto sides = cut_first(piece, ':');
  if (!sides) return Slice1{WW_TRY(parse_expr_at(piece, names)), 1};
  const Expr begin = sides->first.empty() ? Expr(0) : WW_TRY(parse_expr_at(sides->first, names));
  const bool unknown_end = sides->second.empty() && extent == layout::kUnknownExtent;
  if (unknown_end && begin == Expr(0)) return Slice1{0, layout::kUnknownExtent};
  if (unknown_end) return fail(open_end(piece));
  const Expr end =
      sides->second.empty() ? Expr(extent) : WW_TRY(parse_expr_at(sides->second, names));
  const Expr length = end - begin;
  if (!length.is_constant())
    return fail_at(piece.span(), DiagKind::NeedsConstant,
                   "`{}` holds {} elements; the number must be constant", piece.text,
                   length.text());
  if (length.constant() < 1)
    return fail_at(piece.span(), DiagKind::BadExtent,
                   "`{}` holds {} elements; a region needs at least one", piece.text,
                   length.constant());
  return Slice1{begin, length.constant()};
}

Result<void> slice(LayoutState& state, Piece arguments) {
  const std::vector<Piece> pieces = split_top(arguments, ',');
  if (pieces.size() != state.shape.size())
    return fail_at(arguments.span(), DiagKind::RankMismatch,
                   "the region has rank {}, the shape {} has rank {}", pieces.size(),
                   layout::shape_text(state.shape), state.shape.size());
  std::vector<Slice1> region;
  Shape shape;
  for (std::size_t d = 0; d < pieces.size(); ++d) {
    region.push_back(WW_TRY(parse_range(pieces[d], state.shape[d], state.names)));
    shape.push_back(region.back().extent);
  }
  state.layout = WW_TRY(layout::slice(state.layout, state.shape, region, state.machine));
  state.shape = std::move(shape);
  return {};
}

// ---- permutations

Result<void> permute(LayoutState& state, Piece arguments) {
  const Shape order = WW_TRY(parse_ints(arguments));
  state.layout = WW_TRY(layout::permute_dims(state.layout, state.shape, order));
  Shape shape;
  for (const std::int64_t d : order) shape.push_back(state.shape[static_cast<std::size_t>(d)]);
  state.shape = std::move(shape);
  return {};
}

Result<void> permute_iters(LayoutState& state, Piece arguments) {
  const Shape order = WW_TRY(parse_ints(arguments));
  layout::Layout permuted = WW_TRY(layout::permute_iters(state.layout, order));
  state.shape = reading_shape(permuted);
  state.layout = std::move(permuted);
  return {};
}

// --- tiles and direct sums, made and recognised --------------------------------------------------

// ---- tiles

template <bool kScaled>
Result<void> tile(LayoutState& state, Piece arguments) {
  const ShapedLayout outer = WW_TRY(parse_shaped(arguments, state.names));
  state.layout = WW_TRY(layout::tile(state.layout, state.shape, outer.layout, outer.shape,
                                     {.scale_places = kScaled}));
  state.shape = product(outer.shape, state.shape);
  return {};
}

// TO or TO/FROM; FROM is the present shape unless it is given.
Result<void> tile_to(LayoutState& state, Piece arguments) {
  const auto sides = cut_first(arguments, '/');
  Shape to = WW_TRY(parse_shape_at(sides ? sides->first : arguments));
  const Shape from = sides ? WW_TRY(parse_shape_at(sides->second)) : state.shape;
  state.layout = WW_TRY(layout::tile_to(state.layout, to, from));
  state.shape = std::move(to);
  return {};
}

// The outer grid where the inner layout is known, and the other way round.
template <auto kOther>
Result<void> part_of_tile(LayoutState& state, Piece arguments) {
  const ShapedLayout known = WW_TRY(parse_shaped(arguments, state.names));
  Shape rest = WW_TRY(quotient(state.shape, known.shape));
  state.layout =
      WW_TRY(kOther(state.layout, state.shape, known.layout, known.shape, state.machine));
  state.shape = std::move(rest);
  return {};
}

// ---- direct sums

Result<void> direct_sum(LayoutState& state, Piece arguments) {
  const ShapedLayout right = WW_TRY(parse_shaped(arguments, state.names));
  state.layout = WW_TRY(layout::direct_sum(state.layout, state.shape, right.layout, right.shape));
  Shape interleaved;
  for (std::size_t d = 0; d < state.shape.size(); ++d) {
    interleaved.push_back(state.shape[d]);
    interleaved.push_back(right.shape[d]);
  }
  state.shape = std::move(interleaved);
  return {};
}

// The left part where the right one is known, and the other way round: every second dimension.
template <auto kOther, std::size_t kFirst>
Result<void> part_of_sum(LayoutState& state, Piece arguments) {
  const ShapedLayout known = WW_TRY(parse_shaped(arguments, state.names));
  layout::Layout part = WW_TRY(kOther(state.layout, state.shape, known.layout, known.shape));
  Shape shape;
  for (std::size_t d = kFirst; d < state.shape.size(); d += 2) shape.push_back(state.shape[d]);
  set_layout(state, std::move(part), std::move(shape));
  return {};
}

// --- what one thread stores, wider or narrower elements, repeated elements -----------------------

Result<void> storage(LayoutState& state, Piece) {
  layout::Layout kept = WW_TRY(layout::storage(state.layout));
  set_layout(state, std::move(kept), state.shape);
  return {};
}

struct Packing {
  std::int64_t n = 1;
  Axis axis;
};

// N or N,AXIS
Result<Packing> parse_packing(const LayoutState& state, Piece arguments) {
  const auto parts = split_top(arguments, ',');
  if (parts.size() > 2)
    return fail_at(arguments.span(), DiagKind::BadArgument,
                   "expected N or N,AXIS, found {} arguments", parts.size());
  Packing packing;
  packing.n = WW_TRY(parse_int(parts[0]));
  if (parts.size() == 2) packing.axis = WW_TRY(find_axis(parts[1], state.layout, state.names));
  return packing;
}

Result<void> unpack(LayoutState& state, Piece arguments) {
  const Packing packing = WW_TRY(parse_packing(state, arguments));
  layout::Layout finer = WW_TRY(layout::unpack(state.layout, packing.n, packing.axis));
  Shape shape = state.shape;
  if (shape.back() != layout::kUnknownExtent) shape.back() *= packing.n;
  set_layout(state, std::move(finer), std::move(shape));
  if (state.bits && *state.bits % packing.n != 0) state.bits.reset();
  if (state.bits) *state.bits /= static_cast<int>(packing.n);
  return {};
}

Result<void> pack(LayoutState& state, Piece arguments) {
  const Packing packing = WW_TRY(parse_packing(state, arguments));
  layout::Layout coarser = WW_TRY(layout::pack(state.layout, packing.n, packing.axis));
  Shape shape = state.shape;
  if (shape.back() != layout::kUnknownExtent) shape.back() /= packing.n;
  set_layout(state, std::move(coarser), std::move(shape));
  constexpr std::int64_t kWidest = 1024;
  if (state.bits && *state.bits * packing.n > kWidest) state.bits.reset();
  if (state.bits) *state.bits *= static_cast<int>(packing.n);
  return {};
}

// N, N,POSITION or N,POSITION,AXIS
Result<void> broadcast(LayoutState& state, Piece arguments) {
  const auto parts = split_top(arguments, ',');
  if (parts.size() > 3)
    return fail_at(arguments.span(), DiagKind::BadArgument,
                   "expected N, N,POSITION or N,POSITION,AXIS, found {} arguments", parts.size());
  const std::int64_t n = WW_TRY(parse_int(parts[0]));
  const std::int64_t position = parts.size() > 1 ? WW_TRY(parse_int(parts[1])) : -1;
  const Axis axis =
      parts.size() > 2 ? WW_TRY(find_axis(parts[2], state.layout, state.names)) : Axis();
  layout::Layout wider = WW_TRY(layout::broadcast(state.layout, n, position, axis));
  Shape shape = state.shape;
  if (position == -1) shape.push_back(n);
  set_layout(state, std::move(wider), std::move(shape));
  return {};
}

// --- layouts as functions: inverse, complement, composition, division ----------------------------

// ---- inverse

std::string box_words(const std::vector<BoxSide>& box) {
  std::string out;
  for (const BoxSide& side : box)
    out += fmt::format("{}{} {}..{}", out.empty() ? "" : ", ", side.axis.name(), side.first,
                       side.first + side.extent - 1);
  return out.empty() ? "one place" : out;
}

Json box_json(const std::vector<BoxSide>& box) {
  Json out = Json::array();
  for (const BoxSide& side : box)
    out.push_back({{"axis", side.axis.name()}, {"first", side.first}, {"extent", side.extent}});
  return out;
}

Result<void> inverse(LayoutState& state, Piece arguments) {
  std::vector<Axis> order;
  for (const Piece& piece : split_top(arguments, ','))
    order.push_back(WW_TRY(find_axis(piece, state.layout, state.names)));
  layout::Inverse inverted = WW_TRY(layout::inverse(state.layout, order));
  Shape shape;
  for (const BoxSide& side : inverted.box) shape.push_back(side.extent);
  add_answer(state, "from places " + box_words(inverted.box), box_json(inverted.box));
  set_layout(state, std::move(inverted.map), std::move(shape));
  state.bits.reset();
  return {};
}

// ---- complement

Result<void> complement(LayoutState& state, Piece arguments) {
  std::vector<BoxSide> box;
  for (const auto& [axis, extent] : WW_TRY(parse_values(state, arguments, find_axis))) {
    box.push_back({});
    box.back().axis = axis;
    box.back().extent = extent;
  }
  layout::Layout rest = WW_TRY(layout::complement(state.layout, box));
  state.shape = reading_shape(rest);
  state.layout = std::move(rest);
  return {};
}

// ---- composition and division

Result<void> compose(LayoutState& state, Piece arguments) {
  ShapedLayout first = WW_TRY(parse_shaped(arguments, state.names));
  layout::Layout both = WW_TRY(layout::compose(state.layout, first.layout));
  set_layout(state, std::move(both), std::move(first.shape));
  return {};
}

Result<void> right_divide(LayoutState& state, Piece arguments) {
  const NotatedLayout divisor = WW_TRY(parse_notation_at(arguments, state.names));
  layout::Layout quotient_layout = WW_TRY(layout::right_divide(state.layout, divisor.layout));
  set_layout(state, std::move(quotient_layout), state.shape);
  return {};
}

Result<void> divide(LayoutState& state, Piece arguments) {
  const NotatedLayout tiler = WW_TRY(parse_notation_at(arguments, state.names));
  layout::Layout divided = WW_TRY(layout::divide(state.layout, tiler.layout));
  const std::int64_t part = tiler.layout.size();
  set_layout(state, std::move(divided), {state.layout.size() / part, part});
  return {};
}

// --- where an element is, who is at a place, and what is known about all places together ---------

// ---- coordinates

bool is_constant(const std::vector<Expr>& values) {
  return std::ranges::all_of(values, [](const Expr& e) { return e.is_constant(); });
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
        is_there[at % is_there.size()] || std::ranges::all_of(place, [&](const auto& given) {
          return value_on(given.axis, at) == given.value;
        });
  }
  std::vector<std::int64_t> out;
  for (std::int64_t x = 0; x < image.size; ++x)
    if (is_there[static_cast<std::size_t>(x)]) out.push_back(x);
  return out;
}

Result<void> at(LayoutState& state, Piece arguments) {
  const Place place = WW_TRY(parse_values(state, arguments, find_own_axis));
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

// A number of the layout as a whole, or of one of its axes.
template <auto kWhole, auto kOnAxis>
Result<void> number(LayoutState& state, Piece arguments) {
  if (state.layout.tile().has_unknown_extent())
    return fail(DiagKind::NeedsConstant, "the first extent is only known at run time");
  if (arguments.empty()) {
    add_number(state, WW_TRY(kWhole(state.layout)));
    return {};
  }
  const Axis axis = WW_TRY(find_own_axis(arguments, state.layout, state.names));
  add_number(state, WW_TRY(kOnAxis(state.layout, axis)));
  return {};
}
Result<std::int64_t> size_of(const layout::Layout& layout) { return layout.size(); }
Result<std::int64_t> size_on(const layout::Layout& layout, Axis axis) {
  return layout::size_on(layout.tile(), axis);
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

// --- shared memory: banks, conflicts of an access, swizzled addresses as short expressions -------

Result<int> parse_bits(Piece piece) {
  return num::bits_of(WW_TRY(located(num::parse_dtype(piece.text), piece)));
}

Result<void> require_addresses(const LayoutState& state) {
  for (const Axis axis : state.layout.tile().axes())
    if (axis != layout::axes::m())
      return fail(DiagKind::BadAxis,
                  "banks are those of addresses on `m`, and the layout uses `{}`", axis.name());
  WW_TRY_VOID(layout::require_constant(state.layout, "banks"));
  const layout::Range range = state.layout.tile().range_on(layout::axes::m());
  if (range.min < 0)
    return fail(DiagKind::OutOfBounds, "the smallest address is {}, below the first bank",
                range.min);
  return {};
}

// ---- banks

Result<void> banks(LayoutState& state, Piece arguments) {
  const int bits = WW_TRY(parse_bits(arguments));
  WW_TRY_VOID(require_addresses(state));
  const layout::Image image = WW_TRY(layout::enumerate(state.layout));
  std::set<int> used;
  std::set<std::int64_t> lines;
  const auto addresses =
      image.axes.empty() ? std::span<const std::int64_t>() : image.on(layout::axes::m());
  for (const std::int64_t address : addresses) {
    const layout::BankPlace place = layout::bank_place(address, bits);
    used.insert(place.bank);
    lines.insert(place.line);
  }
  if (addresses.empty()) used.insert(0), lines.insert(0);
  add_answer(
      state,
      fmt::format("{} of {} banks, {} line{} of {} bytes", used.size(), layout::kBanks,
                  lines.size(), lines.size() == 1 ? "" : "s", layout::kBanks * layout::kBankBytes),
      {{"banks", used.size()}, {"lines", lines.size()}});
  state.bits = bits;
  return {};
}

// ---- conflicts

constexpr std::int64_t kLanes = 32;

struct Access {
  int bits = 32;
  layout::Layout elements;
  std::optional<std::int64_t> vec = {};    // 1 unless given
  std::optional<std::int64_t> lanes = {};  // 32 unless given
};

Result<void> read_option(Access& access, Piece piece) {
  const auto sides = cut_first(piece, '=');
  const bool is_vec = sides && sides->first.text == "vec";
  if (!is_vec && !(sides && sides->first.text == "lanes"))
    return fail_at(piece.span(), DiagKind::BadArgument, "expected vec=N or lanes=N, found `{}`",
                   piece.text);
  const std::int64_t value = WW_TRY(parse_int(sides->second));
  if (value < 1)
    return fail_at(sides->second.span(), DiagKind::BadArgument, "{} is {}; it must be at least 1",
                   sides->first.text, value);
  std::optional<std::int64_t>& option = is_vec ? access.vec : access.lanes;
  if (option)
    return fail_at(piece.span(), DiagKind::BadArgument, "{} is given twice", sides->first.text);
  option = value;
  return {};
}

// DTYPE,NOTATION[,vec=N][,lanes=N]
Result<Access> parse_access(const LayoutState& state, Piece arguments) {
  const auto parts = split_top(arguments, ',');
  if (parts.size() < 2)
    return fail_at(arguments.span(), DiagKind::BadArgument,
                   "expected DTYPE,ACCESS[,vec=N][,lanes=N], found `{}`", arguments.text);
  Access access;
  access.bits = WW_TRY(parse_bits(parts[0]));
  access.elements = WW_TRY(parse_notation_at(parts[1], state.names)).layout;
  for (std::size_t i = 2; i < parts.size(); ++i) WW_TRY_VOID(read_option(access, parts[i]));
  return access;
}

Result<void> conflicts(LayoutState& state, Piece arguments) {
  const Access access = WW_TRY(parse_access(state, arguments));
  const auto cost =
      WW_TRY(layout::access_cost(state.layout, access.elements, access.lanes.value_or(kLanes),
                                 access.vec.value_or(1), access.bits));
  add_answer(state,
             fmt::format("wavefronts {}, ideal {}, conflicts {}; most lines from one bank {}",
                         cost.wavefronts, cost.ideal, cost.conflicts(), cost.worst_bank),
             {{"wavefronts", cost.wavefronts},
              {"ideal", cost.ideal},
              {"conflicts", cost.conflicts()},
              {"worst_bank", cost.worst_bank}});
  state.bits = access.bits;
  return {};
}

// ---- swizzled addresses

// The address of an element (by default the first), as the split form.
Result<void> swizzle_form(LayoutState& state, Piece arguments) {
  const std::vector<Expr> coordinate = arguments.empty()
                                           ? std::vector<Expr>(state.shape.size(), Expr(0))
                                           : WW_TRY(parse_coordinate(state, arguments));
  const auto place = WW_TRY(layout::apply_symbolic(state.layout, coordinate, state.shape));
  const auto axes = state.layout.tile().axes();
  if (!axes.empty() && std::ranges::find(axes, layout::axes::m()) == axes.end())
    return fail(DiagKind::BadAxis, "addresses are on `m`, and the layout uses `{}`",
                axes.front().name());
  const Expr address = place.on(layout::axes::m());
  const auto split = WW_TRY(layout::split_swizzled(address, state.layout.swizzle()));
  add_answer(state, split.text(),
             {{"address", address.text()},
              {"high", split.high.text()},
              {"low", split.low.text()},
              {"constant", split.constant},
              {"text", split.text()}});
  return {};
}

// --- the table -----------------------------------------------------------------------------------

constexpr std::string_view kCaseStudy =
    "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid";
constexpr std::string_view kFragment = "S[(8,4,2):(4@laneid,1@laneid,1)]";

constexpr LayoutOp kOps[] = {
    // Other spellings of the same places.
    {"canon", "canonicalize", "", "the shortest spelling of the same places", "S[(2,3,6):(18,6,1)]",
     "canon", canon},
    {"group", "", "SHAPE", "iters cut so that each dimension of the shape owns a run of them",
     "S[24:1]", "group:6,4", group},
    {"group_many", "", "SHAPE/SHAPE/...", "iters cut at the boundaries of several shapes at once",
     "S[30:1]", "group_many:6,5/2,15", group_many},
    {"refit", "", "", "one plain tile layout with the same places (no swizzle), if there is one",
     "ComposeLayout(3,3,3,S[(8,8):(64,1)])", "refit", refit},
    // Thread axes: fused, split, and the scope they span.
    {"fuse", "", "", "thread axes on the fewest axes: warpid and laneid become tx",
     "S[(4,32,2):(1@wid_in_wg,1@laneid,1)]", "fuse", fuse},
    {"split", "", "WHOLE=OUTER,INNER", "a thread axis as two", "S[(64,2):(1@tx,1)]",
     "split:tx=warpid,laneid", split},
    {"split_like", "", "NOTATION", "thread axes broken where those of another layout break",
     "S[(128,2):(1@tid_in_wg,1)]", "split_like:S[(4,32):(1@wid_in_wg,1@laneid)]", split_like},
    {"scope", "", "", "which threads the thread axes tell apart, and within what",
     "S[(8,4,2):(4@laneid,1@laneid,1)]", "scope", scope},
    // Shapes, regions and dimensions.
    {"shape", "", "SHAPE", "the same elements numbered over another shape", "S[(8,16):(16,1)]",
     "shape:4,32", reshape},
    {"slice", "", "BEGIN:END,...", "the layout of a region; INDEX, BEGIN: and :END work, too",
     "S[(8,16):(16,1)]", "slice:0:4,2:6", slice},
    {"permute", "", "DIM,...", "dimensions of the shape in another order", "S[(8,16):(16,1)]",
     "permute:1,0", permute},
    {"permute_iters", "", "ITER,...", "iters in another order", "S[(2,3,4):(12,4,1)]",
     "permute_iters:2,0,1", permute_iters},
    // Tiles and direct sums, made and recognised.
    {"tile", "", "OUTER[/SHAPE]", "the layout repeated over an outer grid", "S[(2,4):(1,2)]",
     "tile:S[(8,8):(8,1)]", tile<false>},
    {"tile_scaled", "", "OUTER[/SHAPE]", "tile, with the outer offset and replicas in tiles",
     "S[8:1]", "tile_scaled:S[4:1]+2", tile<true>},
    {"tile_to", "", "SHAPE[/FROM]", "the layout repeated in row-major order up to a shape",
     "S[(8,8):(8,1)]", "tile_to:64,64/8,8", tile_to},
    {"tile_outer", "", "INNER[/SHAPE]", "the outer grid over which INNER is repeated here",
     "S[(2,8,2,4):(64,4,32,1)]", "tile_outer:S[(8,4):(4,1)]", part_of_tile<layout::outer_of_tile>},
    {"tile_inner", "", "OUTER[/SHAPE]", "the inner layout that OUTER repeats here",
     "S[(2,8,2,4):(64,4,32,1)]", "tile_inner:S[(2,2):(2,1)]", part_of_tile<layout::inner_of_tile>},
    {"direct_sum", "", "RIGHT[/SHAPE]", "places added over interleaved dimensions",
     "S[(2,2):(8,2)]", "direct_sum:S[(2,2):(4,1)]", direct_sum},
    {"sum_left", "", "RIGHT[/SHAPE]", "the left part of a direct sum whose right part is known",
     "row_major(2,2,2,2)", "sum_left:S[(2,2):(4,1)]", part_of_sum<layout::left_of_sum, 0>},
    {"sum_right", "", "LEFT[/SHAPE]", "the right part of a direct sum whose left part is known",
     "row_major(2,2,2,2)", "sum_right:S[(2,2):(8,2)]", part_of_sum<layout::right_of_sum, 1>},
    // What one thread stores, wider or narrower elements, repeated elements.
    {"storage", "", "", "what one thread stores: thread and device axes left out",
     "S[(8,4,2):(4@laneid,1@laneid,1)]", "storage", storage},
    {"unpack", "", "N[,AXIS]", "every element as N smaller ones", "S[(8,8):(8,1)]", "unpack:2",
     unpack},
    {"pack", "", "N[,AXIS]", "every N neighbouring elements as one", "S[(8,16):(16,1)]", "pack:2",
     pack},
    {"broadcast", "", "N[,POSITION[,AXIS]]", "a digit that does not move the element",
     "S[(4,2):(2,1)]", "broadcast:4", broadcast},
    // Layouts as functions: inverse, complement, composition, division.
    {"inverse", "", "[AXIS,...]", "from place to element, over the box of places",
     "mma_frag(A,16,float16)", "inverse", inverse},
    {"compose", "", "NOTATION[/SHAPE]", "this layout after another: x goes to this(other(x))",
     "S[(4,8):(8,1)]", "compose:S[(8,4):(1,8)]", compose},
    {"complement", "", "EXTENT | AXIS=EXTENT,...", "what the layout leaves free in a box",
     "S[(4,2):(1,16)]", "complement:64", complement},
    {"right_divide", "", "NOTATION", "the X for which this layout is X after the other",
     "S[(8,4):(1,8)]", "right_divide:S[(8,4):(4,1)]", right_divide},
    {"divide", "", "NOTATION", "cut into the elements a tiler selects and their repetitions",
     "S[64:2]", "divide:S[8:2]", divide},
    // Where an element is, who is at a place, and what is known about all places together.
    {"apply", "", "COORDINATE", "the places of an element; a single number is its flat index",
     kCaseStudy, "apply:1,3", apply},
    {"apply_digits", "", "DIGIT,...", "the place of an element given by one digit per iter",
     kFragment, "apply_digits:1,1,1", apply_digits},
    {"digits", "", "COORDINATE", "an element's digits over the iters", "S[(16,4,4):(16,4,1)]",
     "digits:5,7", digits},
    {"at", "", "AXIS=VALUE,...", "the elements held at a place; axes left out may have any value",
     kFragment, "at:laneid=5,m=1", at},
    {"equal", "same", "NOTATION", "are the places the same? If not, the exit status is 1",
     "S[(8,8):(8,1)]", "equal:S[64:1]", equal},
    {"trivial", "", "", "are elements contiguous from 0 on one memory axis?", "S[(8,8):(8,1)]",
     "trivial", trivial},
    {"size", "", "[AXIS]", "number of elements, or of those that an axis tells apart", kFragment,
     "size:laneid", number<size_of, size_on>},
    {"span", "", "[AXIS]", "storage to reserve: one past the largest value on an axis",
     "S[(8,6):(8,1)]", "span", number<layout::memory_span, layout::span_on>},
    {"copies", "", "", "different places per element", kCaseStudy, "copies", copies},
    {"injective", "", "", "does every place hold one element only?", "S[(4,4):(2,1)]", "injective",
     injective},
    {"coverage", "", "", "how much of the box around the places is used", "S[(8,6):(8,1)]",
     "coverage", coverage},
    {"extent", "", "", "smallest, largest and number of values on each axis", kCaseStudy, "extent",
     extent},
    // Shared memory: banks, conflicts of an access, swizzled addresses as short expressions.
    {"banks", "", "DTYPE", "line and bank of each element for this element type",
     "mma_shared(float16,128B,8,64)", "banks:float16", banks},
    {"conflicts", "", "DTYPE,ACCESS[,vec=N][,lanes=N]",
     "cost of a warp's access; ACCESS maps (lane, element) to flat indices",
     "mma_shared(float16,128B,8,64)", "conflicts:float16,S[(8,8):(64,1)],vec=8,lanes=8", conflicts},
    {"swizzle_form", "", "[COORDINATE]", "a swizzled address split for cheap code",
     "mma_shared(float16,128B,8,64)", "swizzle_form:3,16", swizzle_form},
};

const LayoutOp* find_op(std::string_view name) {
  const auto* const found = std::ranges::find_if(kOps, [&](const LayoutOp& row) {
    return row.name == name || (!row.alias.empty() && row.alias == name);
  });
  return found == std::end(kOps) ? nullptr : found;
}

Diag unknown_op(Piece name) {
  std::vector<std::string_view> names;
  for (const LayoutOp& row : kOps) names.push_back(row.name);
  return diag_at(name.span(), DiagKind::UnknownName, "no operation is called `{}`{}", name.text,
                 did_you_mean(name.text, names));
}

Result<void> check_arguments(const LayoutOp& row, Piece name, const Piece* arguments) {
  const bool given = arguments != nullptr && !arguments->empty();
  if (given && row.arguments.empty())
    return fail_at(arguments->span(), DiagKind::BadArgument,
                   "`{}` takes no argument, and `{}` was given", row.name, arguments->text);
  if (!given && !row.arguments.empty() && !row.arguments.starts_with('['))
    return fail(diag_at(name.span(), DiagKind::BadArgument, "`{}` needs an argument: {}:{}",
                        row.name, row.name, row.arguments)
                    .with_note(fmt::format("for example `{}`", row.example)));
  return {};
}

}  // namespace

std::span<const LayoutOp> layout_ops() { return kOps; }

Result<void> run_op(LayoutState& state, std::string_view text) {
  const Piece whole = trimmed({text, 0});
  const auto parts = cut_first(whole, ':');
  const Piece name = parts ? parts->first : whole;
  const LayoutOp* row = find_op(name.text);
  if (row == nullptr) return fail(unknown_op(name));
  WW_TRY_VOID(check_arguments(*row, name, parts ? &parts->second : nullptr));
  const Piece arguments =
      parts && !parts->second.empty() ? parts->second : Piece{{}, name.span().end};
  LayoutState next = state;
  const std::size_t answers = next.answers.size();
  auto done = row->run(next, arguments);
  if (!done) {
    const Span place = (arguments.empty() ? name : arguments).span();
    return fail(std::move(done).error().with_span(place));
  }
  for (std::size_t i = answers; i < next.answers.size(); ++i) next.answers[i].op = whole.text;
  state = std::move(next);
  return {};
}

}  // namespace ww::driver
