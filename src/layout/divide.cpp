// SPDX-License-Identifier: Apache-2.0
// Complement and the two divisions.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/wide.h"
#include "layout/algebra.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

// Iters on one axis, smallest reach first; direction does not matter for the set of places.
Iters by_stride(const TileLayout& tile, Axis axis) {
  Iters out;
  const auto collect = [&](const Iters& iters) {
    for (Iter iter : iters) {
      if (!(iter.axis == axis) || iter.extent == 1) continue;
      iter.stride = iter.stride < 0 ? -iter.stride : iter.stride;
      out.push_back(iter);
    }
  };
  collect(tile.shard());
  collect(tile.replica());
  std::sort(out.begin(), out.end(),
            [](const Iter& a, const Iter& b) { return a.stride < b.stride; });
  return out;
}

// The free digits of one axis, outermost first.
Result<Iters> gaps(const TileLayout& tile, const BoxSide& side) {
  Iters out;
  std::int64_t filled = 1;
  for (const Iter& iter : by_stride(tile, side.axis)) {
    if (iter.stride == 0)
      return fail(DiagKind::NotInjective, "`{}` has a stride of 0 on `{}`", to_text(tile),
                  side.axis.name());
    if (iter.stride % filled != 0)
      return fail(DiagKind::Indivisible,
                  "strides do not nest on `{}`: {} is not a multiple of the {} places below it",
                  side.axis.name(), iter.stride, filled);
    if (iter.stride > filled) out.push_back({iter.stride / filled, filled, side.axis});
    const auto reach = checked_mul(iter.stride, iter.extent);
    if (!reach || *reach > kMaxPlace)
      return fail(DiagKind::Overflow, "places on `{}` leave ±2^60", side.axis.name());
    filled = *reach;
  }
  if (side.extent < 1 || side.extent % filled != 0)
    return fail(DiagKind::Indivisible,
                "extent {} of `{}` is not a multiple of the {} places the layout spans there",
                side.extent, side.axis.name(), filled);
  if (side.extent > filled) out.push_back({side.extent / filled, filled, side.axis});
  std::reverse(out.begin(), out.end());
  return out;
}

Result<TileLayout> without_swizzle(const Layout& layout) {
  if (!layout.is_swizzled()) return layout.tile();
  auto plain = fit_image(WW_TRY(enumerate(layout)));
  if (plain) return plain;
  return fail(std::move(plain.error())
                  .with_note("the layout is swizzled, and its places are not a plain tile layout"));
}

std::int64_t lookup(const Image& image, Axis axis, std::size_t index) {
  const auto values = image.on(axis);
  return values.empty() ? 0 : values[index];
}

// X(y) for all y that the divisor reaches, replicas of the layout kept side by side.
Result<Image> quotient_table(const Layout& layout, const Layout& divisor, Axis axis) {
  const Image from = WW_TRY(enumerate(divisor));
  const Image to = WW_TRY(enumerate(layout));
  std::int64_t top = 0;
  for (std::int64_t i = 0; i < from.size * from.copies; ++i) {
    const std::int64_t y = lookup(from, axis, static_cast<std::size_t>(i));
    if (y < 0)
      return fail(DiagKind::OutOfBounds, "the divisor `{}` gives the negative number {}",
                  to_text(divisor), y);
    top = std::max(top, y);
  }
  if (top >= kMaxEnumerated || (top + 1) * to.copies > kMaxEnumerated)
    return fail(DiagKind::NotOnto, "the divisor `{}` reaches {}, far beyond its {} elements",
                to_text(divisor), top, from.size);
  Image out;
  out.size = top + 1;
  out.copies = to.copies;
  out.axes = to.axes;
  out.values.assign(to.axes.size(),
                    std::vector<std::int64_t>(static_cast<std::size_t>(out.size * out.copies)));
  std::vector<std::int64_t> holder(static_cast<std::size_t>(out.size), -1);
  for (std::int64_t i = 0; i < from.size * from.copies; ++i) {
    const std::int64_t x = i % from.size;
    const std::int64_t y = lookup(from, axis, static_cast<std::size_t>(i));
    std::int64_t& held = holder[static_cast<std::size_t>(y)];
    for (std::size_t a = 0; a < to.axes.size(); ++a) {
      for (std::int64_t r = 0; r < to.copies; ++r) {
        const std::int64_t value = to.values[a][static_cast<std::size_t>(r * to.size + x)];
        std::int64_t& slot = out.values[a][static_cast<std::size_t>(r * out.size + y)];
        if (held != -1 && slot != value)
          return fail(
              DiagKind::NotInjective,
              "the divisor sends elements {} and {} both to {}, but the layout places them apart",
              held, x, y);
        slot = value;
      }
    }
    held = x;
  }
  const auto hole = std::find(holder.begin(), holder.end(), -1);
  if (hole != holder.end())
    return fail(DiagKind::NotOnto,
                "the divisor `{}` never gives {}, so the quotient is not determined there",
                to_text(divisor), hole - holder.begin());
  return out;
}

Result<Axis> divisor_axis(const Layout& layout) {
  const auto axes = moving_axes(layout.tile());
  if (axes.size() <= 1) return axes.empty() ? Axis() : axes[0];
  return fail(DiagKind::BadAxis, "a divisor gives numbers on one axis, `{}` uses `{}` and `{}`",
              to_text(layout), axes[0].name(), axes[1].name());
}

// Through the inverse, when the divisor is a permutation of [0, size) and the rest is structural.
std::optional<Layout> divide_by_inverse(const Layout& layout, const Layout& divisor) {
  if (divisor.is_swizzled() || !divisor.tile().replica().empty()) return std::nullopt;
  const auto back = inverse(divisor);
  if (!back || back->box.size() > 1 || (!back->box.empty() && back->box[0].first != 0))
    return std::nullopt;
  auto out = compose(layout, back->map);
  if (!out) return std::nullopt;
  return *std::move(out);
}

}  // namespace

Result<Layout> complement(const Layout& layout, std::span<const BoxSide> extents) {
  WW_TRY_VOID(require_constant(layout, "complement"));
  const TileLayout tile = WW_TRY(without_swizzle(layout));
  for (const Axis axis : moving_axes(tile))
    if (std::none_of(extents.begin(), extents.end(),
                     [&](const BoxSide& side) { return side.axis == axis; }))
      return fail(DiagKind::BadAxis, "the box has no extent for axis `{}` of the layout",
                  axis.name());
  Iters shard;
  Offsets offset;
  for (const BoxSide& side : extents) {
    shard.append(WW_TRY(gaps(tile, side)));
    offset.add(side.axis, side.first - tile.range_on(side.axis).min);
  }
  return canonicalize(Layout(WW_TRY(TileLayout::make(std::move(shard), {}, std::move(offset)))));
}

Result<Layout> right_divide(const Layout& layout, const Layout& divisor) {
  WW_TRY_VOID(require_constant(divisor, "right division"));
  WW_TRY_VOID(require_constant(layout, "right division"));
  if (layout.size() != divisor.size())
    return fail(DiagKind::NotAdmitted, "the layout has {} elements, the divisor {}", layout.size(),
                divisor.size());
  const Axis axis = WW_TRY(divisor_axis(divisor));
  if (auto out = divide_by_inverse(layout, divisor)) return std::move(*out);
  const Layout before = layout.tile();  // the swizzle acts on the result as it acts on the layout
  auto fitted = fit_image(WW_TRY(quotient_table(before, divisor, axis)));
  if (!fitted)
    return fail(std::move(fitted.error()).with_note("the quotient exists, but only as a table"));
  return Layout::make(*std::move(fitted), layout.swizzle());
}

Result<Layout> divide(const Layout& layout, const Layout& tiler) {
  WW_TRY_VOID(require_constant(layout, "division"));
  const Axis axis = WW_TRY(divisor_axis(tiler));
  const BoxSide whole{axis, 0, layout.size()};
  const Layout rest = WW_TRY(complement(tiler, std::span(&whole, 1)));
  if (tiler.is_swizzled())
    return fail(DiagKind::BadSwizzle, "a tiler cannot be swizzled: `{}`", to_text(tiler));
  Iters shard = rest.tile().shard();
  shard.append(tiler.tile().shard());
  Offsets offset = tiler.tile().offset();
  offset.add(rest.tile().offset());
  return compose(layout, WW_TRY(TileLayout::make(std::move(shard), tiler.tile().replica(),
                                                 std::move(offset))));
}

}  // namespace ww::layout
