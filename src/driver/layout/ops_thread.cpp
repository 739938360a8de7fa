// SPDX-License-Identifier: Apache-2.0
// Thread axes: fused, split, and the scope they span.
#include <array>

#include "driver/layout/op_parts.h"
#include "layout/threads.h"

namespace ww::driver {
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
