// SPDX-License-Identifier: Apache-2.0
// Other views of the same tile (what one thread stores, wider or narrower elements, repeated
// elements), and questions about it: bank conflicts, places, threads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/apply.h"
#include "layout/banks.h"
#include "layout/canonical.h"
#include "layout/image.h"
#include "layout/ready_made.h"
#include "layout/swizzle.h"
#include "layout/threads.h"
#include "layout/views.h"
#include "num/dtype.h"
#include "view/json.h"

namespace ww::driver {

namespace {

using layout::Axis;
using layout::Shape;

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
    return fail(
        diag(DiagKind::BadArgument, "expected N or N,AXIS, found {} arguments", parts.size())
            .with_span(arguments.span()));
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
    return fail(diag(DiagKind::BadArgument,
                     "expected N, N,POSITION or N,POSITION,AXIS, found {} arguments", parts.size())
                    .with_span(arguments.span()));
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

constexpr std::array kViewOps = {
    LayoutOp{"storage", "", "", "what one thread stores: thread and device axes left out",
             "S[(8,4,2):(4@laneid,1@laneid,1)]", "storage", storage},
    LayoutOp{"unpack", "", "N[,AXIS]", "every element as N smaller ones", "S[(8,8):(8,1)]",
             "unpack:2", unpack},
    LayoutOp{"pack", "", "N[,AXIS]", "every N neighbouring elements as one", "S[(8,16):(16,1)]",
             "pack:2", pack},
    LayoutOp{"broadcast", "", "N[,POSITION[,AXIS]]", "a digit that does not move the element",
             "S[(4,2):(2,1)]", "broadcast:4", broadcast},
};

}  // namespace

std::span<const LayoutOp> view_ops() { return kViewOps; }

// --- ops bank ------------------------------------------------------------------------------------
//
// Shared memory: banks, conflicts of an access, swizzled addresses as short expressions.

namespace {

using layout::Axis;
using layout::Expr;

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
    return fail(diag(DiagKind::BadArgument, "expected vec=N or lanes=N, found `{}`", piece.text)
                    .with_span(piece.span()));
  const std::int64_t value = WW_TRY(parse_int(sides->second));
  if (value < 1)
    return fail(
        diag(DiagKind::BadArgument, "{} is {}; it must be at least 1", sides->first.text, value)
            .with_span(sides->second.span()));
  std::optional<std::int64_t>& option = is_vec ? access.vec : access.lanes;
  if (option)
    return fail(diag(DiagKind::BadArgument, "{} is given twice", sides->first.text)
                    .with_span(piece.span()));
  option = value;
  return {};
}

// DTYPE,NOTATION[,vec=N][,lanes=N]
Result<Access> parse_access(const LayoutState& state, Piece arguments) {
  const auto parts = split_top(arguments, ',');
  if (parts.size() < 2)
    return fail(diag(DiagKind::BadArgument, "expected DTYPE,ACCESS[,vec=N][,lanes=N], found `{}`",
                     arguments.text)
                    .with_span(arguments.span()));
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
  std::vector<Expr> coordinate(arguments.empty() ? state.shape.size() : 0, Expr(0));
  for (const Piece& piece : split_top(unwrapped(arguments), ','))
    coordinate.push_back(WW_TRY(parse_expr_at(piece, state.names)));
  const auto place = WW_TRY(layout::apply_symbolic(state.layout, coordinate, state.shape));
  const auto axes = state.layout.tile().axes();
  if (!axes.empty() && std::find(axes.begin(), axes.end(), layout::axes::m()) == axes.end())
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

constexpr std::array kBankOps = {
    LayoutOp{"banks", "", "DTYPE", "line and bank of each element for this element type",
             "mma_shared(float16,128B,8,64)", "banks:float16", banks},
    LayoutOp{"conflicts", "", "DTYPE,ACCESS[,vec=N][,lanes=N]",
             "cost of a warp's access; ACCESS maps (lane, element) to flat indices",
             "mma_shared(float16,128B,8,64)", "conflicts:float16,S[(8,8):(64,1)],vec=8,lanes=8",
             conflicts},
    LayoutOp{"swizzle_form", "", "[COORDINATE]", "a swizzled address split for cheap code",
             "mma_shared(float16,128B,8,64)", "swizzle_form:3,16", swizzle_form},
};

}  // namespace

std::span<const LayoutOp> bank_ops() { return kBankOps; }

// --- ops question --------------------------------------------------------------------------------
//
// Questions: where an element is, who is at a place, and what is known about all places together.

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

// --- ops thread ----------------------------------------------------------------------------------
//
// Thread axes: fused, split, and the scope they span.

namespace {

using layout::Axis;

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
    return fail(diag(DiagKind::Syntax,
                     "expected WHOLE=OUTER,INNER, as in `tx=warpid,laneid`, found `{}`",
                     arguments.text)
                    .with_span(arguments.span()));
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

constexpr std::array kThreadOps = {
    LayoutOp{"fuse", "", "", "thread axes on the fewest axes: warpid and laneid become tx",
             "S[(4,32,2):(1@wid_in_wg,1@laneid,1)]", "fuse", fuse},
    LayoutOp{"split", "", "WHOLE=OUTER,INNER", "a thread axis as two", "S[(64,2):(1@tx,1)]",
             "split:tx=warpid,laneid", split},
    LayoutOp{"split_like", "", "NOTATION", "thread axes broken where those of another layout break",
             "S[(128,2):(1@tid_in_wg,1)]", "split_like:S[(4,32):(1@wid_in_wg,1@laneid)]",
             split_like},
    LayoutOp{"scope", "", "", "which threads the thread axes tell apart, and within what",
             "S[(8,4,2):(4@laneid,1@laneid,1)]", "scope", scope},
};

}  // namespace

std::span<const LayoutOp> thread_ops() { return kThreadOps; }

}  // namespace ww::driver
