// SPDX-License-Identifier: Apache-2.0
// compose(a, b): feed b's numbers to a. The structural rule walks a's digits: an iter e:s of b
// counts in steps of s through a's flat index, and as long as its range [s, e·s) is cut by a's
// digit boundaries into whole factors, each factor is an iter of the result. Iters of b whose
// ranges are disjoint cannot carry into one another. Everything else is composed element by element
// and read back with `fit`.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/wide.h"
#include "layout/algebra.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

// The one axis on which b places, or m.
Result<Axis> only_axis(const Layout& b) {
  const auto axes = moving_axes(b.tile());
  if (axes.size() > 1)
    return fail(DiagKind::BadAxis,
                "only a layout on a single axis can feed another; `{}` uses `{}` and `{}`",
                to_text(b), axes[0].name(), axes[1].name());
  return axes.empty() ? Axis() : axes[0];
}

Result<void> check_feeds(const Layout& a, const Layout& b, Axis axis) {
  if (b.is_swizzled()) return {};  // checked element by element
  const Range range = b.tile().range_on(axis);
  const bool unbounded = a.tile().has_unknown_extent();
  if (range.min >= 0 && (unbounded || range.max < a.size())) return {};
  return fail(DiagKind::OutOfBounds, "`{}` gives {}..{}, outside the {} elements of `{}`",
              to_text(b), range.min, range.max,
              unbounded ? std::string("?") : fmt::format("{}", a.size()), to_text(a));
}

// One iter of b through a's canonical shard, innermost factor first.
std::optional<Iters> through(const Iter& iter, const Iters& a) {
  Iters out;
  if (iter.extent == 1) return out;
  if (iter.stride == 0) return Iters{{iter.extent, 0, a.empty() ? Axis() : a.back().axis}};
  std::int64_t at = iter.stride;
  std::int64_t rest = iter.extent;
  std::int64_t begin = 1;  // a's current digit counts [begin, begin · extent)
  for (std::size_t k = a.size(); k-- > 0 && rest > 1;) {
    const bool outermost = k == 0;
    const std::int64_t end = outermost ? 0 : begin * a[k].extent;
    if (!outermost && at >= end) {
      begin = end;
      continue;
    }
    if (at % begin != 0) return std::nullopt;
    std::int64_t take = rest;
    if (!outermost) {
      if (end % at != 0) return std::nullopt;
      const std::int64_t room = end / at;
      if (rest > room ? rest % room != 0 : room % rest != 0) return std::nullopt;
      take = std::min(rest, room);
    }
    out.push_back({take, a[k].stride * (at / begin), a[k].axis});
    at *= take;
    rest /= take;
    begin = end;
  }
  if (rest > 1) return std::nullopt;
  return out;
}

// Ranges [s, e·s) must follow one another in whole steps, and the offset must leave them free.
bool digits_are_disjoint(const Layout& b, std::int64_t offset) {
  Iters all = b.tile().shard();
  all.append(b.tile().replica());
  auto* end = std::remove_if(all.begin(), all.end(),
                             [](const Iter& i) { return i.extent == 1 || i.stride == 0; });
  while (all.end() != end) all.pop_back();
  std::sort(all.begin(), all.end(),
            [](const Iter& x, const Iter& y) { return x.stride < y.stride; });
  std::int64_t reached = 1;
  for (const Iter& iter : all) {
    if (iter.stride < 0 || iter.stride % reached != 0) return false;
    if (offset / iter.stride % iter.extent != 0) return false;
    reached = iter.stride * iter.extent;
  }
  return true;
}

std::optional<TileLayout> compose_structure(const TileLayout& a, const Layout& b, Axis axis) {
  if (b.is_swizzled() || !b.tile().offset().is_constant() || b.tile().has_unknown_extent())
    return std::nullopt;
  const std::int64_t start = b.tile().offset().constant_on(axis);
  if (start < 0 || !digits_are_disjoint(b, start)) return std::nullopt;
  Iters inner = a.shard();
  merge_iters(inner);
  const auto map = [&](const Iters& iters) -> std::optional<Iters> {
    Iters out;
    for (const Iter& iter : iters) {
      auto parts = through(iter, inner);
      if (!parts) return std::nullopt;
      std::reverse(parts->begin(), parts->end());
      out.append(*parts);
    }
    return out;
  };
  auto shard = map(b.tile().shard());
  auto replica = map(b.tile().replica());
  if (!shard || !replica) return std::nullopt;
  replica->append(a.replica());
  Offsets offset = a.offset();
  if (start != 0) {
    const auto shard_only = TileLayout::make(inner);
    const auto place = apply(Layout(*shard_only), start);
    if (!place) return std::nullopt;
    for (const AxisValue& at : *place) offset.add(at.axis, at.value);
  }
  auto out = TileLayout::make(std::move(*shard), std::move(*replica), std::move(offset));
  if (!out) return std::nullopt;
  return *std::move(out);
}

// a at every number that b gives, before a's swizzle and replicas.
Result<Image> compose_table(const TileLayout& a, const Layout& b, Axis axis) {
  const Image numbers = WW_TRY(enumerate(b));
  const Layout shard_only = WW_TRY(TileLayout::make(a.shard()));
  Image out;
  out.size = numbers.size;
  out.copies = numbers.copies;
  out.axes = shard_only.tile().axes();
  const auto count = static_cast<std::size_t>(numbers.size * numbers.copies);
  out.values.assign(out.axes.size(), std::vector<std::int64_t>(count));
  const auto column = numbers.on(axis);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t number = column.empty() ? 0 : column[i];
    if (number < 0 || (!a.has_unknown_extent() && number >= a.size()))
      return fail(DiagKind::OutOfBounds, "`{}` gives {}, outside the {} elements of `{}`",
                  to_text(b), number, a.size(), to_text(a));
    const Place place = WW_TRY(apply(shard_only, number));
    for (std::size_t k = 0; k < place.size(); ++k) out.values[k][i] = place[k].value;
  }
  return out;
}

Result<TileLayout> add_outer(const TileLayout& fitted, const TileLayout& a) {
  Iters replica = fitted.replica();
  replica.append(a.replica());
  Offsets offset = fitted.offset();
  offset.add(a.offset());
  return TileLayout::make(fitted.shard(), std::move(replica), std::move(offset));
}

}  // namespace

Result<Layout> compose(const Layout& a, const Layout& b) {
  const Axis axis = WW_TRY(only_axis(b));
  if (b.tile().has_unknown_extent())
    return fail(DiagKind::NeedsConstant, "compose needs known extents, and `{}` has `?`",
                to_text(b));
  WW_TRY_VOID(check_feeds(a, b, axis));
  auto tile = compose_structure(a.tile(), b, axis);
  if (tile) {
    Iters shard = tile->shard();
    merge_iters(shard);
    if (shard.empty())
      shard.push_back({1, 1, a.tile().shard().empty() ? Axis() : a.tile().shard().front().axis});
    return Layout::make(WW_TRY(TileLayout::make(std::move(shard), tile->replica(), tile->offset())),
                        a.swizzle());
  }
  const Image image = WW_TRY(compose_table(a.tile(), b, axis));
  auto fitted = fit_image(image);
  if (!fitted)
    return fail(
        std::move(fitted.error())
            .with_note(fmt::format("the composition of `{}` after `{}` exists, but only as a table",
                                   to_text(a), to_text(b))));
  return Layout::make(WW_TRY(add_outer(*fitted, a.tile())), a.swizzle());
}

}  // namespace ww::layout
