// SPDX-License-Identifier: Apache-2.0
// Why the shard form is unique: two neighbouring iters can be merged exactly when the map is linear
// across them, so a form without mergeable neighbours lists the longest linear runs, and these are
// determined by the map. The replica is a set and has a normal form of its own (layout/replica.h).
#include "layout/canonical.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/wide.h"
#include "layout/image.h"
#include "layout/replica.h"

namespace ww::layout {
namespace {

// Equal up to what no place can show: the axis label of zero strides, unit shards.
bool same_shard(const Iters& a, const Iters& b) {
  const auto effective = [](const Iters& iters) {
    return iters.size() == 1 && iters[0].extent == 1 ? Iters() : iters;
  };
  const Iters left = effective(a);
  const Iters right = effective(b);
  return std::equal(
      left.begin(), left.end(), right.begin(), right.end(), [](const Iter& p, const Iter& q) {
        return p.extent == q.extent && p.stride == q.stride && (p.stride == 0 || p.axis == q.axis);
      });
}

// Sorted sets of places per element, by enumeration.
Result<bool> same_by_enumeration(const Layout& a, const Layout& b) {
  const Image left = WW_TRY(enumerate(a));
  const Image right = WW_TRY(enumerate(b));
  std::vector<Axis> axes(left.axes.begin(), left.axes.end());
  for (const Axis axis : right.axes)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  const auto places = [&](const Image& image, std::int64_t x) {
    std::set<Displacement> set;
    for (std::int64_t r = 0; r < image.copies; ++r) {
      Displacement place;
      for (const Axis axis : axes) {
        const auto column = image.on(axis);
        place.push_back(column.empty() ? 0 : column[static_cast<std::size_t>(r * image.size + x)]);
      }
      set.insert(std::move(place));
    }
    return set;
  };
  for (std::int64_t x = 0; x < left.size; ++x)
    if (places(left, x) != places(right, x)) return false;
  return true;
}

}  // namespace

bool continues(const Iter& outer, const Iter& inner) {
  if (outer.stride == 0 && inner.stride == 0) return true;
  return outer.axis == inner.axis && inner.stride != 0 && inner.extent != kUnknownExtent &&
         static_cast<Wide>(inner.extent) * inner.stride == outer.stride;
}

void merge_iters(Iters& iters) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < iters.size(); ++i) {
    const Iter iter = iters[i];
    if (iter.extent == 1) continue;
    if (kept > 0 && continues(iters[kept - 1], iter)) {
      Iter& outer = iters[kept - 1];
      if (outer.extent != kUnknownExtent) outer.extent *= iter.extent;
      outer.stride = iter.stride;
      continue;
    }
    iters[kept++] = iter;
  }
  while (iters.size() > kept) iters.pop_back();
}

TileLayout canonicalize(const TileLayout& layout) {
  Iters shard = layout.shard();
  merge_iters(shard);
  if (shard.empty() && !layout.shard().empty())
    shard.push_back({1, 1, layout.shard().front().axis});
  Iters replica = layout.replica();
  Offsets offset = layout.offset();
  normalize_replica(replica, offset);
  auto out = TileLayout::make(std::move(shard), std::move(replica), std::move(offset));
  // Turning replicas around can only shrink the reach, so this is always valid.
  return out ? *std::move(out) : layout;
}

Layout canonicalize(const Layout& layout) {
  TileLayout tile = canonicalize(layout.tile());
  auto out = Layout::make(std::move(tile), layout.swizzle());
  return out ? *std::move(out) : layout;
}

Result<bool> same_places(const Layout& a, const Layout& b) {
  if (a == b) return true;
  const bool unknown = a.tile().has_unknown_extent() || b.tile().has_unknown_extent();
  if (!unknown && a.size() != b.size()) return false;
  const TileLayout left = canonicalize(a.tile());
  const TileLayout right = canonicalize(b.tile());
  const bool same_map = same_shard(left.shard(), right.shard()) && left.offset() == right.offset();
  if (a.swizzle() == b.swizzle()) {
    if (same_map) return same_replica(left.replica(), right.replica());
    const bool settled = !unknown && left.offset().is_constant() && right.offset().is_constant();
    if (settled) return false;
  }
  return same_by_enumeration(a, b);
}

bool is_trivial(const Layout& layout) {
  if (layout.is_swizzled()) return false;
  const TileLayout tile = canonicalize(layout.tile());
  if (!tile.replica().empty() || !tile.offset().empty() || tile.shard().size() > 1) return false;
  return tile.shard().empty() || (tile.shard()[0].stride == 1 && tile.shard()[0].axis.is_memory());
}

}  // namespace ww::layout
