// SPDX-License-Identifier: Apache-2.0
#include "view/label_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/join.h"

namespace ww::view {
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
