// SPDX-License-Identifier: Apache-2.0
#include "eval/launch/placement.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>

#include "layout/threads.h"

namespace ww::eval {
namespace {

using layout::Axis;
using layout::Counter;

bool is_cta_thread(Axis axis) { return axis.facts().counter == Counter::CtaThread; }

// The dimension of the cluster that an axis counts in.
std::optional<std::size_t> cluster_dim(Axis axis) {
  switch (axis.facts().counter) {
    case Counter::ClusterX:
      return 0;
    case Counter::ClusterY:
      return 1;
    case Counter::ClusterZ:
      return 2;
    default:
      return std::nullopt;
  }
}

// The effect of moving by 1 on an axis.
Spot spot_per_step(Axis axis, const Coordinates& cluster) {
  if (axis == layout::axes::m() || axis == layout::axes::tcol()) return {.memory = 1};
  if (axis == layout::axes::tlane()) return {.owner = 1};
  const auto dim = cluster_dim(axis);
  if (!dim) return {.owner = axis.facts().divisor};
  Spot out{.cta = 1};
  for (std::size_t d = 0; d < *dim; ++d) out.cta *= cluster[d];
  return out;
}

Spot scaled(Spot unit, std::int64_t by) {
  return {unit.memory * by, unit.owner * by, unit.cta * by};
}
Spot sum(Spot a, Spot b) { return {a.memory + b.memory, a.owner + b.owner, a.cta + b.cta}; }

// The counters that the CTA's thread axes among `axes` read, smallest first.
std::vector<Digits> digits_of(std::span<const Axis> axes) {
  std::vector<Digits> digits;
  for (const Axis axis : axes) {
    if (!is_cta_thread(axis)) continue;
    const layout::AxisFacts& facts = axis.facts();
    digits.push_back({facts.divisor, facts.modulus == 0 ? 0 : facts.divisor * facts.modulus});
  }
  std::sort(digits.begin(), digits.end(), [](Digits a, Digits b) { return a.begin < b.begin; });
  return digits;
}

// Whether the first two that do not follow each other overlap, and do not leave a gap.
bool is_overlapping(std::span<const Digits> digits) {
  const auto two = std::adjacent_find(digits.begin(), digits.end(),
                                      [](Digits a, Digits b) { return a.end != b.begin; });
  return two != digits.end() && (two->end == 0 || two->end > std::next(two)->begin);
}

Result<void> require_axis(const layout::TileLayout& tile, Axis axis) {
  const bool is_memory =
      axis == layout::axes::m() || axis == layout::axes::tcol() || axis == layout::axes::tlane();
  if (is_memory) return {};
  if (cluster_dim(axis)) return {};
  if (!is_cta_thread(axis))
    return fail(DiagKind::NotEvaluated, "a layout over axis `{}` is not evaluated", axis.name());
  if (tile.has_unknown_extent()) return {};
  const layout::Range range = tile.range_on(axis);
  const std::int64_t modulus = axis.facts().modulus;
  if (range.min < 0 || (modulus != 0 && range.max >= modulus))
    return fail(DiagKind::NotEvaluated, "axis `{}` takes values {} to {}, of {} that it has",
                axis.name(), range.min, range.max, modulus);
  return {};
}

Result<void> require_simple(const layout::Layout& layout) {
  const layout::TileLayout& tile = layout.tile();
  if (!tile.offset().is_constant())
    return fail(DiagKind::NotEvaluated, "a layout with a runtime offset is not evaluated");
  for (const Axis axis : tile.axes()) WW_TRY_VOID(require_axis(tile, axis));
  const auto scope = layout::thread_scope(layout);
  if (!scope && is_overlapping(digits_of(tile.axes())))
    return fail(DiagKind::NotEvaluated, "{}", scope.error().text);
  return {};
}

std::vector<Spot> replica_spots(const layout::TileLayout& tile, const Coordinates& cluster) {
  std::vector<Spot> spots(1);
  for (const layout::Iter& iter : tile.replica()) {
    std::vector<Spot> next;
    for (const Spot& spot : spots)
      for (std::int64_t k = 0; k < iter.extent; ++k)
        next.push_back(sum(spot, scaled(spot_per_step(iter.axis, cluster), k * iter.stride)));
    spots = std::move(next);
  }
  const auto key = [](Spot s) { return std::tuple(s.cta, s.owner, s.memory); };
  const auto less = [&](Spot a, Spot b) { return key(a) < key(b); };
  const auto same = [&](Spot a, Spot b) { return key(a) == key(b); };
  std::sort(spots.begin(), spots.end(), less);
  spots.erase(std::unique(spots.begin(), spots.end(), same), spots.end());
  return spots;
}

}  // namespace

Result<Placement> Placement::make(const layout::Layout& layout, const Coordinates& cluster) {
  WW_TRY_VOID(require_simple(layout));
  const layout::TileLayout& tile = layout.tile();
  Placement out;
  out.is_plain_ = false;
  for (std::size_t i = tile.shard().size(); i-- > 0;) {
    const layout::Iter& iter = tile.shard()[i];
    out.shard_.push_back({iter.extent, scaled(spot_per_step(iter.axis, cluster), iter.stride)});
  }
  for (const layout::OffsetTerm& term : tile.offset().terms())
    out.offset_ = sum(out.offset_, scaled(spot_per_step(term.axis, cluster), term.coef));
  out.copies_ = replica_spots(tile, cluster);
  out.cluster_ = cluster;
  out.swizzle_ = layout.swizzle();
  if (tile.has_unknown_extent()) return out;
  out.digits_ = digits_of(layout::moving_axes(tile));
  for (const Axis axis : layout::moving_axes(tile))
    if (const auto dim = cluster_dim(axis)) out.tells_ctas_apart_[*dim] = true;
  return out;
}

bool Placement::is_in_cta(const Spot& spot, const Coordinates& at) const {
  std::int64_t rest = spot.cta;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (tells_ctas_apart_[d] && rest % cluster_[d] != at[d]) return false;
    rest /= cluster_[d];
  }
  return true;
}

// The outermost digit is not reduced: an index past the end goes on along the first iter.
Spot Placement::find_spot(std::int64_t flat, std::size_t copy) const {
  Spot spot = sum(offset_, copies_[copy]);
  for (std::size_t i = 0; i < shard_.size(); ++i) {
    const bool is_last = i + 1 == shard_.size();
    const std::int64_t digit = is_last ? flat : flat % shard_[i].extent;
    flat = is_last ? 0 : flat / shard_[i].extent;
    spot = sum(spot, scaled(shard_[i].stride, digit));
  }
  if (!swizzle_.is_none() && spot.memory >= 0) spot.memory = swizzle_(spot.memory);
  return spot;
}

void Placement::remember(std::int64_t size) {
  constexpr std::int64_t kMax = std::int64_t{1} << 20;
  if (is_plain_ || !table_.empty() || size * std::ssize(copies_) > kMax) return;
  std::vector<Spot> table;
  table.reserve(static_cast<std::size_t>(size) * copies_.size());
  for (std::int64_t flat = 0; flat < size; ++flat)
    for (std::size_t copy = 0; copy < copies_.size(); ++copy)
      table.push_back(find_spot(flat, copy));
  table_ = std::move(table);
}

Holders holders_of(const Placement& placement, std::int64_t first, std::int64_t size) {
  Holders out{.base = first, .spread = {0}};
  std::int64_t open = 1;  // digits below are decided
  const auto spread_over = [&](std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    const std::vector<std::int64_t> before = std::move(out.spread);
    out.spread.clear();
    for (std::int64_t k = 0; k * begin < end; ++k)
      for (const std::int64_t offset : before) out.spread.push_back(offset + k * begin);
  };
  for (const Digits& digits : placement.digits()) {
    spread_over(open, std::min(digits.begin, size));
    const std::int64_t above = digits.end == 0 ? 0 : out.base / digits.end * digits.end;
    out.base = out.base % digits.begin + above;
    open = digits.end == 0 ? size : std::max(open, digits.end);
  }
  spread_over(open, size);
  std::sort(out.spread.begin(), out.spread.end());
  return out;
}

}  // namespace ww::eval
