// SPDX-License-Identifier: Apache-2.0
#include "view/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/join.h"
#include "layout/axis.h"

namespace ww::view {

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
