// SPDX-License-Identifier: Apache-2.0
// A dimension's iters are digits of its coordinate. Slicing [begin, begin+extent) splits `begin`
// into the same digits; the inner digits that begin at 0 and are swept completely stay as they are,
// the digit above them is cut, all others are fixed. When the sweep runs over the end of a digit
// ("wraps"), the slice is a tile layout only by luck, and the table decides.
#include "layout/slice.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/wide.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/fit.h"
#include "layout/group.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

struct Piece {
  Iters iters;
  Offsets offset;
};

Result<void> check_region(std::span<const std::int64_t> shape, std::span<const Slice1> region) {
  if (region.size() != shape.size())
    return fail(DiagKind::RankMismatch, "region has {} dimensions, shape {} has {}", region.size(),
                shape_text(shape), shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto& [begin, extent] = region[d];
    const bool unbounded = d == 0 && shape[d] == kUnknownExtent;
    if (extent == kUnknownExtent && unbounded && begin == Expr(0)) continue;  // all there is
    if (extent < 1)
      return fail(DiagKind::BadExtent, "region of dimension {} has {} elements", d, extent);
    const Range range = begin.range();
    const bool inside =
        range.min >= 0 && (unbounded || static_cast<Wide>(range.max) + extent <= shape[d]);
    if (inside) continue;
    if (begin.is_constant())
      return fail(DiagKind::OutOfBounds, "region {}:{} leaves extent {} of dimension {}",
                  begin.constant(), begin.constant() + extent, shape[d], d);
    return fail(DiagKind::Unprovable,
                "region {0}:{0} + {1} of dimension {2}: the begin ranges over {3}..{4}, and only "
                "0..{5} is inside "
                "extent {6}",
                begin.text(), extent, d, range.min, range.max, shape[d] - extent, shape[d]);
  }
  return {};
}

// The same digit arithmetic for constant and for symbolic begins.
std::optional<std::int64_t> quotient(std::int64_t value, std::int64_t d) { return value / d; }
std::optional<Expr> quotient(const Expr& value, std::int64_t d) { return floor_div(value, d); }
std::optional<std::int64_t> remainder(std::int64_t value, std::int64_t d) { return value % d; }
std::optional<Expr> remainder(const Expr& value, std::int64_t d) { return floor_mod(value, d); }
std::int64_t largest(std::int64_t value) { return value; }
std::int64_t largest(const Expr& value) { return value.range().max; }

// Cuts digit by digit, innermost first; nothing when the sweep wraps or a digit cannot be
// expressed.
template <typename Number>
std::optional<Piece> cut_digits(const Iters& iters, const Number& begin, std::int64_t extent) {
  Piece out;
  if (iters.size() == 1) {
    out.iters.push_back({extent, iters[0].stride, iters[0].axis});
    out.offset.add(iters[0].axis, begin * iters[0].stride);
    return out;
  }
  std::int64_t rest = extent;  // elements not yet swept, in units of the current digit
  bool swept_whole = true;     // all digits so far begin at 0 and are swept completely
  Number above = begin;        // begin in units of the current digit
  for (std::size_t k = iters.size(); k-- > 0;) {
    const Iter& iter = iters[k];
    const auto digit = k > 0 ? remainder(above, iter.extent) : std::optional<Number>(above);
    if (!digit) return std::nullopt;
    out.offset.add(iter.axis, *digit * iter.stride);
    const bool whole = swept_whole && iter.extent != kUnknownExtent && *digit == Number(0) &&
                       rest % iter.extent == 0;
    if (whole) {
      out.iters.push_back(iter);
      rest /= iter.extent;
    } else if (swept_whole) {
      const bool fits = iter.extent == kUnknownExtent || largest(*digit) + rest <= iter.extent;
      if (!fits) return std::nullopt;
      out.iters.push_back({rest, iter.stride, iter.axis});
      rest = 1;
      swept_whole = false;
    }
    if (k == 0) break;
    const auto next = quotient(above, iter.extent);
    if (!next) return std::nullopt;
    above = *next;
  }
  if (rest != 1) return std::nullopt;
  std::reverse(out.iters.begin(), out.iters.end());
  return out;
}

std::optional<Piece> cut_digits(const Iters& iters, const Slice1& slice) {
  if (slice.begin.is_constant()) return cut_digits(iters, slice.begin.constant(), slice.extent);
  return cut_digits(iters, slice.begin, slice.extent);
}

// One dimension, iters canonical. A wrapping constant slice is read off its table.
Result<Piece> slice_dim(const Iters& iters, const Slice1& slice, std::size_t dim) {
  if (auto piece = cut_digits(iters, slice)) return std::move(*piece);
  if (!slice.begin.is_constant())
    return fail(
        DiagKind::Unprovable,
        "the slice from {} of {} elements in dimension {} may run over the end of a digit of `{}`",
        slice.begin.text(), slice.extent, dim, to_text(*TileLayout::make(iters)));
  if (slice.extent > kMaxEnumerated)
    return fail(DiagKind::TooLarge, "{} elements are too many to enumerate (limit {})",
                slice.extent, kMaxEnumerated);
  const std::vector<Axis> axes = [&] {
    const auto found = TileLayout::make(iters)->axes();
    return std::vector<Axis>(found.begin(), found.end());
  }();
  std::vector<std::vector<std::int64_t>> values(axes.size());
  for (std::int64_t y = 0; y < slice.extent; ++y) {
    std::vector<std::int64_t> place(axes.size(), 0);
    std::int64_t flat = slice.begin.constant() + y;
    for (std::size_t k = iters.size(); k-- > 0;) {
      const std::int64_t digit = k == 0 ? flat : flat % iters[k].extent;
      const auto a = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), iters[k].axis) -
                                              axes.begin());
      place[a] += digit * iters[k].stride;
      if (k > 0) flat /= iters[k].extent;
    }
    for (std::size_t a = 0; a < axes.size(); ++a) values[a].push_back(place[a]);
  }
  std::vector<Column> columns;
  for (std::size_t a = 0; a < axes.size(); ++a) columns.push_back({axes[a], values[a]});
  auto fitted = fit(columns);
  if (!fitted)
    return fail(
        std::move(fitted.error())
            .with_note(fmt::format("in the slice {}:{} of dimension {}", slice.begin.constant(),
                                   slice.begin.constant() + slice.extent, dim)));
  Iters shard = fitted->shard();
  if (shard.empty()) shard.push_back({1, 1, axes.front()});
  return Piece{std::move(shard), fitted->offset()};
}

Result<Layout> assemble(const Layout& layout, Iters shard, Offsets offset) {
  return Layout::make(
      WW_TRY(TileLayout::make(std::move(shard), layout.tile().replica(), std::move(offset))),
      layout.swizzle());
}

Result<Layout> slice_grouped(const Layout& layout, const Grouped& grouped,
                             std::span<const Slice1> region) {
  Iters shard;
  Offsets offset = layout.tile().offset();
  for (std::size_t d = 0; d < region.size(); ++d) {
    Iters iters(grouped.dim(d));
    merge_iters(iters);
    if (iters.empty())
      iters.push_back({1, 1, grouped.dim(d).empty() ? Axis() : grouped.dim(d)[0].axis});
    if (region[d].extent == kUnknownExtent) {
      shard.append(iters);
      continue;
    }
    const Piece piece = WW_TRY(slice_dim(iters, region[d], d));
    shard.append(piece.iters);
    offset.add(piece.offset);
  }
  return assemble(layout, std::move(shard), std::move(offset));
}

// The region as a whole, when the shape does not group.
Result<Layout> slice_table(const Layout& layout, std::span<const std::int64_t> shape,
                           std::span<const Slice1> region) {
  Shape extents;
  for (const Slice1& slice : region) {
    if (!slice.begin.is_constant())
      return fail(DiagKind::Unprovable,
                  "a slice from {} needs a layout that groups by {}, and `{}` does not",
                  slice.begin.text(), shape_text(shape), to_text(layout));
    extents.push_back(slice.extent);
  }
  const std::int64_t count = WW_TRY(element_count(extents));
  if (count > kMaxEnumerated)
    return fail(DiagKind::TooLarge, "{} elements are too many to enumerate (limit {})", count,
                kMaxEnumerated);
  const Layout shard_only = WW_TRY(TileLayout::make(layout.tile().shard()));
  const auto axes = shard_only.tile().axes();
  std::vector<std::vector<std::int64_t>> values(axes.size());
  for (std::int64_t y = 0; y < count; ++y) {
    Shape at = unflatten(y, extents);
    for (std::size_t d = 0; d < at.size(); ++d) at[d] += region[d].begin.constant();
    const Place place = WW_TRY(apply(shard_only, WW_TRY(flatten(at, shape))));
    for (std::size_t a = 0; a < axes.size(); ++a) values[a].push_back(place[a].value);
  }
  std::vector<Column> columns;
  for (std::size_t a = 0; a < axes.size(); ++a) columns.push_back({axes[a], values[a]});
  const TileLayout fitted = WW_TRY(fit(columns));
  Offsets offset = layout.tile().offset();
  offset.add(fitted.offset());
  return assemble(layout, fitted.shard(), std::move(offset));
}

Result<Layout> slice_on_axes(const Layout& layout, std::span<const std::int64_t> shape,
                             std::span<const Slice1> region) {
  auto grouped = group(layout, shape);
  if (grouped) return slice_grouped(layout, *grouped, region);
  if (!region.empty() && region[0].extent == kUnknownExtent) return std::move(grouped).failure();
  return slice_table(layout, shape, region);
}

}  // namespace

Result<Layout> slice(const Layout& layout, std::span<const std::int64_t> shape,
                     std::span<const Slice1> region, Machine machine) {
  WW_TRY_VOID(require_admitted(layout.tile(), shape));
  WW_TRY_VOID(check_region(shape, region));
  auto out = slice_on_axes(layout, shape, region);
  if (out || machine == Machine::None) return out;
  auto fused = slice_on_axes(fuse_threads(layout, machine), shape, region);
  return fused ? std::move(fused) : std::move(out);
}

}  // namespace ww::layout
