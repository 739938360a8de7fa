// SPDX-License-Identifier: Apache-2.0
#include "layout/image.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/wide.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

// Writes Σ digit·stride of the iters on one axis for all digit tuples, last iter fastest, starting
// at `base`. Blocks are doubled up: each iter copies what the inner ones wrote, moved by its
// stride.
void expand(std::span<const Iter> iters, Axis axis, std::int64_t base,
            std::span<std::int64_t> out) {
  out[0] = base;
  std::size_t filled = 1;
  for (std::size_t k = iters.size(); k-- > 0;) {
    const std::int64_t stride = iters[k].axis == axis ? iters[k].stride : 0;
    const auto extent = static_cast<std::size_t>(iters[k].extent);
    for (std::size_t digit = 1; digit < extent; ++digit) {
      const std::int64_t shift = static_cast<std::int64_t>(digit) * stride;
      const std::int64_t* from = out.data();
      std::int64_t* to = out.data() + digit * filled;
      for (std::size_t i = 0; i < filled; ++i) to[i] = from[i] + shift;
    }
    filled *= extent;
  }
}

// One integer in [0, range) per place such that equal keys mean equal places. Keys are renumbered
// when they would grow too large, so any number of axes works.
struct PlaceKeys {
  std::vector<std::int64_t> keys;
  std::int64_t range = 1;
};

PlaceKeys place_keys(const Image& image) {
  const auto count = static_cast<std::size_t>(image.size * image.copies);
  std::vector<std::int64_t> keys(count, 0);
  std::int64_t range = 1;
  constexpr std::int64_t kRoom = std::int64_t{1} << 60;
  for (const auto& column : image.values) {
    const auto [lo, hi] = std::minmax_element(column.begin(), column.end());
    const std::int64_t base = *lo;
    const std::int64_t extent = *hi - *lo + 1;
    if (extent > kRoom / range) {  // renumber what we have
      std::vector<std::int64_t> sorted(keys);
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      for (auto& key : keys)
        key = std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin();
      range = static_cast<std::int64_t>(sorted.size());
    }
    if (extent > kRoom / range) {  // still too large: number the column's values instead
      std::vector<std::int64_t> sorted(column);
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      const auto distinct = static_cast<std::int64_t>(sorted.size());
      for (std::size_t i = 0; i < count; ++i)
        keys[i] = keys[i] * distinct +
                  (std::lower_bound(sorted.begin(), sorted.end(), column[i]) - sorted.begin());
      range *= distinct;
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) keys[i] = keys[i] * extent + (column[i] - base);
    range *= extent;
  }
  return {std::move(keys), range};
}

std::int64_t count_distinct(std::vector<std::int64_t> values) {
  const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  const std::int64_t base = *lo;
  const std::int64_t extent = *hi - base + 1;
  if (extent <= static_cast<std::int64_t>(values.size()) * 8) {
    std::vector<bool> seen(static_cast<std::size_t>(extent));
    for (const std::int64_t v : values) seen[static_cast<std::size_t>(v - base)] = true;
    return std::count(seen.begin(), seen.end(), true);
  }
  std::sort(values.begin(), values.end());
  return std::unique(values.begin(), values.end()) - values.begin();
}

Place place_at(const Image& image, std::size_t index) {
  Place place;
  for (std::size_t a = 0; a < image.axes.size(); ++a)
    place.push_back({image.axes[a], image.values[a][index]});
  return place;
}

struct Occupancy {
  std::int64_t places = 0;
  std::optional<Collision> collision;
};

// Places so close together that a table of all of them is smaller than sorting.
Occupancy occupy_dense(const Image& image, const PlaceKeys& at) {
  Occupancy out;
  std::vector<std::int64_t> holder(static_cast<std::size_t>(at.range), -1);
  for (std::int64_t x = 0; x < image.size; ++x) {
    for (std::int64_t r = 0; r < image.copies; ++r) {
      const auto index = static_cast<std::size_t>(r * image.size + x);
      std::int64_t& held = holder[static_cast<std::size_t>(at.keys[index])];
      if (held == -1) {
        ++out.places;
        held = x;
      } else if (held != x && !out.collision) {
        out.collision = Collision{held, x, place_at(image, index)};
      }
    }
  }
  return out;
}

// Counts different places and finds the collision with the smallest second element.
Occupancy occupy(const Image& image) {
  const PlaceKeys at = place_keys(image);
  const std::vector<std::int64_t>& keys = at.keys;
  if (at.range <= 8 * static_cast<std::int64_t>(keys.size())) return occupy_dense(image, at);
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = static_cast<std::size_t>(image.size);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(keys[a], a % size, a) < std::tuple(keys[b], b % size, b);
  });
  Occupancy out;
  std::size_t best = size;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same_place = i > 0 && keys[order[i]] == keys[order[i - 1]];
    if (!same_place) {
      ++out.places;
      continue;
    }
    const std::size_t first = order[i - 1] % size;
    const std::size_t second = order[i] % size;
    if (first == second || second >= best) continue;
    best = second;
    out.collision = Collision{static_cast<std::int64_t>(first), static_cast<std::int64_t>(second),
                              place_at(image, order[i])};
  }
  return out;
}

// Places per element: the different displacements of the replica.
std::int64_t distinct_copies(const Image& image) {
  Image one;
  one.size = 1;
  one.copies = image.copies;
  one.axes = image.axes;
  for (const auto& column : image.values) {
    auto& out = one.values.emplace_back();
    for (std::int64_t r = 0; r < image.copies; ++r)
      out.push_back(column[static_cast<std::size_t>(r * image.size)]);
  }
  return count_distinct(place_keys(one).keys);
}

}  // namespace

std::span<const std::int64_t> Image::on(Axis axis) const {
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (axes[a] == axis) return values[a];
  return {};
}

void enumerate_axis(const Layout& layout, Axis axis, std::span<std::int64_t> out) {
  const TileLayout& tile = layout.tile();
  expand(tile.shard(), axis, tile.offset().constant_on(axis), out);
  if (!layout.is_swizzled() || !(axis == axes::m())) return;
  for (std::int64_t& value : out) value = layout.swizzle()(value);
}

Result<Image> enumerate(const Layout& layout) {
  Image image;
  WW_TRY_VOID(enumerate_into(layout, image));
  return image;
}

Result<void> enumerate_into(const Layout& layout, Image& image) {
  WW_TRY_VOID(require_constant(layout, "enumerating"));
  const TileLayout& tile = layout.tile();
  image.size = tile.size();
  image.copies = tile.copies();
  if (static_cast<Wide>(image.size) * image.copies > kMaxEnumerated)
    return fail(DiagKind::TooLarge,
                "{} elements at {} places each are too many to enumerate (limit {})", image.size,
                image.copies, kMaxEnumerated);
  image.axes = tile.axes();
  image.values.resize(image.axes.size());
  const auto size = static_cast<std::size_t>(image.size);
  const auto copies = static_cast<std::size_t>(image.copies);
  std::vector<std::int64_t> shifts(copies);
  for (std::size_t a = 0; a < image.axes.size(); ++a) {
    const Axis axis = image.axes[a];
    auto& column = image.values[a];
    column.resize(size * copies);
    expand(tile.shard(), axis, tile.offset().constant_on(axis), std::span(column).first(size));
    expand(tile.replica(), axis, 0, shifts);
    for (std::size_t r = copies; r-- > 1;)
      for (std::size_t x = 0; x < size; ++x) column[r * size + x] = column[x] + shifts[r];
    if (layout.is_swizzled() && axis == axes::m())
      for (std::int64_t& value : column) value = layout.swizzle()(value);
  }
  return {};
}

Result<ImageFacts> image_facts(const Layout& layout) {
  const Image image = WW_TRY(enumerate(layout));
  ImageFacts facts;
  facts.size = image.size;
  facts.copies = distinct_copies(image);
  Wide box = 1;
  for (std::size_t a = 0; a < image.axes.size(); ++a) {
    const auto [lo, hi] = std::minmax_element(image.values[a].begin(), image.values[a].end());
    facts.extents.push_back({image.axes[a], *lo, *hi, count_distinct(image.values[a])});
    box = std::min<Wide>(box * (*hi - *lo + 1), kMaxPlace);
  }
  facts.box = static_cast<std::int64_t>(box);
  const Occupancy occupancy = occupy(image);
  facts.places = occupancy.places;
  facts.collision = occupancy.collision;
  facts.is_injective = !occupancy.collision.has_value();
  facts.is_onto_box = facts.places == facts.box;
  return facts;
}

namespace {

// Are places numbers in a mixed radix: on each axis, is each stride more than the smaller ones can reach
// together? Then a place has one digit of each iter only. A swizzle changes nothing about that.
bool has_separate_digits(const TileLayout& layout) {
  Iters digits;
  for (const Iter& iter : layout.shard())
    if (iter.extent > 1) digits.push_back(iter);
  for (const Iter& iter : layout.replica())  // a stride of 0: the same place again
    if (iter.extent > 1 && iter.stride != 0) digits.push_back(iter);
  for (Iter& digit : digits) digit.stride = std::abs(digit.stride);
  std::sort(digits.begin(), digits.end(), [](const Iter& a, const Iter& b) {
    return std::pair(a.axis, a.stride) < std::pair(b.axis, b.stride);
  });
  std::int64_t reach = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && !(digits[i].axis == digits[i - 1].axis)) reach = 0;
    if (digits[i].stride <= reach) return false;
    reach += digits[i].stride * (digits[i].extent - 1);
  }
  return true;
}

}  // namespace

Result<std::optional<Collision>> find_collision(const Layout& layout) {
  const bool is_constant = require_constant(layout, "enumeration").has_value();
  if (is_constant && has_separate_digits(layout.tile())) return std::nullopt;
  return occupy(WW_TRY(enumerate(layout))).collision;
}

Result<bool> is_injective(const Layout& layout) {
  return !WW_TRY(find_collision(layout)).has_value();
}

Result<std::vector<std::int64_t>> elements_at(const Layout& layout, const Place& place) {
  const Image image = WW_TRY(enumerate(layout));
  std::vector<std::int64_t> wanted(image.axes.size(), 0);
  for (const AxisValue& coordinate : place) {
    const auto found = std::find(image.axes.begin(), image.axes.end(), coordinate.axis);
    if (found != image.axes.end()) {
      wanted[static_cast<std::size_t>(found - image.axes.begin())] = coordinate.value;
    } else if (coordinate.value != 0) {
      return std::vector<std::int64_t>{};  // an axis the layout does not use is at 0
    }
  }
  std::vector<bool> held(static_cast<std::size_t>(image.size));
  for (std::size_t i = 0; i < static_cast<std::size_t>(image.size * image.copies); ++i) {
    bool match = true;
    for (std::size_t a = 0; a < wanted.size() && match; ++a)
      match = image.values[a][i] == wanted[a];
    if (match) held[i % static_cast<std::size_t>(image.size)] = true;
  }
  std::vector<std::int64_t> out;
  for (std::size_t x = 0; x < held.size(); ++x)
    if (held[x]) out.push_back(static_cast<std::int64_t>(x));
  return out;
}

}  // namespace ww::layout
