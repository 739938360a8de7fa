// SPDX-License-Identifier: Apache-2.0
#include "view/layout_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/join.h"
#include "layout/apply.h"
#include "layout/axis.h"
#include "layout/text.h"

namespace ww::view {
namespace {

using layout::Axis;

/// Addresses up to here can be multiplied by any accepted element width.
constexpr std::int64_t kMaxBankAddress = std::int64_t{1} << 50;

bool precedes(const PlaceValues& a, const PlaceValues& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

PictureKind kind_of(std::span<const Axis> axes) {
  const auto is_m = [](Axis axis) { return axis == layout::axes::m(); };
  const auto is_tensor = [](Axis axis) {
    return axis == layout::axes::tlane() || axis == layout::axes::tcol();
  };
  const auto is_register = [&](Axis axis) { return axis.is_thread() || is_m(axis); };
  if (std::ranges::all_of(axes, is_m)) return PictureKind::Shared;
  if (std::ranges::all_of(axes, is_register)) return PictureKind::Registers;
  if (std::ranges::all_of(axes, is_tensor)) return PictureKind::TensorMemory;
  return PictureKind::Generic;
}

Result<void> check_bits(const ViewOptions& options) {
  if (!options.element_bits) return {};
  if (*options.element_bits >= 1 && *options.element_bits <= kMaxElementBits) return {};
  return fail(DiagKind::BadArgument, "element width is {} bits; 1 to {} are possible",
              *options.element_bits, kMaxElementBits);
}

/// A place is shown by axis names, so these must tell the axes apart. `axes` is sorted by name.
Result<void> check_names(std::span<const Axis> axes) {
  const auto twin = std::ranges::adjacent_find(axes, {}, &Axis::name);
  if (twin == axes.end()) return {};
  return fail(DiagKind::BadAxis,
              "two different axes are called `{}`; a picture cannot tell them apart", twin->name());
}

bool can_have_banks(PictureKind kind, const layout::ImageFacts& facts) {
  if (kind != PictureKind::Shared) return false;
  return std::ranges::all_of(facts.extents, [](const layout::AxisExtent& extent) {
    return extent.min >= 0 && extent.max <= kMaxBankAddress;
  });
}

}  // namespace

std::string_view name_of(PictureKind kind) {
  static constexpr std::string_view kTexts[] = {"registers", "shared", "tensor_memory", "generic"};
  return kTexts[std::to_underlying(kind)];
}

Result<LayoutView> LayoutView::make(const layout::Layout& layout,
                                    std::span<const std::int64_t> shape,
                                    const ViewOptions& options) {
  WW_TRY_VOID(check_bits(options));
  WW_TRY_VOID(layout::require_constant(layout, "a picture"));
  WW_TRY_VOID(layout::require_admitted(layout.tile(), shape));
  LayoutView view;
  view.image_ = WW_TRY(layout::enumerate(layout));
  view.facts_ = WW_TRY(layout::image_facts(layout));
  WW_TRY_VOID(check_names(view.image_.axes));
  view.text_ = layout::to_text(layout);
  view.shape_ = layout::Shape(shape);
  view.kind_ = kind_of(view.image_.axes);
  view.element_bits_ = options.element_bits;
  view.has_banks_ = can_have_banks(view.kind_, view.facts_);
  return view;
}

std::optional<std::size_t> LayoutView::index_of(Axis axis) const {
  const auto found = std::ranges::find(image_.axes, axis);
  if (found == image_.axes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - image_.axes.begin());
}

layout::Range LayoutView::range(std::size_t axis) const {
  const Axis wanted = image_.axes[axis];
  const auto found = std::ranges::find(facts_.extents, wanted, &layout::AxisExtent::axis);
  WW_CHECK(found != facts_.extents.end(), "no extent for axis `{}`", wanted.name());
  return {found->min, found->max};
}

PlaceValues LayoutView::place(std::int64_t flat, std::int64_t copy) const {
  const auto at = static_cast<std::size_t>(copy * image_.size + flat);
  PlaceValues values;
  for (const std::vector<std::int64_t>& axis : image_.values) values.push_back(axis[at]);
  return values;
}

PlaceValues LayoutView::first_place(std::int64_t flat) const {
  PlaceValues smallest = place(flat, 0);
  for (std::int64_t copy = 1; copy < image_.copies; ++copy) {
    PlaceValues other = place(flat, copy);
    if (precedes(other, smallest)) smallest = std::move(other);
  }
  return smallest;
}

std::vector<PlaceValues> LayoutView::places(std::int64_t flat) const {
  std::vector<PlaceValues> all;
  for (std::int64_t copy = 0; copy < image_.copies; ++copy) all.push_back(place(flat, copy));
  std::ranges::sort(all, precedes);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

layout::BankPlace LayoutView::bank(const PlaceValues& place) const {
  WW_CHECK(has_banks_, "`{}` has no banks", text_);
  return layout::bank_place(place.empty() ? 0 : place[0], element_bits());
}

std::string coordinate_text(const LayoutView& view, std::int64_t flat) {
  return layout::shape_text(layout::unflatten(flat, view.shape()));
}

// --- grids ---------------------------------------------------------------------------------------

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
