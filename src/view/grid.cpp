// SPDX-License-Identifier: Apache-2.0
#include "view/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/join.h"
#include "layout/apply.h"

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

}  // namespace ww::view
