// SPDX-License-Identifier: Apache-2.0
#include "layout/views.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/wide.h"
#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

Result<void> check_permutation(std::span<const std::int64_t> p, std::size_t count,
                               std::string_view of) {
  std::vector<bool> seen(count);
  bool good = p.size() == count;
  for (const std::int64_t i : p) {
    if (i < 0 || i >= static_cast<std::int64_t>(count) || seen[static_cast<std::size_t>(i)])
      good = false;
    if (!good) break;
    seen[static_cast<std::size_t>(i)] = true;
  }
  if (good) return {};
  return fail(DiagKind::BadArgument, "{} is not a permutation of the {} {}", shape_text(p), count,
              of);
}

Result<void> check_pack_count(std::int64_t n) {
  if (n >= 1 && n <= kMaxSize) return {};
  return fail(DiagKind::BadArgument, "cannot pack or unpack {} elements into one", n);
}

// The swizzle after addresses grew by 2^log2 (negative: shrank).
Result<Swizzle> shift_swizzle(const Layout& layout, std::int64_t n, int sign, Axis axis) {
  const Swizzle& s = layout.swizzle();
  if (s.is_none() || !(axis == axes::m())) return s;
  if (!std::has_single_bit(static_cast<std::uint64_t>(n)))
    return fail(DiagKind::BadSwizzle, "a swizzled layout packs by powers of two, not by {}", n);
  const int log2 = std::countr_zero(static_cast<std::uint64_t>(n));
  if (sign < 0 && s.per_element() < log2)
    return fail(DiagKind::BadSwizzle, "packing {} elements would cut into the swizzle's unit of {}",
                n, std::int64_t{1} << s.per_element());
  return Swizzle::make(s.per_element() + sign * log2, s.len(), s.atom(), s.inner());
}

Result<Iters> multiply_on(Iters iters, Axis axis, std::int64_t n) {
  for (Iter& iter : iters) {
    if (!(iter.axis == axis)) continue;
    const auto product = checked_mul(iter.stride, n);
    if (!product) return fail(DiagKind::Overflow, "stride {} · {} leaves 64 bits", iter.stride, n);
    iter.stride = *product;
  }
  return iters;
}

Result<Iters> divide_on(Iters iters, Axis axis, std::int64_t n) {
  for (Iter& iter : iters) {
    if (!(iter.axis == axis) || iter.extent == 1) continue;
    if (iter.stride % n != 0)
      return fail(DiagKind::Indivisible,
                  "stride {} is not a multiple of the {} elements packed into one",
                  place_text(iter.stride, axis), n);
    iter.stride /= n;
  }
  return iters;
}

// Moves the term on `axis` through `change`.
template <typename Change>
Result<Offsets> change_offset(const Offsets& offset, Axis axis, Change&& change) {
  Offsets out;
  for (const Axis on : offset.axes())
    out.add(on, on == axis ? WW_TRY(change(offset.on(on))) : offset.on(on));
  return out;
}

}  // namespace

Result<Layout> permute_iters(const Layout& layout, std::span<const std::int64_t> p) {
  const Iters& shard = layout.tile().shard();
  WW_TRY_VOID(check_permutation(p, shard.size(), "iters"));
  Iters out;
  for (const std::int64_t i : p) out.push_back(shard[static_cast<std::size_t>(i)]);
  return layout.with_shard(std::move(out));
}

Result<Layout> permute_dims(const Layout& layout, std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> p) {
  WW_TRY_VOID(check_permutation(p, shape.size(), "dimensions"));
  const Grouped grouped = WW_TRY(group(layout, shape));
  Iters out;
  for (const std::int64_t d : p) out.append(grouped.dim(static_cast<std::size_t>(d)));
  return layout.with_shard(std::move(out));
}

Result<Layout> storage(const Layout& layout) {
  for (const Axis axis : layout.tile().axes())
    if (axis.kind() == AxisKind::Unknown)
      return fail(DiagKind::UnknownAxisKind, "axis `{}` is not known to be thread or memory",
                  axis.name());
  const auto memory_only = [](const Iters& iters) {
    Iters out;
    for (const Iter& iter : iters)
      if (iter.axis.is_memory()) out.push_back(iter);
    return out;
  };
  Offsets offset;
  for (const Axis axis : layout.tile().offset().axes())
    if (axis.is_memory()) offset.add(axis, layout.tile().offset().on(axis));
  return Layout::make(
      WW_TRY(TileLayout::make(memory_only(layout.tile().shard()),
                              memory_only(layout.tile().replica()), std::move(offset))),
      layout.swizzle());
}

Result<Layout> unpack(const Layout& layout, std::int64_t n, Axis axis) {
  WW_TRY_VOID(check_pack_count(n));
  const TileLayout& tile = layout.tile();
  Iters shard = WW_TRY(multiply_on(tile.shard(), axis, n));
  shard.push_back({n, 1, axis});
  Iters replica = WW_TRY(multiply_on(tile.replica(), axis, n));
  for (const OffsetTerm& term : tile.offset().terms())
    if (term.axis == axis && !checked_mul(term.coef, n))
      return fail(DiagKind::Overflow, "offset {} · {} leaves 64 bits", term.coef, n);
  Offsets offset = WW_TRY(
      change_offset(tile.offset(), axis, [&](const Expr& e) -> Result<Expr> { return e * n; }));
  return Layout::make(
      WW_TRY(TileLayout::make(std::move(shard), std::move(replica), std::move(offset))),
      WW_TRY(shift_swizzle(layout, n, +1, axis)));
}

Result<Layout> pack(const Layout& layout, std::int64_t n, Axis axis) {
  WW_TRY_VOID(check_pack_count(n));
  const bool unknown = layout.tile().has_unknown_extent();
  if (!unknown && layout.size() % n != 0)
    return fail(DiagKind::Indivisible, "{} elements do not pack by {}", layout.size(), n);
  const Shape shape{unknown ? kUnknownExtent : layout.size() / n, n};
  const Grouped grouped = WW_TRY(group(layout, shape));
  Iters inside(grouped.dim(1));
  merge_iters(inside);
  const bool contiguous =
      n == 1 || (inside.size() == 1 && inside[0].stride == 1 && inside[0].axis == axis);
  if (!contiguous)
    return fail(DiagKind::Indivisible,
                "the innermost {} elements of `{}` are not consecutive on `{}`", n, to_text(layout),
                axis.name());
  Iters shard = WW_TRY(divide_on(Iters(grouped.dim(0)), axis, n));
  Iters replica = WW_TRY(divide_on(layout.tile().replica(), axis, n));
  Offsets offset =
      WW_TRY(change_offset(layout.tile().offset(), axis, [&](const Expr& e) -> Result<Expr> {
        const auto quotient = floor_div(e, n);
        if (e.multiple_of() % n == 0 && quotient) return *quotient;
        return fail(DiagKind::Indivisible,
                    "offset {} is not a multiple of the {} elements packed into one", e.text(), n);
      }));
  return Layout::make(
      WW_TRY(TileLayout::make(std::move(shard), std::move(replica), std::move(offset))),
      WW_TRY(shift_swizzle(layout, n, -1, axis)));
}

Result<Layout> broadcast(const Layout& layout, std::int64_t n, std::int64_t position, Axis axis) {
  if (n < 1) return fail(DiagKind::BadExtent, "cannot broadcast to {} elements", n);
  Iters shard = layout.tile().shard();
  const auto count = static_cast<std::int64_t>(shard.size());
  const std::int64_t at = position < 0 ? position + count + 1 : position;
  if (at < 0 || at > count)
    return fail(DiagKind::BadArgument, "position {} is outside the {} iters", position, count);
  if (at == 0 && layout.tile().has_unknown_extent())
    return fail(DiagKind::BadExtent, "nothing can stand before the unknown extent `?`");
  shard.insert(static_cast<std::size_t>(at), {n, 0, axis});
  return layout.with_shard(std::move(shard));
}

}  // namespace ww::layout
