// SPDX-License-Identifier: Apache-2.0
#include "view/memory_grid.h"

#include <fmt/format.h>

#include <vector>

#include "base/join.h"
#include "layout/axis.h"

namespace ww::view {
namespace {

std::string axes_text(const LayoutView& view) {
  std::vector<std::string_view> names;
  for (const layout::Axis axis : view.axes()) names.push_back(axis.name());
  return names.empty() ? "no axis" : join(names, ", ");
}

/// One direction of the grid: an axis, or 0 for all where the view has none.
struct Side {
  std::optional<std::size_t> axis;
  layout::Range range = {0, 0};

  Side(const LayoutView& view, layout::Axis wanted) : axis(view.index_of(wanted)) {
    if (axis) range = view.range(*axis);
  }
  [[nodiscard]] std::int64_t extent() const { return range.max - range.min + 1; }
  [[nodiscard]] std::int64_t at(const PlaceValues& place) const {
    return axis ? place[*axis] - range.min : 0;
  }
};

}  // namespace

Result<Grid> memory_grid(const LayoutView& places) {
  if (places.kind() != PictureKind::TensorMemory)
    return fail(DiagKind::BadArgument,
                "a layout of tensor memory (TLane, TCol) is needed, `{}` has {}", places.text(),
                axes_text(places));
  const Side lanes(places, layout::axes::tlane()), columns(places, layout::axes::tcol());
  if (lanes.extent() > kMaxMemoryCells / columns.extent())
    return fail(DiagKind::TooLarge, "{} lanes by {} columns; at most {} cells are shown",
                lanes.extent(), columns.extent(), kMaxMemoryCells);
  Grid grid;
  grid.rows = lanes.extent();
  grid.cols = columns.extent();
  grid.size = places.size();
  grid.first_row = lanes.range.min;
  grid.first_col = columns.range.min;
  grid.note = fmt::format("rows are lanes, columns are columns of {}", places.text());
  grid.cells.assign(static_cast<std::size_t>(grid.rows * grid.cols), Grid::kHole);
  for (std::int64_t flat = 0; flat < places.size(); ++flat) {
    for (const PlaceValues& place : places.places(flat)) {
      auto& cell =
          grid.cells[static_cast<std::size_t>(lanes.at(place) * grid.cols + columns.at(place))];
      if (cell != Grid::kHole)
        return fail(DiagKind::NotInjective, "elements {} and {} are both in lane {}, column {}",
                    coordinate_text(places, cell), coordinate_text(places, flat),
                    lanes.at(place) + lanes.range.min, columns.at(place) + columns.range.min);
      cell = flat;
    }
  }
  return grid;
}

}  // namespace ww::view
