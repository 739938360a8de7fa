// SPDX-License-Identifier: Apache-2.0
#include "view/paint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

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

// --- labels --------------------------------------------------------------------------------------

namespace {

using layout::Axis;
using layout::Counter;

/// Short prefixes for the axes of register layouts; all others go by their name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPrefixes{{
    {"laneid", "T"},
    {"warpid", "w"},
    {"wid_in_wg", "w"},
    {"wgid", "g"},
    {"tx", "t"},
    {"tid_in_wg", "t"},
    {"m", "r"},
}};

/// "P" before "3", but "x1=" and "stage=": a name must not run into its number.
std::string name_prefix(std::string_view name) {
  const bool ends_in_digit = std::isdigit(static_cast<unsigned char>(name.back())) != 0;
  return name.size() <= 3 && !ends_in_digit ? std::string(name) : fmt::format("{}=", name);
}

std::string register_prefix(std::string_view name) {
  const auto row =
      std::ranges::find(kPrefixes, name, [](const auto& entry) { return entry.first; });
  return row == kPrefixes.end() ? name_prefix(name) : std::string(row->second);
}

/// Widest unit first: own counters, grid, cluster, then the CTA's axes by falling divisor; `m`
/// last.
auto writing_order(Axis axis) {
  const bool is_own = axis.is_thread() && axis.facts().counter == Counter::None;
  return std::tuple(!axis.is_thread(), !is_own, -static_cast<int>(axis.facts().counter),
                    -axis.facts().divisor, axis.name());
}

/// `warpid` and `wid_in_wg` in one layout cannot both be `w`.
void spell_out_twins(std::vector<LabelPart>& parts, std::span<const Axis> axes) {
  std::vector<std::string> prefixes;
  for (const LabelPart& part : parts) prefixes.push_back(part.prefix);
  for (LabelPart& part : parts) {
    if (std::ranges::count(prefixes, part.prefix) > 1)
      part.prefix = name_prefix(axes[part.axis].name());
  }
}

Labels register_labels(std::span<const Axis> axes) {
  Labels labels{.parts = {}, .separator = " "};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    labels.parts.push_back({i, register_prefix(axes[i].name())});
  }
  std::ranges::sort(labels.parts, {},
                    [&](const LabelPart& part) { return writing_order(axes[part.axis]); });
  spell_out_twins(labels.parts, axes);
  // The narrowest thread axis says most: it is the last one before `m`.
  const bool has_slot = !axes[labels.parts.back().axis].is_thread();
  labels.key = labels.parts.size() - (has_slot ? 2 : 1);
  return labels;
}

Labels tensor_labels(const LayoutView& view) {
  Labels labels{.parts = {}, .separator = ","};
  for (const Axis axis : {layout::axes::tlane(), layout::axes::tcol()}) {
    if (const auto index = view.index_of(axis)) labels.parts.push_back({*index, ""});
  }
  return labels;
}

Labels generic_labels(std::span<const Axis> axes) {
  Labels labels{.parts = {}, .separator = " "};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    labels.parts.push_back({i, name_prefix(axes[i].name())});
  }
  return labels;
}

}  // namespace

Labels labels_of(const LayoutView& view) {
  switch (view.kind()) {
    case PictureKind::Registers:
      return register_labels(view.axes());
    case PictureKind::Shared:
      return view.axes().empty() ? Labels{} : Labels{.parts = {{0, ""}}, .separator = ""};
    case PictureKind::TensorMemory:
      return tensor_labels(view);
    case PictureKind::Generic:
      return generic_labels(view.axes());
  }
  return {};
}

std::vector<std::string> Labels::texts(const PlaceValues& place) const {
  if (parts.empty()) return {"0"};  // a layout without axes: the origin
  std::vector<std::string> out;
  for (const LabelPart& part : parts) {
    out.push_back(fmt::format("{}{}", part.prefix, place[part.axis]));
  }
  return out;
}

std::string Labels::text(const PlaceValues& place) const { return join(texts(place), separator); }

std::vector<std::size_t> longest_parts(const Labels& labels, const LayoutView& view) {
  if (labels.parts.empty()) return {1};
  std::vector<std::size_t> lengths;
  for (const LabelPart& part : labels.parts) {
    const layout::Range range = view.range(part.axis);
    const std::size_t digits =
        std::max(fmt::formatted_size("{}", range.min), fmt::formatted_size("{}", range.max));
    lengths.push_back(part.prefix.size() + digits);
  }
  return lengths;
}

std::string labels_key(const Labels& labels, const LayoutView& view) {
  if (view.kind() == PictureKind::Shared) return "address in elements";
  std::vector<std::string> entries;
  for (const LabelPart& part : labels.parts) {
    const std::string_view name = view.axes()[part.axis].name();
    const bool is_slot = view.kind() == PictureKind::Registers && name == "m";
    const std::string meaning = is_slot ? "register (m)" : std::string(name);
    const bool is_plain = part.prefix.empty() || part.prefix.starts_with(meaning);
    entries.push_back(is_plain ? meaning : fmt::format("{} {}", part.prefix, meaning));
  }
  return join(entries, ", ");
}

// --- label plan ----------------------------------------------------------------------------------

namespace {

constexpr double kSmallestFont = 7.0;  // below this, thin out instead
constexpr double kThinnedFont = 8.0;   // what thinned labels are written in
constexpr double kLargestFont = 15.0;
constexpr double kLargestShare = 0.36;  // of the cell's height, for cells that are not small
constexpr double kCellPadding = 2.5;
constexpr double kSmallestCell = 6.0;  // text over smaller cells hides more than it says

using Parts = std::vector<std::size_t>;

bool is_register_slot(const LayoutView& view, const LabelPart& part) {
  return view.kind() == PictureKind::Registers && !view.axes()[part.axis].is_thread();
}

bool is_constant(const LayoutView& view, const LabelPart& part) {
  const layout::Range range = view.range(part.axis);
  return range.min == range.max;
}

/// The parts to try, richest first; each holds the key part.
std::vector<Parts> candidates(const LayoutView& view, const Labels& labels) {
  Parts all(labels.parts.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Parts varying = all;
  std::erase_if(varying, [&](std::size_t i) {
    return i != labels.key && is_constant(view, labels.parts[i]);
  });
  Parts owners = varying;
  std::erase_if(owners, [&](std::size_t i) { return is_register_slot(view, labels.parts[i]); });
  return {all, varying, owners, {labels.key}};
}

double font_for(double cell, std::size_t characters, std::size_t lines) {
  const double room = cell - kCellPadding;
  return std::min({kLargestFont, cell * kLargestShare + 2,
                   room / (kCharWidth * static_cast<double>(characters)),
                   room / (kLineHeight * static_cast<double>(lines))});
}

/// Thinned labels: one short text, in every n-th cell of every n-th row.
LabelPlan thinned(const LayoutView& view, const Labels& labels,
                  const std::vector<std::size_t>& lengths, double cell) {
  LabelPlan plan{.parts = {labels.key}, .is_joined = true, .font = kThinnedFont};
  std::size_t characters = lengths[labels.key];
  if (view.kind() == PictureKind::TensorMemory) {  // neither half of `lane,column` says enough
    plan.parts = candidates(view, labels).front();
    characters = std::accumulate(lengths.begin(), lengths.end(), lengths.size() - 1);
  }
  plan.every_row = thin_to(cell, kThinnedFont * kLineHeight);
  plan.every_col = thin_to(cell, kThinnedFont * kCharWidth * (static_cast<double>(characters) + 1));
  return plan;
}

}  // namespace

std::int64_t thin_to(double step, double needed) {
  std::int64_t n = 1;
  while (static_cast<double>(n) * step < needed) n *= 2;
  return n;
}

LabelPlan plan_labels(const LayoutView& view, const Labels& labels, double cell) {
  if (labels.parts.empty() || cell < kSmallestCell) return {};
  const std::vector<std::size_t> lengths = longest_parts(labels, view);
  for (Parts& parts : candidates(view, labels)) {
    if (view.kind() == PictureKind::TensorMemory && parts.size() < labels.parts.size()) break;
    std::size_t longest = 0;
    for (const std::size_t part : parts) longest = std::max(longest, lengths[part]);
    const double font = font_for(cell, longest, parts.size());
    if (font >= kSmallestFont) return {.parts = std::move(parts), .is_joined = false, .font = font};
  }
  return thinned(view, labels, lengths, cell);
}

std::vector<std::string> label_lines(const Labels& labels, const LabelPlan& plan,
                                     const PlaceValues& place) {
  const std::vector<std::string> texts = labels.texts(place);
  std::vector<std::string> lines;
  for (const std::size_t part : plan.parts) lines.push_back(texts[part]);
  if (plan.is_joined) return {join(lines, labels.separator)};
  return lines;
}

}  // namespace ww::view
