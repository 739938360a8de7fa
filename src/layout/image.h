// SPDX-License-Identifier: Apache-2.0
// The enumerated image of a layout: every place of every element, as one flat array per axis, and
// the facts that only enumeration can give: injectivity, coverage, look-up from place to element.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "layout/apply.h"
#include "layout/layout.h"

namespace ww::layout {

/// Places of all elements. `values[a][r*size + x]` is the value on axes[a] of element x, replica r.
struct Image {
  std::int64_t size = 0;    // elements
  std::int64_t copies = 1;  // replicas per element, coinciding ones included
  SmallVec<Axis, 4> axes;   // by name
  std::vector<std::vector<std::int64_t>> values;

  [[nodiscard]] std::span<const std::int64_t> on(Axis axis) const;
};

/// Enumerates all places (size · copies ≤ kMaxEnumerated, constant layout).
Result<Image> enumerate(const Layout& layout);
/// The same into an image that may hold an earlier one: its memory is used again. Callers that
/// enumerate many layouts save most of the time this way.
Result<void> enumerate_into(const Layout& layout, Image& image);

/// Writes the places at replica 0 on one axis, swizzle included, into `out` (size() entries); the
/// allocation-free core of `enumerate`.
void enumerate_axis(const Layout& layout, Axis axis, std::span<std::int64_t> out);

/// Two elements at one place.
struct Collision {
  std::int64_t first = 0;
  std::int64_t second = 0;
  Place place;
};

struct AxisExtent {
  Axis axis;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t distinct = 0;  // number of different values taken
};

/// What is known about a layout's image.
struct ImageFacts {
  std::int64_t size = 0;    // elements
  std::int64_t copies = 0;  // places per element, if the same for all (it is), different ones only
  std::int64_t places = 0;  // different places in all
  std::int64_t box = 0;     // places in the smallest box around the image (saturates at kMaxPlace)
  bool is_injective = false;  // no place holds two elements
  bool is_onto_box = false;   // places == box
  std::optional<Collision> collision;
  std::vector<AxisExtent> extents;  // by axis name
};

Result<ImageFacts> image_facts(const Layout& layout);

/// Two different elements at one place, the second of them the least there is; nothing when the
/// layout is injective.
Result<std::optional<Collision>> find_collision(const Layout& layout);

/// No place holds two different elements (a place may be reached by two replicas of one element).
Result<bool> is_injective(const Layout& layout);

/// All elements held at a place (axes not named are 0), ascending: the physical → logical look-up.
Result<std::vector<std::int64_t>> elements_at(const Layout& layout, const Place& place);

}  // namespace ww::layout
