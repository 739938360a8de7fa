// SPDX-License-Identifier: Apache-2.0
#include "view/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/join.h"
#include "layout/apply.h"
#include "layout/axis.h"

namespace ww::view {

namespace {

std::int64_t product(std::span<const std::int64_t> shape) {
  std::int64_t total = 1;
  for (const std::int64_t extent : shape) total *= extent;
  return total;
}

Grid wrapped_grid(std::int64_t size, std::int64_t wrap) {
  Grid grid;
  grid.size = size;
  grid.cols = std::min(size, wrap);
  grid.rows = (size + grid.cols - 1) / grid.cols;
  grid.is_wrapped = grid.rows > 1;
  return grid;
}

}  // namespace

Grid make_grid(std::span<const std::int64_t> shape, std::int64_t wrap) {
  if (shape.size() < 2) return wrapped_grid(product(shape), wrap);
  Grid grid;
  grid.size = product(shape);
  grid.rows = shape[shape.size() - 2];
  grid.cols = shape[shape.size() - 1];
  grid.slab_shape = layout::Shape(shape.first(shape.size() - 2));
  grid.slabs = product(grid.slab_shape);
  return grid;
}

std::optional<std::int64_t> Grid::element(std::int64_t slab, std::int64_t row,
                                          std::int64_t col) const {
  if (!cells.empty()) {
    const std::int64_t held = cells[static_cast<std::size_t>(row * cols + col)];
    return held == kHole ? std::nullopt : std::optional(held);
  }
  const std::int64_t flat = (slab * rows + row) * cols + col;
  return flat < size ? std::optional(flat) : std::nullopt;
}

std::string Grid::row_name(std::int64_t row) const {
  return fmt::format("{}", is_wrapped ? row * cols : first_row + row);
}

std::string Grid::col_name(std::int64_t col) const {
  return is_wrapped ? fmt::format("+{}", col) : fmt::format("{}", first_col + col);
}

std::string Grid::slab_name(std::int64_t slab) const {
  if (slab_shape.empty()) return "";
  const layout::Shape at = layout::unflatten(slab, slab_shape);
  return fmt::format("[{},:,:]", join(at, ","));
}

// --- memory grid ---------------------------------------------------------------------------------

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
