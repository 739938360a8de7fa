// SPDX-License-Identifier: Apache-2.0
#include "view/paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "base/join.h"
#include "base/wide.h"
#include "layout/axis.h"

namespace ww::view {

// --- palette -------------------------------------------------------------------------------------

namespace {

// clang-format off
constexpr std::array<Rgb, 32> kPalette{{
    {0xff, 0xdf, 0xdc}, {0xfd, 0xb5, 0xaf}, {0xe7, 0x8a, 0x83}, {0xac, 0x4a, 0x45},
    {0xfe, 0xe2, 0xcc}, {0xf4, 0xbe, 0x92}, {0xdc, 0x96, 0x59}, {0xa0, 0x59, 0x04},
    {0xf1, 0xe8, 0xc7}, {0xdc, 0xcb, 0x8a}, {0xbe, 0xa7, 0x4b}, {0x81, 0x6c, 0x06},
    {0xd9, 0xf0, 0xd3}, {0xae, 0xd9, 0xa4}, {0x80, 0xb9, 0x73}, {0x3f, 0x7f, 0x30},
    {0xc7, 0xf2, 0xee}, {0x85, 0xdd, 0xd7}, {0x32, 0xbe, 0xb8}, {0x02, 0x7e, 0x79},
    {0xd3, 0xec, 0xff}, {0x97, 0xd3, 0xfd}, {0x5d, 0xb1, 0xe9}, {0x02, 0x75, 0xac},
    {0xe5, 0xe5, 0xfe}, {0xc4, 0xc4, 0xfe}, {0xa0, 0x9d, 0xed}, {0x67, 0x60, 0xb5},
    {0xfe, 0xdd, 0xf1}, {0xf1, 0xb5, 0xdc}, {0xd8, 0x8a, 0xbe}, {0x9d, 0x4b, 0x85},
}};

struct Ramp {
  Rgb light, dark;
};
constexpr std::array<Ramp, 4> kQuarterRamps{{
    {{0xe5, 0xf2, 0xff}, {0x44, 0x95, 0xe0}},
    {{0xff, 0xec, 0xe0}, {0xd0, 0x78, 0x30}},
    {{0xe3, 0xf6, 0xe6}, {0x45, 0xa6, 0x60}},
    {{0xf8, 0xeb, 0xfe}, {0xb2, 0x78, 0xcb}},
}};
// clang-format on

std::size_t wrapped(std::int64_t value, std::int64_t modulus) {
  const std::int64_t rest = value % modulus;
  return static_cast<std::size_t>(rest < 0 ? rest + modulus : rest);
}

std::uint8_t mix(std::uint8_t from, std::uint8_t to, double position) {
  return static_cast<std::uint8_t>(std::lround(from + (to - from) * position));
}

double linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(Rgb c) {
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

}  // namespace

std::string hex_of(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b);
}

Rgb palette_colour(std::int64_t value) { return kPalette[wrapped(value, kPaletteSize)]; }

Rgb quarter_colour(std::int64_t quarter, double position) {
  const Ramp& ramp = kQuarterRamps[wrapped(quarter, kQuarters)];
  const double at = std::clamp(position, 0.0, 1.0);
  return {mix(ramp.light.r, ramp.dark.r, at), mix(ramp.light.g, ramp.dark.g, at),
          mix(ramp.light.b, ramp.dark.b, at)};
}

double contrast(Rgb a, Rgb b) {
  const double x = luminance(a) + 0.05;
  const double y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

Rgb label_colour(Rgb background) {
  return contrast(background, kInk) >= contrast(background, kPaper) ? kInk : kPaper;
}

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
