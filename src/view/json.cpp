// SPDX-License-Identifier: Apache-2.0
#include "view/json.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "layout/apply.h"

namespace ww::view {
namespace {

Json axis_names(const LayoutView& view) {
  Json names = Json::array();
  for (const layout::Axis axis : view.axes()) names.push_back(axis.name());
  return names;
}

Json collision_json(const LayoutView& view) {
  const auto& collision = view.facts().collision;
  if (!collision) return nullptr;
  return {{"first", layout::unflatten(collision->first, view.shape())},
          {"second", layout::unflatten(collision->second, view.shape())},
          {"place", place_json(collision->place)}};
}

double coverage(const layout::ImageFacts& facts) {
  return static_cast<double>(facts.places) / static_cast<double>(facts.box);
}

/// A list of objects per element, one for each of its places.
template <typename ToJson>
Json per_element(const LayoutView& view, const ToJson& to_json) {
  Json out = Json::array();
  for (std::int64_t flat = 0; flat < view.size(); ++flat) {
    Json places = Json::array();
    for (const PlaceValues& place : view.places(flat)) places.push_back(to_json(place));
    out.push_back(std::move(places));
  }
  return out;
}

Json map_json(const LayoutView& view) {
  std::vector<std::string> names;
  for (const layout::Axis axis : view.axes()) names.emplace_back(axis.name());
  return per_element(view, [&](const PlaceValues& place) {
    Json object = Json::object();
    for (std::size_t i = 0; i < place.size(); ++i) object[names[i]] = place[i];
    return object;
  });
}

Json banks_json(const LayoutView& view) {
  return per_element(view, [&](const PlaceValues& values) -> Json {
    const layout::BankPlace place = view.bank(values);
    return {{"byte", place.byte}, {"line", place.line}, {"bank", place.bank}};
  });
}

}  // namespace

Json place_json(const layout::Place& place) {
  Json object = Json::object();
  for (const auto& [axis, value] : place) object[axis.name()] = value;
  return object;
}

Json extents_json(const layout::ImageFacts& facts) {
  Json object = Json::object();
  for (const layout::AxisExtent& extent : facts.extents)
    object[extent.axis.name()] = {
        {"min", extent.min}, {"max", extent.max}, {"distinct", extent.distinct}};
  return object;
}

Result<Json> to_json(const LayoutView& view) {
  if (view.size() > kMaxJsonPlaces / view.copies()) {
    return fail(DiagKind::TooLarge, "{} elements at {} places each; JSON holds at most {} places",
                view.size(), view.copies(), kMaxJsonPlaces);
  }
  Json out{{"layout", view.text()},
           {"shape", view.shape()},
           {"size", view.size()},
           {"kind", name_of(view.kind())},
           {"axes", axis_names(view)},
           {"copies", view.copies()},
           {"injective", view.facts().is_injective},
           {"collision", collision_json(view)},
           {"places", view.facts().places},
           {"box", view.facts().box},
           {"coverage", coverage(view.facts())},
           {"onto", view.facts().is_onto_box},
           {"extents", extents_json(view.facts())}};
  if (view.is_element_bits_given()) out["element_bits"] = view.element_bits();
  out["map"] = map_json(view);
  if (view.is_element_bits_given() && view.has_banks()) out["banks"] = banks_json(view);
  return out;
}

}  // namespace ww::view
