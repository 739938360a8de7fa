// SPDX-License-Identifier: Apache-2.0
// Layouts as functions: inverse, composition, complement, division.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/algebra.h"

namespace ww::driver {
namespace {

using layout::Axis;
using layout::BoxSide;
using layout::Shape;

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

// EXTENT or AXIS=EXTENT
Result<BoxSide> parse_side(const LayoutState& state, Piece piece) {
  const auto sides = cut_first(piece, '=');
  BoxSide side;
  side.axis = sides ? WW_TRY(find_axis(sides->first, state.layout, state.names))
                    : WW_TRY(bare_axis(piece, state.layout));
  side.extent = WW_TRY(parse_int(sides ? sides->second : piece));
  return side;
}

Result<void> complement(LayoutState& state, Piece arguments) {
  std::vector<BoxSide> box;
  for (const Piece& piece : split_top(arguments, ',')) {
    const BoxSide side = WW_TRY(parse_side(state, piece));
    const bool is_twice = std::any_of(
        box.begin(), box.end(), [&](const BoxSide& known) { return known.axis == side.axis; });
    if (is_twice)
      return fail(diag(DiagKind::BadArgument, "axis `{}` is given twice", side.axis.name())
                      .with_span(piece.span()));
    box.push_back(side);
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

constexpr std::array kAlgebraOps = {
    LayoutOp{"inverse", "", "[AXIS,...]", "from place to element, over the box of places",
             "mma_frag(A,16,float16)", "inverse", inverse},
    LayoutOp{"compose", "", "NOTATION[/SHAPE]",
             "this layout after another: x goes to this(other(x))", "S[(4,8):(8,1)]",
             "compose:S[(8,4):(1,8)]", compose},
    LayoutOp{"complement", "", "EXTENT | AXIS=EXTENT,...", "what the layout leaves free in a box",
             "S[(4,2):(1,16)]", "complement:64", complement},
    LayoutOp{"right_divide", "", "NOTATION", "the X for which this layout is X after the other",
             "S[(8,4):(1,8)]", "right_divide:S[(8,4):(4,1)]", right_divide},
    LayoutOp{"divide", "", "NOTATION",
             "cut into the elements a tiler selects and their repetitions", "S[64:2]",
             "divide:S[8:2]", divide},
};

}  // namespace

std::span<const LayoutOp> algebra_ops() { return kAlgebraOps; }

}  // namespace ww::driver
