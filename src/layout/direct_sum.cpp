// SPDX-License-Identifier: Apache-2.0
#include "layout/direct_sum.h"

#include <algorithm>

#include "layout/canonical.h"
#include "layout/group.h"
#include "layout/replica.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

bool touches_m(const Layout& layout) {
  const auto axes = layout.tile().axes();
  return std::any_of(axes.begin(), axes.end(), [](Axis axis) { return axis == axes::m(); });
}

Result<Swizzle> common_swizzle(const Layout& a, const Layout& b) {
  const Layout& plain = a.is_swizzled() ? b : a;
  const Layout& swizzled = a.is_swizzled() ? a : b;
  if (swizzled.is_swizzled() && (plain.is_swizzled() || touches_m(plain)))
    return fail(DiagKind::BadSwizzle,
                "addresses of `{}` and `{}` cannot be added: a swizzle is not linear", to_text(a),
                to_text(b));
  return swizzled.swizzle();
}

Result<void> require_known_sum(const Layout& layout) {
  if (!layout.tile().has_unknown_extent()) return {};
  return fail(DiagKind::NeedsConstant, "a direct sum needs known extents, and `{}` has `?`",
              to_text(layout));
}

// The side of `sum` on every second dimension from `first`, replicas and offset by difference.
Result<Layout> other_side(const Layout& sum, std::span<const std::int64_t> interleaved,
                          const Layout& known, std::span<const std::int64_t> known_shape,
                          std::size_t first) {
  WW_TRY_VOID(require_known_sum(sum));
  WW_TRY_VOID(require_known_sum(known));
  if (interleaved.size() != 2 * known_shape.size())
    return fail(DiagKind::RankMismatch, "the interleaved shape {} must have twice the rank of {}",
                shape_text(interleaved), shape_text(known_shape));
  for (std::size_t d = 0; d < known_shape.size(); ++d)
    if (interleaved[2 * d + 1 - first] != known_shape[d])
      return fail(DiagKind::NotASum, "dimension {} of {} does not stand in {}", d,
                  shape_text(known_shape), shape_text(interleaved));
  const Layout whole = canonicalize(sum);
  const Layout part = canonicalize(known);
  const Grouped grouped = WW_TRY(group(whole, interleaved));
  Iters shard;
  for (std::size_t d = first; d < interleaved.size(); d += 2) shard.append(grouped.dim(d));
  Iters replica = WW_TRY(divide_replicas(whole.tile().replica(), part.tile().replica()));
  Offsets offset = whole.tile().offset();
  offset.subtract(part.tile().offset());
  // The swizzle belongs to whichever side has the addresses.
  const Swizzle swizzle = known.is_swizzled() ? Swizzle() : sum.swizzle();
  return Layout::make(
      WW_TRY(TileLayout::make(std::move(shard), std::move(replica), std::move(offset))), swizzle);
}

Shape dims_of(std::span<const std::int64_t> interleaved, std::size_t first) {
  Shape out;
  for (std::size_t d = first; d < interleaved.size(); d += 2) out.push_back(interleaved[d]);
  return out;
}

Result<Layout> verified_side(const Layout& answer, const Layout& again, const Layout& sum) {
  if (WW_TRY(same_places(again, sum))) return canonicalize(answer);
  return fail(DiagKind::NotASum, "the only candidate, `{}`, adds up to `{}` and not to `{}`",
              to_text(answer), to_text(again), to_text(sum));
}

}  // namespace

Result<Layout> direct_sum(const Layout& a, std::span<const std::int64_t> a_shape, const Layout& b,
                          std::span<const std::int64_t> b_shape) {
  if (a_shape.size() != b_shape.size())
    return fail(DiagKind::RankMismatch, "shapes {} and {} differ in rank", shape_text(a_shape),
                shape_text(b_shape));
  WW_TRY_VOID(require_known_sum(a));
  WW_TRY_VOID(require_known_sum(b));
  const Swizzle swizzle = WW_TRY(common_swizzle(a, b));
  const Grouped left = WW_TRY(group(canonicalize(a), a_shape));
  const Grouped right = WW_TRY(group(canonicalize(b), b_shape));
  Iters shard;
  for (std::size_t d = 0; d < a_shape.size(); ++d) {
    shard.append(left.dim(d));
    shard.append(right.dim(d));
  }
  Iters replica = left.layout.tile().replica();
  replica.append(right.layout.tile().replica());
  Offsets offset = left.layout.tile().offset();
  offset.add(right.layout.tile().offset());
  auto tile = TileLayout::make(std::move(shard), std::move(replica), std::move(offset));
  return canonicalize(WW_TRY(Layout::make(WW_TRY(std::move(tile)), swizzle)));
}

Result<Layout> left_of_sum(const Layout& sum, std::span<const std::int64_t> interleaved,
                           const Layout& b, std::span<const std::int64_t> b_shape) {
  const Layout a = WW_TRY(other_side(sum, interleaved, b, b_shape, 0));
  return verified_side(a, WW_TRY(direct_sum(a, dims_of(interleaved, 0), b, b_shape)), sum);
}

Result<Layout> right_of_sum(const Layout& sum, std::span<const std::int64_t> interleaved,
                            const Layout& a, std::span<const std::int64_t> a_shape) {
  const Layout b = WW_TRY(other_side(sum, interleaved, a, a_shape, 1));
  return verified_side(b, WW_TRY(direct_sum(a, a_shape, b, dims_of(interleaved, 1))), sum);
}

}  // namespace ww::layout
