// SPDX-License-Identifier: Apache-2.0
#include "view/paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/join.h"
#include "base/wide.h"
#include "layout/axis.h"

namespace ww::view {
namespace {

using layout::Axis;

constexpr std::int64_t kWarp = 32;         // threads in a warp, and lanes in a quarter
constexpr std::int64_t kQuad = 4;          // swatches in a legend row
constexpr std::int64_t kRampSwatches = 8;  // columns shown in the legend of tensor memory

bool tells_warps_apart(const layout::AxisFacts& facts) {
  return facts.modulus == 0 || facts.divisor * facts.modulus > kWarp;
}

/// The axis that gives a generic picture its colours: the first that varies and is not plain
/// storage.
std::optional<std::size_t> telling_axis(const LayoutView& view) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < view.axes().size(); ++i) {
    const layout::Range range = view.range(i);
    if (range.min == range.max) continue;
    if (view.axes()[i] != layout::axes::m()) return i;
    best = i;
  }
  if (!best && !view.axes().empty()) best = 0;
  return best;
}

}  // namespace

Paint::Paint(const LayoutView& view)
    : view_(&view),
      key_axis_(telling_axis(view)),
      lane_axis_(view.index_of(layout::axes::tlane())),
      column_axis_(view.index_of(layout::axes::tcol())) {
  for (std::size_t i = 0; i < view.axes().size(); ++i) {
    const layout::AxisFacts& facts = view.axes()[i].facts();
    if (facts.kind != layout::AxisKind::Thread) continue;
    const bool is_cta = facts.counter == layout::Counter::CtaThread;
    (is_cta ? cta_axes_ : other_axes_).push_back(i);
    has_lanes_ = has_lanes_ || (is_cta && facts.divisor < kWarp);
    has_warps_ = has_warps_ || (is_cta && tells_warps_apart(facts));
  }
}

std::int64_t Paint::thread_id(const PlaceValues& place) const {
  std::int64_t id = 0;
  for (const std::size_t axis : cta_axes_) id += place[axis] * view_->axes()[axis].facts().divisor;
  return id;
}

std::int64_t Paint::value(std::optional<std::size_t> axis, const PlaceValues& place) const {
  return axis ? place[*axis] : 0;
}

std::int64_t Paint::key(const PlaceValues& place) const {
  if (view_->has_banks()) return view_->bank(place).bank;
  if (view_->kind() == PictureKind::Registers && !cta_axes_.empty()) {
    const std::int64_t id = thread_id(place);
    return floor_mod(has_lanes_ ? id : floor_div(id, kWarp), kPaletteSize);
  }
  return floor_mod(value(key_axis_, place), kPaletteSize);
}

double Paint::column_position(std::int64_t column) const {
  if (!column_axis_) return 0.5;
  const layout::Range range = view_->range(*column_axis_);
  if (range.min == range.max) return 0.5;
  return static_cast<double>(column - range.min) / static_cast<double>(range.max - range.min);
}

Rgb Paint::colour(const PlaceValues& place) const {
  if (view_->kind() != PictureKind::TensorMemory) return palette_colour(key(place));
  return quarter_colour(floor_div(value(lane_axis_, place), kWarp),
                        column_position(value(column_axis_, place)));
}

std::string Paint::warp_region(const PlaceValues& place) const {
  std::vector<std::string> parts;
  for (const std::size_t axis : other_axes_) {
    parts.push_back(fmt::format("{} {}", view_->axes()[axis].name(), place[axis]));
  }
  if (has_warps_) parts.push_back(fmt::format("warp {}", floor_div(thread_id(place), kWarp)));
  return join(parts, ", ");
}

std::string Paint::region(const PlaceValues& place) const {
  if (view_->kind() == PictureKind::Registers) return warp_region(place);
  if (view_->kind() != PictureKind::TensorMemory || !lane_axis_) return "";
  return fmt::format("quarter {}", floor_div(place[*lane_axis_], kWarp));
}

// ---- legend

std::string Paint::key_title() const {
  if (view_->has_banks()) {
    return fmt::format("bank ({}-bit elements{})", view_->element_bits(),
                       view_->is_element_bits_given() ? "" : ", assumed");
  }
  if (view_->kind() == PictureKind::Registers && has_lanes_) return "lane";
  if (view_->kind() == PictureKind::Registers && has_warps_) return "warp, modulo 32";
  if (!key_axis_) return "";
  const layout::Range range = view_->range(*key_axis_);
  const bool wraps = range.min < 0 || range.max >= kPaletteSize;
  return fmt::format("{}{}", view_->axes()[*key_axis_].name(), wraps ? ", modulo 32" : "");
}

std::string Paint::region_note() const {
  if (view_->kind() == PictureKind::TensorMemory) {
    return lane_axis_ ? "Thick lines separate the lane quarters, one per warp." : "";
  }
  if (view_->kind() != PictureKind::Registers) return "";
  std::vector<std::string> kinds;
  for (const std::size_t axis : other_axes_) kinds.emplace_back(view_->axes()[axis].name());
  if (has_warps_) kinds.emplace_back("warps");
  if (kinds.empty()) return "";
  return fmt::format("Thick lines separate {}.", join(kinds, ", "));
}

std::vector<LegendRow> Paint::palette_rows() const {
  std::set<std::int64_t> used;
  for (std::int64_t flat = 0; flat < view_->size(); ++flat)
    used.insert(key(view_->first_place(flat)));
  std::vector<LegendRow> rows;
  for (std::int64_t first = 0; first < kPaletteSize; first += kQuad) {
    const auto next = used.lower_bound(first);
    if (next == used.end() || *next >= first + kQuad) continue;
    LegendRow row;
    for (std::int64_t k = first; k < first + kQuad; ++k) {
      row.swatches.push_back({palette_colour(k), fmt::format("{}", k)});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<LegendRow> Paint::quarter_rows() const {
  std::set<std::int64_t> quarters;
  for (std::int64_t flat = 0; flat < view_->size(); ++flat) {
    quarters.insert(floor_div(value(lane_axis_, view_->first_place(flat)), kWarp));
  }
  const layout::Range columns = column_axis_ ? view_->range(*column_axis_) : layout::Range{};
  const std::int64_t steps = std::min(kRampSwatches, columns.max - columns.min + 1);
  std::vector<LegendRow> rows;
  for (const std::int64_t quarter : quarters) {
    LegendRow row{fmt::format("quarter {}: lanes {}–{}", quarter, quarter * kWarp,
                              quarter * kWarp + kWarp - 1),
                  {}};
    for (std::int64_t k = 0; k < steps; ++k) {
      const std::int64_t column =
          steps == 1 ? columns.min : columns.min + (columns.max - columns.min) * k / (steps - 1);
      row.swatches.push_back(
          {quarter_colour(quarter, column_position(column)), fmt::format("{}", column)});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Legend Paint::legend() const {
  if (view_->kind() == PictureKind::TensorMemory) {
    return {"quarter of TLane, and TCol", quarter_rows(), region_note()};
  }
  return {key_title(), palette_rows(), region_note()};
}

}  // namespace ww::view
