// SPDX-License-Identifier: Apache-2.0
// Other views of the same tile: what one thread stores, wider or narrower elements, repeated
// elements.
#include <array>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/ready_made.h"
#include "layout/views.h"

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

}  // namespace ww::driver
