// SPDX-License-Identifier: Apache-2.0
// A CTA thread axis with divisor d and modulus q reads the digits [d, d·q) of the linear thread id.
// All of this file is interval arithmetic on such ranges.
#include "layout/threads.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/wide.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

struct Digits {
  Axis axis;
  std::int64_t begin = 1;
  std::int64_t end = kNoEnd;
};

bool is_cta_thread(Axis axis) { return axis.facts().counter == Counter::CtaThread; }

Digits digits_of(Axis axis) {
  const AxisFacts& facts = axis.facts();
  return {axis, facts.divisor, facts.modulus == 0 ? kNoEnd : facts.divisor * facts.modulus};
}

// The CTA thread axes among `axes`, by begin of their digits.
std::vector<Digits> cta_digits(std::span<const Axis> axes) {
  std::vector<Digits> out;
  for (const Axis axis : axes)
    if (is_cta_thread(axis)) out.push_back(digits_of(axis));
  std::stable_sort(out.begin(), out.end(),
                   [](const Digits& a, const Digits& b) { return a.begin < b.begin; });
  return out;
}

bool crosses_ctas(const TileLayout& tile) {
  const auto axes = tile.axes();
  return std::any_of(axes.begin(), axes.end(), [](Axis axis) {
    const Counter counter = axis.facts().counter;
    return counter != Counter::None && counter != Counter::CtaThread;
  });
}

std::optional<Axis> axis_reading(std::int64_t begin, std::int64_t end,
                                 std::span<const Axis> preferred) {
  const auto reads = [&](Axis axis) {
    const Digits d = digits_of(axis);
    return is_cta_thread(axis) && d.begin == begin && d.end == end;
  };
  for (const Axis axis : preferred)
    if (reads(axis)) return axis;
  for (const Axis axis : builtin_axes())
    if (reads(axis)) return axis;
  return std::nullopt;
}

// Values on the axis name existing digits: within [0, modulus).
bool in_range(const TileLayout& tile, Axis axis) {
  if (tile.has_unknown_extent() && tile.shard().front().axis == axis) return false;
  const Range range = tile.range_on(axis);
  return range.min >= 0 && (axis.facts().modulus == 0 || range.max < axis.facts().modulus);
}

// Moves everything on `from` to `to`, strides scaled.
struct Rewrite {
  Axis from;
  Axis to;
  std::int64_t factor;
};

Result<TileLayout> rewrite(const TileLayout& tile, const std::vector<Rewrite>& rules) {
  const auto rule_for = [&](Axis axis) -> const Rewrite* {
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const Rewrite& r) { return r.from == axis; });
    return found == rules.end() ? nullptr : &*found;
  };
  const auto moved = [&](Iters iters) {
    for (Iter& iter : iters)
      if (const Rewrite* rule = rule_for(iter.axis))
        iter = {iter.extent, iter.stride * rule->factor, rule->to};
    return iters;
  };
  Offsets offset;
  for (const Axis axis : tile.offset().axes()) {
    const Rewrite* rule = rule_for(axis);
    const Expr amount = tile.offset().on(axis);
    offset.add(rule != nullptr ? rule->to : axis, rule != nullptr ? amount * rule->factor : amount);
  }
  return TileLayout::make(moved(tile.shard()), moved(tile.replica()), std::move(offset));
}

// One round: the longest run of adjacent digit ranges, all values in range, that a known axis reads
// whole.
std::vector<Rewrite> fusing_rules(const TileLayout& tile) {
  const std::vector<Digits> all = cta_digits(moving_axes(tile));
  std::vector<Rewrite> rules;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first;
    while (last + 1 < all.size() && all[last].end == all[last + 1].begin) ++last;
    const bool overlaps = (first > 0 && all[first - 1].end > all[first].begin) ||
                          (last + 1 < all.size() && all[last].end > all[last + 1].begin);
    const auto whole = axis_reading(all[first].begin, all[last].end, {});
    const bool good = last > first && !overlaps && whole &&
                      std::all_of(all.begin() + static_cast<std::ptrdiff_t>(first),
                                  all.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                  [&](const Digits& d) { return in_range(tile, d.axis); });
    for (std::size_t i = first; good && i <= last; ++i)
      rules.push_back({all[i].axis, *whole, all[i].begin / all[first].begin});
    first = last + 1;
  }
  return rules;
}

// e:s against an inner size E, as in digits of the thread id. Nothing when the digits mix.
std::optional<Iters> split_iter(const Iter& iter, Axis outer, Axis inner, std::int64_t size) {
  const std::int64_t e = iter.extent;
  const std::int64_t s = iter.stride;
  if (s < 0) return std::nullopt;
  if (static_cast<Wide>(e - 1) * s < size) return Iters{{e, s, inner}};
  if (s % size == 0) return Iters{{e, s / size, outer}};
  if (size % s == 0 && e % (size / s) == 0)
    return Iters{{e / (size / s), 1, outer}, {size / s, s, inner}};
  return std::nullopt;
}

std::optional<Iters> split_iters(const Iters& iters, Axis whole, Axis outer, Axis inner,
                                 std::int64_t size) {
  Iters out;
  for (const Iter& iter : iters) {
    if (!(iter.axis == whole)) {
      out.push_back(iter);
      continue;
    }
    const auto parts = split_iter(iter, outer, inner, size);
    if (!parts) return std::nullopt;
    out.append(*parts);
  }
  return out;
}

// Digit-wise split, valid when the inner digits never carry.
std::optional<TileLayout> split_by_digits(const TileLayout& tile, Axis whole, Axis outer,
                                          Axis inner) {
  const std::int64_t size = inner.facts().modulus;
  const auto shard = split_iters(tile.shard(), whole, outer, inner, size);
  const auto replica = split_iters(tile.replica(), whole, outer, inner, size);
  const Expr amount = tile.offset().on(whole);
  const auto high = floor_div(amount, size);
  const auto low = floor_mod(amount, size);
  if (!shard || !replica || !high || !low) return std::nullopt;
  Offsets offset;
  for (const Axis axis : tile.offset().axes())
    if (!(axis == whole)) offset.add(axis, tile.offset().on(axis));
  offset.add(outer, *high);
  offset.add(inner, *low);
  auto out = TileLayout::make(*shard, *replica, std::move(offset));
  if (!out || !in_range(*out, inner) || !in_range(*out, outer)) return std::nullopt;
  return *std::move(out);
}

std::size_t column_of(Image& image, Axis axis) {
  for (std::size_t a = 0; a < image.axes.size(); ++a)
    if (image.axes[a] == axis) return a;
  image.axes.push_back(axis);
  image.values.emplace_back(static_cast<std::size_t>(image.size * image.copies), 0);
  return image.axes.size() - 1;
}

Result<TileLayout> split_by_table(const TileLayout& tile, Axis whole, Axis outer, Axis inner) {
  Image image = WW_TRY(enumerate(tile));
  const std::size_t from = column_of(image, whole);
  const std::size_t high = column_of(image, outer);
  const std::size_t low = column_of(image, inner);
  const std::int64_t size = inner.facts().modulus;
  for (std::size_t i = 0; i < image.values[from].size(); ++i) {
    const std::int64_t value = image.values[from][i];
    if (value < 0) return fail(DiagKind::OutOfBounds, "{} is negative", place_text(value, whole));
    image.values[high][i] += value / size;
    image.values[low][i] += value % size;
  }
  std::fill(image.values[from].begin(), image.values[from].end(), 0);
  return fit_image(image);
}

}  // namespace

std::string ThreadScope::text() const {
  const auto name = [](std::int64_t digits) -> std::string {
    switch (digits) {
      case 1:
        return "thread";
      case 32:
        return "warp";
      case 128:
        return "warpgroup";
      case 0:
        return "cta";
      default:
        return fmt::format("{} threads", digits);
    }
  };
  return fmt::format("{} in {}{}", name(unit), name(whole), across_ctas ? ", across ctas" : "");
}

Result<std::optional<ThreadScope>> thread_scope(const Layout& layout) {
  const std::vector<Digits> all = cta_digits(layout.tile().axes());
  const bool across = crosses_ctas(layout.tile());
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1].end == all[i].begin) continue;
    const bool overlap = all[i - 1].end > all[i].begin;
    return fail(DiagKind::ThreadScope, "thread axes `{}` and `{}` {}", all[i - 1].axis.name(),
                all[i].axis.name(),
                overlap ? "overlap: both read the same digits of the thread id"
                        : "leave a gap: no axis reads the digits of the thread id between them");
  }
  if (all.empty() && !across) return std::optional<ThreadScope>();
  if (all.empty()) return std::optional(ThreadScope{0, 0, true});
  const std::int64_t end = all.back().end;
  return std::optional(ThreadScope{all.front().begin, end == kNoEnd ? 0 : end, across});
}

Layout fuse_threads(const Layout& layout, Machine machine) {
  if (machine == Machine::None) return canonicalize(layout);
  const std::vector<Rewrite> rules = fusing_rules(layout.tile());
  if (rules.empty()) return canonicalize(layout);
  auto fused = rewrite(layout.tile(), rules);
  if (!fused) return canonicalize(layout);  // the scaled strides leave the supported range
  auto out = Layout::make(*std::move(fused), layout.swizzle());
  return out ? canonicalize(*out) : canonicalize(layout);
}

Result<Layout> split_threads(const Layout& layout, Axis whole, Axis outer, Axis inner) {
  const bool cta = is_cta_thread(whole) && is_cta_thread(outer) && is_cta_thread(inner);
  const Digits w = digits_of(whole);
  const Digits o = digits_of(outer);
  const Digits i = digits_of(inner);
  if (!cta || i.begin != w.begin || i.end != o.begin || o.end != w.end)
    return fail(DiagKind::BadAxis, "`{}` and `{}` are not the two halves of `{}`", outer.name(),
                inner.name(), whole.name());
  auto tile = split_by_digits(layout.tile(), whole, outer, inner);
  if (!tile) {
    auto table = split_by_table(layout.tile(), whole, outer, inner);
    if (!table)
      return fail(std::move(table.error())
                      .with_note(fmt::format("splitting `{}` into `{}` and `{}`", whole.name(),
                                             outer.name(), inner.name())));
    tile = *std::move(table);
  }
  return Layout::make(*std::move(tile), layout.swizzle());
}

Result<Layout> split_like(const Layout& layout, const Layout& like, Machine machine) {
  if (machine == Machine::None) return layout;
  const auto preferred = like.tile().axes();
  Layout out = layout;
  for (const Digits& model : cta_digits(moving_axes(like.tile()))) {
    for (const std::int64_t at : {model.begin, model.end}) {
      for (const Digits& have : cta_digits(moving_axes(out.tile()))) {
        if (at <= have.begin || at >= have.end) continue;
        const auto inner = axis_reading(have.begin, at, preferred);
        const auto outer = axis_reading(at, have.end, preferred);
        if (!inner || !outer)
          return fail(DiagKind::ThreadScope,
                      "no axes read the halves of `{}` below and above {} threads",
                      have.axis.name(), at);
        out = WW_TRY(split_threads(out, have.axis, *outer, *inner));
        break;
      }
    }
  }
  return out;
}

}  // namespace ww::layout
