// SPDX-License-Identifier: Apache-2.0
// Other spellings of the same places.
#include <array>
#include <vector>

#include "driver/layout/op_parts.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/group.h"
#include "layout/image.h"

namespace ww::driver {
namespace {

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

constexpr std::array kFormOps = {
    LayoutOp{"canon", "canonicalize", "", "the shortest spelling of the same places",
             "S[(2,3,6):(18,6,1)]", "canon", canon},
    LayoutOp{"group", "", "SHAPE",
             "iters cut so that each dimension of the shape owns a run of them", "S[24:1]",
             "group:6,4", group},
    LayoutOp{"group_many", "", "SHAPE/SHAPE/...",
             "iters cut at the boundaries of several shapes at once", "S[30:1]",
             "group_many:6,5/2,15", group_many},
    LayoutOp{"refit", "", "",
             "one plain tile layout with the same places (no swizzle), if there is one",
             "ComposeLayout(3,3,3,S[(8,8):(64,1)])", "refit", refit},
};

}  // namespace

std::span<const LayoutOp> form_ops() { return kFormOps; }

}  // namespace ww::driver
