// SPDX-License-Identifier: Apache-2.0
#include "property/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace ww::test {

// ---- From parts to values -----------------------------------------------------------------------

layout::Axis axis_named(std::string_view name) {
  using layout::Axis;
  using layout::AxisKind;
  if (const auto builtin = Axis::builtin(name)) return *builtin;
  if (name == "reg") return *Axis::declare(name, AxisKind::Memory);
  if (name == "gpu") return *Axis::declare(name, AxisKind::Device);
  if (name == "worker") return *Axis::declare(name, AxisKind::Thread);
  if (name == "quad") return *Axis::declare_cta_thread(name, 4, 8);
  if (name == "lane_in_quad") return *Axis::declare_cta_thread(name, 1, 4);
  return *Axis::declare(name, AxisKind::Unknown);
}

layout::Names declared_names() {
  layout::Names names;
  for (const char* name : {"reg", "gpu", "worker", "quad", "lane_in_quad"}) {
    names.axes.emplace(name, axis_named(name));
  }
  return names;
}

namespace {

layout::Iters build_iters(const std::vector<OIter>& iters) {
  layout::Iters out;
  for (const OIter& it : iters) out.push_back({it.extent, it.stride, axis_named(it.axis)});
  return out;
}

}  // namespace

Result<layout::Layout> build(const OLayout& parts) {
  layout::Offsets offset;
  for (const auto& [axis, value] : parts.offset) offset.add(axis_named(axis), value);
  const auto tile = layout::TileLayout::make(build_iters(parts.shard), build_iters(parts.replica),
                                             std::move(offset));
  if (!tile) return fail(tile.error());
  const OSwizzle& s = parts.swizzle;
  const auto swizzle = layout::Swizzle::make(s.per_element, s.len, s.atom, s.inner);
  if (!swizzle) return fail(swizzle.error());
  return layout::Layout::make(*tile, *swizzle);
}

layout::Layout parsed(std::string_view notation) {
  auto layout = layout::parse_layout(notation, declared_names());
  if (layout) return *std::move(layout);
  ADD_FAILURE() << notation << ": " << layout.error().text;
  return {};
}

layout::Shape shape_of(const Ints& values) { return layout::Shape(values); }

// ---- Chance -------------------------------------------------------------------------------------

namespace {

/// Up to `max_rank` extents whose product stays within max_size.
Ints random_extents(Rng& rng, const Wish& wish, std::size_t min_rank) {
  const std::size_t rank = min_rank + rng.below(wish.max_rank - min_rank + 1);
  Ints out;
  std::int64_t size = 1;
  while (out.size() < rank) {
    const std::int64_t e = rng.pick(wish.extents);
    const bool fits = size * e <= wish.max_size;
    out.push_back(fits ? e : 1);
    size *= out.back();
  }
  return out;
}

std::int64_t random_stride(Rng& rng, const Wish& wish) {
  static const Ints kUsual = {0, 1, 1, 2, 3, 4, 6, 8, 12, 16, 32, 48, 64};
  const std::int64_t s = rng.one_in(3) ? rng.between(0, 40) : rng.pick(kUsual);
  return wish.negative && rng.one_in(5) ? -s : s;
}

/// Strides that continue their neighbours on the same axis from time to time, as real layouts do.
std::vector<OIter> random_iters(Rng& rng, const Wish& wish, const Ints& extents) {
  std::vector<OIter> out;
  for (const std::int64_t e : extents) {
    out.push_back({e, random_stride(rng, wish), rng.pick(wish.axes)});
  }
  for (std::size_t k = out.size(); k-- > 1;) {
    if (!rng.one_in(3)) continue;
    out[k - 1].axis = out[k].axis;
    out[k - 1].stride = out[k].stride * out[k].extent;
  }
  return out;
}

void lift_m_above_0(OLayout& parts) {
  OLayout plain = parts;
  plain.swizzle = {};
  std::int64_t low = parts.offset.contains("m") ? parts.offset.at("m") : 0;
  for (const auto* list : {&parts.shard, &parts.replica}) {
    for (const OIter& it : *list) {
      if (it.axis == "m") low += std::min<std::int64_t>(0, (it.extent - 1) * it.stride);
    }
  }
  if (low < 0) parts.offset["m"] -= low;
  std::erase_if(parts.offset, [](const auto& entry) { return entry.second == 0; });
}

void add_replica_and_offset(Rng& rng, const Wish& wish, OLayout& parts) {
  if (wish.replica && rng.one_in(2)) {
    static const Wish kSmall{.max_rank = 2, .max_size = 8, .extents = {1, 2, 2, 3, 4}};
    Wish small = kSmall;
    small.axes = wish.axes;
    small.negative = wish.negative;
    parts.replica = random_iters(rng, small, random_extents(rng, small, 1));
  }
  if (wish.offset && rng.one_in(2)) {
    parts.offset[rng.pick(wish.axes)] = rng.between(wish.negative ? -9 : 1, 40);
    if (rng.one_in(3)) parts.offset[rng.pick(wish.axes)] = rng.between(1, 9);
  }
  std::erase_if(parts.offset, [](const auto& entry) { return entry.second == 0; });
}

Ints prime_factors(std::int64_t n) {
  Ints out;
  for (std::int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) out.push_back(p);
  }
  if (n > 1) out.push_back(n);
  return out;
}

}  // namespace

OSwizzle random_swizzle(Rng& rng) {
  OSwizzle s;
  s.len = static_cast<int>(rng.between(1, 3));
  s.atom = static_cast<int>(rng.between(s.len, 4));
  s.per_element = static_cast<int>(rng.between(0, 3));
  s.inner = !rng.one_in(4);
  return s;
}

OLayout random_layout(Rng& rng, const Wish& wish) {
  OLayout out;
  out.shard = random_iters(rng, wish, random_extents(rng, wish, rng.one_in(20) ? 0 : 1));
  add_replica_and_offset(rng, wish, out);
  if (wish.swizzle && rng.one_in(2)) {
    out.swizzle = random_swizzle(rng);
    lift_m_above_0(out);
  }
  return out;
}

OLayout random_permutation(Rng& rng, std::int64_t size, const std::string& axis) {
  const Ints extents = random_shape(rng, size);
  OLayout out;
  std::int64_t stride = 1;
  for (const std::int64_t k : random_order(rng, extents.size())) {
    const std::int64_t e = extents[static_cast<std::size_t>(k)];
    out.shard.insert(
        out.shard.begin() + rng.between(0, static_cast<std::int64_t>(out.shard.size())),
        OIter{e, stride, axis});
    stride *= e;
  }
  return out;
}

OLayout random_injective(Rng& rng, const Wish& wish) {
  OLayout out;
  std::map<std::string, std::int64_t> next;
  for (const std::int64_t e : random_extents(rng, wish, 1)) {
    const std::string& axis = rng.pick(wish.axes);
    std::int64_t& stride = next.try_emplace(axis, 1).first->second;
    const std::int64_t gap = rng.one_in(6) ? 2 : 1;
    const auto at = rng.between(0, static_cast<std::int64_t>(out.shard.size()));
    out.shard.insert(out.shard.begin() + at, OIter{e, stride * gap, axis});
    stride *= gap * e;
  }
  if (wish.replica && rng.one_in(3)) {
    const std::string& axis = rng.pick(wish.axes);
    out.replica.push_back({2, next.try_emplace(axis, 1).first->second, axis});
  }
  if (wish.offset && rng.one_in(3)) out.offset[rng.pick(wish.axes)] = rng.between(1, 20);
  return out;
}

Ints random_shape(Rng& rng, std::int64_t size) {
  const std::size_t rank = 1 + rng.below(3);
  Ints out(rank, 1);
  for (const std::int64_t p : prime_factors(size)) out[rng.below(rank)] *= p;
  if (rng.one_in(6)) out.insert(out.begin() + rng.between(0, static_cast<std::int64_t>(rank)), 1);
  return out;
}

Ints shape_along(Rng& rng, const OLayout& layout) {
  Ints pieces;
  for (const OIter& it : layout.shard) {
    if (rng.one_in(2)) {
      pieces.push_back(it.extent);
      continue;
    }
    for (const std::int64_t p : prime_factors(it.extent)) pieces.push_back(p);
  }
  Ints out = {1};
  for (const std::int64_t p : pieces) {
    if (out.back() == 1 || rng.one_in(2)) {
      out.back() *= p;
    } else {
      out.push_back(p);
    }
  }
  return out;
}

Ints random_order(Rng& rng, std::size_t n) {
  Ints out(n);
  std::iota(out.begin(), out.end(), 0);
  for (std::size_t k = n; k-- > 1;) std::swap(out[k], out[rng.below(k + 1)]);
  return out;
}

// ---- All small ones -----------------------------------------------------------------------------

namespace {

void extend(const Space& space, OLayout& parts, std::size_t rank, std::size_t axes_used,
            const std::function<void(const OLayout&)>& visit) {
  if (parts.shard.size() == rank) {
    for (const auto& replica : space.replicas) {
      for (const auto& offset : space.offsets) {
        parts.replica = replica;
        parts.offset = offset;
        visit(parts);
      }
    }
    return;
  }
  const std::size_t choices =
      space.all_axes ? space.axes.size() : std::min(axes_used + 1, space.axes.size());
  for (const std::int64_t e : space.extents) {
    for (const std::int64_t s : space.strides) {
      for (std::size_t a = 0; a < choices; ++a) {
        parts.shard.push_back({e, s, space.axes[a]});
        extend(space, parts, rank, std::max(axes_used, a + 1), visit);
        parts.shard.pop_back();
      }
    }
  }
}

void factor(std::int64_t n, std::size_t max_rank, Ints& prefix, std::vector<Ints>& out) {
  if (max_rank == 0) return;
  prefix.push_back(n);
  out.push_back(prefix);
  prefix.pop_back();
  for (std::int64_t e = 2; e < n; ++e) {
    if (n % e != 0) continue;
    prefix.push_back(e);
    factor(n / e, max_rank - 1, prefix, out);
    prefix.pop_back();
  }
}

}  // namespace

void for_each_layout(const Space& space, const std::function<void(const OLayout&)>& visit) {
  for (std::size_t rank = 0; rank <= space.max_rank; ++rank) {
    OLayout parts;
    extend(space, parts, rank, 0, visit);
  }
}

Space shards_of_rank_3() { return {}; }

Space full_of_rank_2() {
  Space space;
  space.max_rank = 2;
  space.extents = {1, 2, 3};
  space.strides = {-2, 0, 1, 3};
  space.replicas = {{},
                    {{2, 1, "m"}},
                    {{2, 0, "laneid"}},
                    {{3, -2, "m"}},
                    {{2, 4, "warpid"}, {2, 1, "m"}},
                    {{2, 2, "m"}, {2, 1, "m"}}};
  space.offsets = {{}, {{"m", 3}}, {{"laneid", -1}, {"m", -2}}};
  return space;
}

std::vector<Ints> all_shapes(std::int64_t n, std::size_t max_rank) {
  std::vector<Ints> out;
  Ints prefix;
  factor(n, max_rank, prefix, out);
  return out;
}

}  // namespace ww::test
