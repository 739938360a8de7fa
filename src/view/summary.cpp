// SPDX-License-Identifier: Apache-2.0
#include "view/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/join.h"
#include "layout/text.h"

namespace ww::view {
namespace {

/// A list of replicas longer than this is cut.
constexpr std::size_t kMaxListed = 8;

std::string extent_text(const layout::AxisExtent& extent) {
  const std::string name(extent.axis.name());
  if (extent.min == extent.max) return fmt::format("{} {}", name, extent.min);
  const std::string range = fmt::format("{} {}..{}", name, extent.min, extent.max);
  const bool is_dense = extent.distinct == extent.max - extent.min + 1;
  return is_dense ? range : fmt::format("{} ({} values)", range, extent.distinct);
}

std::string place_of(const layout::Place& place) {
  std::vector<std::string> values;
  for (const auto& [axis, value] : place)
    values.push_back(fmt::format("{} {}", axis.name(), value));
  return join(values, ", ");
}

std::string injective_text(const LayoutView& view) {
  const auto& collision = view.facts().collision;
  if (view.facts().is_injective || !collision) return "injective";
  return fmt::format("not injective: {} and {} share {}", coordinate_text(view, collision->first),
                     coordinate_text(view, collision->second), place_of(collision->place));
}

std::string coverage_text(const layout::ImageFacts& facts) {
  if (facts.places == 1) return "one place";
  if (facts.is_onto_box) return fmt::format("{} places fill their box", facts.places);
  if (facts.box >= layout::kMaxPlace) return fmt::format("{} places in a vast box", facts.places);
  const double percent = 100.0 * static_cast<double>(facts.places) / static_cast<double>(facts.box);
  return fmt::format("{} of {} places in their box ({:.1f} %)", facts.places, facts.box, percent);
}

std::string step_text(const LayoutView& view, const PlaceValues& step) {
  std::string text;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] == 0) continue;
    if (!text.empty()) text += ' ';
    text +=
        fmt::format("{}{}", step[i] > 0 ? "+" : "", layout::place_text(step[i], view.axes()[i]));
  }
  return text;
}

std::vector<PlaceValues> steps_of(const LayoutView& view, std::int64_t flat) {
  std::vector<PlaceValues> places = view.places(flat);
  for (std::size_t k = places.size(); k-- > 0;) {
    for (std::size_t i = 0; i < places[k].size(); ++i) places[k][i] -= places[0][i];
  }
  places.erase(places.begin());
  return places;
}

}  // namespace

std::string size_sentence(const LayoutView& view) {
  std::string sentence = fmt::format("shape {}, {} element{}", layout::shape_text(view.shape()),
                                     view.size(), view.size() == 1 ? "" : "s");
  std::vector<std::string> ranges;
  for (const layout::AxisExtent& extent : view.facts().extents)
    ranges.push_back(extent_text(extent));
  if (ranges.empty()) return sentence;
  return fmt::format("{}; {}", sentence, join(ranges, ", "));
}

std::string image_sentence(const LayoutView& view) {
  return fmt::format("{}; {}", injective_text(view), coverage_text(view.facts()));
}

std::optional<std::vector<PlaceValues>> replica_steps(const LayoutView& view) {
  if (view.copies() <= 1) return std::vector<PlaceValues>{};
  std::vector<PlaceValues> steps = steps_of(view, 0);
  for (std::int64_t flat = 1; flat < view.size(); ++flat) {
    if (steps_of(view, flat) != steps) return std::nullopt;
  }
  return steps;
}

std::string replica_sentence(const LayoutView& view) {
  if (view.copies() <= 1) return "";
  const auto steps = replica_steps(view);
  if (!steps) return fmt::format("each element is held at {} places", view.copies());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(steps->size(), kMaxListed); ++i) {
    texts.push_back(step_text(view, (*steps)[i]));
  }
  if (steps->size() > kMaxListed) texts.emplace_back("…");
  return fmt::format("each element is held at {} places: the one shown and {}", view.copies(),
                     join(texts, ", "));
}

}  // namespace ww::view
