// SPDX-License-Identifier: Apache-2.0
#include "layout/apply.h"

#include <algorithm>

#include "base/check.h"
#include "base/wide.h"
#include "layout/group.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

void add_value(Place& place, Axis axis, std::int64_t amount) {
  for (AxisValue& entry : place)
    if (entry.axis == axis) entry.value += amount;
}

// All axes of the layout at the offset's constant.
Place origin(const TileLayout& tile) {
  Place place;
  for (const Axis axis : tile.axes()) place.push_back({axis, tile.offset().constant_on(axis)});
  return place;
}

Result<Place> finish(const Layout& layout, Place place) {
  for (AxisValue& entry : place) {
    if (entry.value < -kMaxPlace || entry.value > kMaxPlace)
      return fail(DiagKind::Overflow, "place {} leaves ±2^60", place_text(entry.value, entry.axis));
    if (!layout.is_swizzled() || !(entry.axis == axes::m())) continue;
    if (entry.value < 0)
      return fail(DiagKind::BadSwizzle, "cannot swizzle the negative address {}", entry.value);
    entry.value = layout.swizzle()(entry.value);
  }
  return place;
}

Result<void> require_constant_offset(const TileLayout& tile) {
  if (tile.offset().is_constant()) return {};
  return fail(DiagKind::NeedsConstant,
              "the offset of `{}` is only known at run time; apply symbolically", to_text(tile));
}

bool precedes(const Place& a, const Place& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const AxisValue& p, const AxisValue& q) { return p.value < q.value; });
}

// Digits of one dimension's coordinate over its iters; the outermost digit is not reduced.
Result<void> add_digits(SymbolicPlace& place, std::span<const Iter> iters, const Expr& x) {
  Wide block = 1;
  for (std::size_t k = iters.size(); k-- > 0;) {
    if (iters[k].extent == 1) continue;  // its digit is 0, whatever the stride
    const auto b = static_cast<std::int64_t>(block);
    auto digit = floor_div(x, b);
    if (digit && k > 0) digit = floor_mod(*digit, iters[k].extent);
    if (!digit)
      return fail(DiagKind::Unprovable,
                  "digit ({} // {}) % {} of the coordinate carries between its parts", x.text(), b,
                  iters[k].extent);
    for (auto& [axis, value] : place.values)
      if (axis == iters[k].axis) value += *digit * iters[k].stride;
    if (iters[k].extent != kUnknownExtent) block *= iters[k].extent;
  }
  return {};
}

}  // namespace

Result<std::int64_t> flatten(std::span<const std::int64_t> coordinate,
                             std::span<const std::int64_t> shape) {
  if (coordinate.size() != shape.size())
    return fail(DiagKind::RankMismatch, "coordinate {} has {} entries, shape {} has {}",
                shape_text(coordinate), coordinate.size(), shape_text(shape), shape.size());
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool unbounded = d == 0 && shape[d] == kUnknownExtent;
    if (coordinate[d] < 0 || (!unbounded && coordinate[d] >= shape[d]))
      return fail(DiagKind::OutOfBounds, "coordinate {} leaves shape {} in dimension {}",
                  shape_text(coordinate), shape_text(shape), d);
    const auto scaled = d == 0 ? std::optional(coordinate[d]) : checked_mul(flat, shape[d]);
    if (!scaled || (d > 0 && *scaled > kMaxPlace))
      return fail(DiagKind::Overflow, "coordinate {} is too large", shape_text(coordinate));
    flat = d == 0 ? *scaled : *scaled + coordinate[d];
  }
  return flat;
}

Shape unflatten(std::int64_t flat, std::span<const std::int64_t> shape) {
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) out.push_back(0);
  for (std::size_t d = shape.size(); d-- > 0;) {
    out[d] = d == 0 ? flat : flat % shape[d];
    if (d > 0) flat /= shape[d];
  }
  return out;
}

Shape split_digits(const TileLayout& layout, std::int64_t flat) {
  Shape extents;
  for (const Iter& iter : layout.shard()) extents.push_back(iter.extent);
  return unflatten(flat, extents);
}

Result<Place> apply(const Layout& layout, std::int64_t flat) {
  WW_TRY_VOID(require_constant_offset(layout.tile()));
  if (flat < 0) return fail(DiagKind::OutOfBounds, "element index {} is negative", flat);
  if (flat > kMaxSize && !layout.tile().has_unknown_extent())
    return fail(DiagKind::OutOfBounds, "element index {} is far beyond the layout", flat);
  const Iters& shard = layout.tile().shard();
  Place place = origin(layout.tile());
  for (std::size_t k = shard.size(); k-- > 0;) {
    const std::int64_t digit = k == 0 ? flat : flat % shard[k].extent;
    const auto amount = checked_mul(digit, shard[k].stride);
    if (!amount || *amount > kMaxPlace || *amount < -kMaxPlace)
      return fail(DiagKind::Overflow, "element {} lies beyond ±2^60", flat);
    add_value(place, shard[k].axis, *amount);
    if (k > 0) flat /= shard[k].extent;
  }
  if (shard.empty() && flat > 0)
    return fail(DiagKind::OutOfBounds, "element {} of a layout with a single element", flat);
  return finish(layout, std::move(place));
}

Result<Place> apply(const Layout& layout, std::span<const std::int64_t> coordinate,
                    std::span<const std::int64_t> shape) {
  WW_TRY_VOID(require_admitted(layout.tile(), shape));
  return apply(layout, WW_TRY(flatten(coordinate, shape)));
}

Result<Place> apply_digits(const Layout& layout, std::span<const std::int64_t> digits) {
  WW_TRY_VOID(require_constant_offset(layout.tile()));
  const Iters& shard = layout.tile().shard();
  if (digits.size() != shard.size())
    return fail(DiagKind::RankMismatch, "{} digits for {} iters", digits.size(), shard.size());
  Place place = origin(layout.tile());
  for (std::size_t k = 0; k < shard.size(); ++k) {
    const bool unbounded = shard[k].extent == kUnknownExtent;
    if (digits[k] < 0 || (!unbounded && digits[k] >= shard[k].extent))
      return fail(DiagKind::OutOfBounds, "digit {} of iter {} leaves its extent {}", digits[k], k,
                  shard[k].extent);
    const auto amount = checked_mul(digits[k], shard[k].stride);
    if (!amount || *amount > kMaxPlace || *amount < -kMaxPlace)
      return fail(DiagKind::Overflow, "digit {} of iter {} lies beyond ±2^60", digits[k], k);
    add_value(place, shard[k].axis, *amount);
  }
  return finish(layout, std::move(place));
}

Result<std::vector<Place>> apply_all(const Layout& layout, std::int64_t flat) {
  const TileLayout& tile = layout.tile();
  if (tile.copies() > kMaxEnumerated)
    return fail(DiagKind::TooLarge, "{} replicas are too many to enumerate (limit {})",
                tile.copies(), kMaxEnumerated);
  const Layout single = tile.replica().empty()
                            ? layout
                            : Layout(WW_TRY(TileLayout::make(tile.shard(), {}, tile.offset())));
  const Place base = WW_TRY(apply(single, flat));
  if (tile.replica().empty()) return std::vector<Place>{base};
  std::vector<Place> places{origin(tile)};
  for (AxisValue& entry :
       places[0])  // the shard's contribution; axes only in the replica stay at 0
    for (const AxisValue& at : base)
      if (at.axis == entry.axis) entry.value = at.value;
  for (const Iter& iter : tile.replica()) {
    const std::size_t before = places.size();
    for (std::int64_t digit = 1; digit < iter.extent; ++digit)
      for (std::size_t i = 0; i < before; ++i) {
        Place moved = places[i];
        add_value(moved, iter.axis, digit * iter.stride);
        places.push_back(moved);
      }
  }
  for (Place& place : places) place = WW_TRY(finish(layout, place));
  std::sort(places.begin(), places.end(), precedes);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

Expr SymbolicPlace::on(Axis axis) const {
  for (const auto& [name, value] : values)
    if (name == axis) return value;
  return 0;
}

Result<SymbolicPlace> apply_symbolic(const Layout& layout, std::span<const Expr> coordinate,
                                     std::span<const std::int64_t> shape) {
  if (coordinate.size() != shape.size())
    return fail(DiagKind::RankMismatch, "{} coordinates for shape {}", coordinate.size(),
                shape_text(shape));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool unbounded = d == 0 && shape[d] == kUnknownExtent;
    const Range range = coordinate[d].range();
    if (range.min < 0 || (!unbounded && range.max >= shape[d]))
      return fail(DiagKind::Unprovable,
                  "coordinate {} ranges over {}..{}, outside extent {} of dimension {}",
                  coordinate[d].text(), range.min, range.max,
                  unbounded ? std::string("?") : fmt::format("{}", shape[d]), d);
  }
  const Grouped grouped = WW_TRY(group(layout, shape));
  const TileLayout& tile = grouped.layout.tile();
  SymbolicPlace place;
  for (const Axis axis : tile.axes()) place.values.emplace_back(axis, tile.offset().on(axis));
  for (std::size_t d = 0; d < shape.size(); ++d)
    WW_TRY_VOID(add_digits(place, grouped.dim(d), coordinate[d]));
  return place;
}

Result<Shape> digits_in_shape(const Layout& layout, std::span<const std::int64_t> coordinate,
                              std::span<const std::int64_t> shape) {
  WW_TRY_VOID(flatten(coordinate, shape));
  const Grouped grouped = WW_TRY(group(layout, shape));
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    Shape extents;
    for (const Iter& iter : grouped.dim(d)) extents.push_back(iter.extent);
    const Shape digits = unflatten(coordinate[d], extents);
    out.append(digits);
  }
  return out;
}

Result<void> require_admitted(const TileLayout& layout, std::span<const std::int64_t> shape) {
  const bool unknown_shape = !shape.empty() && shape[0] == kUnknownExtent;
  if (unknown_shape != layout.has_unknown_extent())
    return fail(DiagKind::NotAdmitted,
                "shape {} and layout `{}` must both have `?` first or neither", shape_text(shape),
                to_text(layout));
  if (unknown_shape) {
    WW_TRY_VOID(element_count(shape.subspan(1)));
    return {};
  }
  const std::int64_t wanted = WW_TRY(element_count(shape));
  if (wanted == layout.size()) return {};
  return fail(DiagKind::NotAdmitted, "shape {} has {} elements, the layout has {}",
              shape_text(shape), wanted, layout.size());
}

}  // namespace ww::layout
