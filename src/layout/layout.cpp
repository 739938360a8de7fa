// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/check.h"
#include "base/wide.h"
#include "layout/image.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

constexpr std::int64_t kMaxStride = kMaxPlace;

Result<void> check_iter(const Iter& iter, bool may_be_unknown, std::string_view part) {
  if (iter.extent == kUnknownExtent && may_be_unknown) return {};
  if (iter.extent < 1)
    return fail(DiagKind::BadExtent, "{} extent {} is not positive", part, iter.extent);
  if (iter.stride < -kMaxStride || iter.stride > kMaxStride)
    return fail(DiagKind::Overflow, "stride {} leaves ±2^60", iter.stride);
  return {};
}

// The product of the extents, refused beyond kMaxSize. An unknown extent counts as 1.
Result<std::int64_t> checked_count(const Iters& iters, std::string_view what) {
  std::int64_t count = 1;
  for (const Iter& iter : iters) {
    if (iter.extent == kUnknownExtent) continue;
    if (iter.extent > kMaxSize / count)
      return fail(DiagKind::Overflow, "more than {} {} (2^38, the largest layout)", kMaxSize, what);
    count *= iter.extent;
  }
  return count;
}

Wide reach(const Iters& iters) {
  Wide sum = 0;
  for (const Iter& iter : iters) {
    const Wide size = iter.stride < 0 ? -static_cast<Wide>(iter.stride) : iter.stride;
    sum += size * (iter.extent == kUnknownExtent ? 1 : iter.extent - 1);
  }
  return sum;
}

// Sum over axes of all |place| contributions; if even that stays within kMaxPlace, no single axis
// leaves.
Result<void> check_reach(const Iters& shard, const Iters& replica, const Offsets& offset) {
  Wide sum = reach(shard) + reach(replica);
  for (const OffsetTerm& term : offset.terms()) {
    const Range r = term.is_symbolic ? term.atom.range() : Range{1, 1};
    const Wide lo = static_cast<Wide>(term.coef) * r.min;
    const Wide hi = static_cast<Wide>(term.coef) * r.max;
    sum += std::max(lo < 0 ? -lo : lo, hi < 0 ? -hi : hi);
  }
  if (sum > kMaxPlace) return fail(DiagKind::Overflow, "places reach beyond ±{} (2^60)", kMaxPlace);
  return {};
}

void insert_axis(SmallVec<Axis, 4>& axes, Axis axis) {
  std::size_t at = 0;
  while (at < axes.size() && axes[at] < axis) ++at;
  if (at == axes.size() || !(axes[at] == axis)) axes.insert(at, axis);
}

auto sort_key(const OffsetTerm& t) {
  return std::tuple(t.is_symbolic, t.is_symbolic ? t.atom.var.name() : std::string_view(),
                    t.atom.div, t.atom.mod);
}

bool precedes(const OffsetTerm& a, const OffsetTerm& b) {
  if (!(a.axis == b.axis)) return a.axis < b.axis;
  return sort_key(a) < sort_key(b);
}

bool same_slot(const OffsetTerm& a, const OffsetTerm& b) {
  return a.axis == b.axis && a.is_symbolic == b.is_symbolic && (!a.is_symbolic || a.atom == b.atom);
}

}  // namespace

// ---- Offsets

Offsets::Offsets(std::initializer_list<std::pair<Axis, std::int64_t>> parts) {
  for (const auto& [axis, amount] : parts) add(axis, amount);
}

void Offsets::add_term(OffsetTerm term) {
  if (term.coef == 0) return;
  std::size_t at = 0;
  while (at < terms_.size() && precedes(terms_[at], term)) ++at;
  for (std::size_t i = at; i < terms_.size() && !precedes(term, terms_[i]); ++i) {
    if (!same_slot(terms_[i], term)) continue;
    terms_[i].coef += term.coef;
    if (terms_[i].coef == 0) terms_.erase(i);
    return;
  }
  terms_.insert(at, term);
}

void Offsets::add(Axis axis, std::int64_t amount) { add_term({axis, amount, {}, false}); }

void Offsets::add(Axis axis, const Expr& amount) {
  add(axis, amount.constant());
  for (const Term& term : amount.terms()) add_term({axis, term.coef, term.atom, true});
}

void Offsets::add(const Offsets& other) {
  const SmallVec<OffsetTerm, 2> theirs = other.terms_;  // `other` may be *this
  for (const OffsetTerm& term : theirs) add_term(term);
}

void Offsets::subtract(const Offsets& other) {
  const SmallVec<OffsetTerm, 2> theirs = other.terms_;
  for (OffsetTerm term : theirs) {
    term.coef = -term.coef;
    add_term(term);
  }
}

Expr Offsets::on(Axis axis) const {
  Expr sum;
  for (const OffsetTerm& term : terms_)
    if (term.axis == axis)
      sum += term.is_symbolic ? Expr(Term{term.coef, term.atom}) : Expr(term.coef);
  return sum;
}

std::int64_t Offsets::constant_on(Axis axis) const {
  for (const OffsetTerm& term : terms_)
    if (term.axis == axis && !term.is_symbolic) return term.coef;
  return 0;
}

bool Offsets::is_constant() const {
  return std::none_of(terms_.begin(), terms_.end(),
                      [](const OffsetTerm& t) { return t.is_symbolic; });
}

SmallVec<Axis, 4> Offsets::axes() const {
  SmallVec<Axis, 4> out;
  for (const OffsetTerm& term : terms_) insert_axis(out, term.axis);
  return out;
}

// ---- TileLayout

Result<TileLayout> TileLayout::make(Iters shard, Iters replica, Offsets offset) {
  for (std::size_t i = 0; i < shard.size(); ++i) WW_TRY_VOID(check_iter(shard[i], i == 0, "shard"));
  for (const Iter& iter : replica) WW_TRY_VOID(check_iter(iter, false, "replica"));
  WW_TRY_VOID(checked_count(shard, "elements"));
  WW_TRY_VOID(checked_count(replica, "replicas"));
  WW_TRY_VOID(check_reach(shard, replica, offset));
  TileLayout out;
  out.shard_ = std::move(shard);
  out.replica_ = std::move(replica);
  out.offset_ = std::move(offset);
  return out;
}

Result<TileLayout> TileLayout::row_major(std::span<const std::int64_t> shape) {
  Iters shard;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    shard.push_back({shape[i], stride, Axis()});
    if (i == 0) break;
    if (shape[i] < 1) return fail(DiagKind::BadExtent, "extent {} is not positive", shape[i]);
    if (shape[i] > kMaxSize / stride)
      return fail(DiagKind::Overflow, "more than {} elements (2^38, the largest layout)", kMaxSize);
    stride *= shape[i];
  }
  std::reverse(shard.begin(), shard.end());
  return make(std::move(shard));
}

std::int64_t TileLayout::size() const {
  WW_CHECK(!has_unknown_extent(), "size of a layout with an unknown extent");
  std::int64_t count = 1;
  for (const Iter& iter : shard_) count *= iter.extent;
  return count;
}

std::int64_t TileLayout::copies() const {
  std::int64_t count = 1;
  for (const Iter& iter : replica_) count *= iter.extent;
  return count;
}

SmallVec<Axis, 4> TileLayout::axes() const {
  SmallVec<Axis, 4> out;
  for (const Iter& iter : shard_) insert_axis(out, iter.axis);
  for (const Iter& iter : replica_) insert_axis(out, iter.axis);
  for (const OffsetTerm& term : offset_.terms()) insert_axis(out, term.axis);
  return out;
}

Range TileLayout::range_on(Axis axis) const {
  WW_CHECK(!has_unknown_extent() || !(shard_.front().axis == axis), "range over an unknown extent");
  Range range = offset_.empty() ? Range{} : offset_.on(axis).range();
  const auto widen = [&](const Iter& iter) {
    if (!(iter.axis == axis)) return;
    const std::int64_t reach = (iter.extent - 1) * iter.stride;
    (reach < 0 ? range.min : range.max) += reach;
  };
  for (const Iter& iter : shard_) widen(iter);
  for (const Iter& iter : replica_) widen(iter);
  return range;
}

// ---- Swizzle and Layout

Result<Swizzle> Swizzle::make(int per_element, int len, int atom, bool inner) {
  constexpr int kMax = 40;
  if (per_element < 0 || len < 0 || atom < 0 || per_element > kMax || len > kMax || atom > kMax)
    return fail(DiagKind::BadSwizzle, "swizzle ({},{},{}): parameters must lie in 0..{}",
                per_element, len, atom, kMax);
  if (atom < len)
    return fail(DiagKind::BadSwizzle,
                "swizzle ({},{},{}): the atom length {} is below the swizzle length {}",
                per_element, len, atom, atom, len);
  if (per_element + len + atom > kMax)
    return fail(DiagKind::BadSwizzle, "swizzle ({},{},{}): the period 2^{} exceeds 2^{}",
                per_element, len, atom, per_element + len + atom, kMax);
  Swizzle out;
  if (len == 0) return out;
  out.per_element_ = per_element;
  out.len_ = len;
  out.atom_ = atom;
  out.inner_ = inner;
  return out;
}

std::int64_t Swizzle::period() const {
  return is_none() ? 1 : std::int64_t{1} << (per_element_ + atom_ + len_);
}

std::int64_t Swizzle::block() const {
  if (is_none()) return 1;
  return inner_ ? std::int64_t{1} << (per_element_ + len_) : period();
}

Result<Layout> Layout::make(TileLayout tile, Swizzle swizzle) {
  if (!swizzle.is_none()) {
    // An unknown outer extent extends upwards only, so its stride decides.
    const bool unknown = tile.has_unknown_extent();
    const Iter& front = unknown ? tile.shard().front() : Iter{};
    std::int64_t lowest = tile.offset().on(axes::m()).range().min;
    if (unknown && front.stride < 0 && front.axis == axes::m()) lowest = -1;
    const auto reach_down = [&](const Iters& iters) {
      for (const Iter& iter : iters)
        if (iter.axis == axes::m() && iter.stride < 0 && iter.extent > 0)
          lowest += (iter.extent - 1) * iter.stride;
    };
    reach_down(tile.shard());
    reach_down(tile.replica());
    if (lowest < 0)
      return fail(DiagKind::BadSwizzle,
                  "cannot swizzle addresses that may be negative: m can be {}", lowest);
  }
  Layout out;
  out.tile_ = std::move(tile);
  out.swizzle_ = swizzle;
  return out;
}

Result<Layout> Layout::with_shard(Iters shard) const {
  return make(WW_TRY(TileLayout::make(std::move(shard), tile_.replica(), tile_.offset())),
              swizzle_);
}

// ---- Measures

Result<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 1)
      return fail(DiagKind::BadExtent, "shape {} has a non-positive extent", shape_text(shape));
    if (extent > kMaxSize / count)
      return fail(DiagKind::Overflow, "shape {} has more than {} elements", shape_text(shape),
                  kMaxSize);
    count *= extent;
  }
  return count;
}

SmallVec<Axis, 4> moving_axes(const TileLayout& layout) {
  SmallVec<Axis, 4> out;
  const auto collect = [&](const Iters& iters) {
    for (const Iter& iter : iters)
      if (iter.extent != 1 && iter.stride != 0) insert_axis(out, iter.axis);
  };
  collect(layout.shard());
  collect(layout.replica());
  for (const OffsetTerm& term : layout.offset().terms()) insert_axis(out, term.axis);
  return out;
}

std::int64_t size_on(const TileLayout& layout, Axis axis) {
  WW_CHECK(!layout.has_unknown_extent(), "size of a layout with an unknown extent");
  std::int64_t count = 1;
  for (const Iter& iter : layout.shard())
    if (iter.axis == axis) count *= iter.extent;
  return count;
}

namespace {

// How many values, from 0 on, the digits of an axis reach without a gap; 0 where that is not seen.
std::int64_t filled_from_0(const TileLayout& layout, Axis axis) {
  Iters digits;
  for (const Iters* iters : {&layout.shard(), &layout.replica()})
    for (const Iter& iter : *iters)
      if (iter.axis == axis && iter.extent > 1) digits.push_back(iter);
  std::sort(digits.begin(), digits.end(),
            [](const Iter& a, const Iter& b) { return a.stride < b.stride; });
  std::int64_t filled = 1;
  for (const Iter& digit : digits) {
    if (digit.stride != filled) return 0;
    filled *= digit.extent;
  }
  return layout.offset().constant_on(axis) == 0 ? filled : 0;
}

}  // namespace

Result<std::int64_t> span_on(const Layout& layout, Axis axis) {
  if (layout.tile().has_unknown_extent())
    return fail(DiagKind::NeedsConstant, "the span of `{}` depends on its unknown extent",
                to_text(layout));
  if (!layout.is_swizzled() || !(axis == axes::m())) return 1 + layout.tile().range_on(axis).max;
  // A swizzle permutes aligned blocks, so a tile that fills them keeps its span; otherwise look.
  WW_TRY_VOID(require_constant(layout, "span"));
  if (const std::int64_t filled = filled_from_0(layout.tile(), axis);
      filled > 0 && filled % layout.swizzle().block() == 0)
    return filled;
  const Image image = WW_TRY(enumerate(layout));
  const auto values = image.on(axis);
  return values.empty() ? 1 : 1 + *std::max_element(values.begin(), values.end());
}

Result<std::int64_t> memory_span(const Layout& layout) {
  std::optional<Axis> only;
  for (const Axis axis : layout.tile().axes()) {
    if (axis.kind() == AxisKind::Unknown)
      return fail(DiagKind::UnknownAxisKind, "axis `{}` is not known to be thread or memory",
                  axis.name());
    if (!axis.is_memory()) continue;
    if (only)
      return fail(DiagKind::BadAxis,
                  "a single span has no meaning over two memory axes, `{}` and `{}`", only->name(),
                  axis.name());
    only = axis;
  }
  return only ? span_on(layout, *only) : 1;
}

Result<void> require_constant(const Layout& layout, std::string_view operation) {
  if (layout.tile().has_unknown_extent())
    return fail(DiagKind::NeedsConstant, "{} needs known extents, and `{}` has `?`", operation,
                to_text(layout));
  if (!layout.tile().offset().is_constant())
    return fail(DiagKind::NeedsConstant, "{} needs a constant offset, and `{}` has a runtime one",
                operation, to_text(layout));
  return {};
}

}  // namespace ww::layout
