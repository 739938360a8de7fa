// SPDX-License-Identifier: Apache-2.0
#include "layout/group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "layout/apply.h"
#include "layout/canonical.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

struct Refined {
  Iters iters;
  Seps seps;
};

// Walks the iters once, outermost first. `pending` is the product of extents not yet assigned to a
// dimension; whenever the next dimension divides it, the current iter is cut there.
std::optional<Refined> refine(const Iters& iters, std::span<const std::int64_t> shape) {
  Refined out;
  out.seps.push_back(0);
  std::int64_t pending = 1;
  std::size_t dim = 0;
  for (const Iter& iter : iters) {
    std::int64_t rest = iter.extent;
    pending *= iter.extent;
    while (dim < shape.size() && pending % shape[dim] == 0) {
      const std::int64_t inside = pending / shape[dim];
      if (rest % inside != 0) return std::nullopt;
      out.iters.push_back({rest / inside, iter.stride * inside, iter.axis});
      rest = inside;
      pending = inside;
      ++dim;
      out.seps.push_back(static_cast<std::int32_t>(out.iters.size()));
    }
    if (rest == 1) continue;
    if (dim == shape.size()) return std::nullopt;
    out.iters.push_back({rest, iter.stride, iter.axis});
  }
  for (; dim < shape.size() && shape[dim] == 1; ++dim) {
    out.iters.push_back({1, 1, iters.empty() ? Axis() : iters.back().axis});
    out.seps.push_back(static_cast<std::int32_t>(out.iters.size()));
  }
  if (dim != shape.size()) return std::nullopt;
  return out;
}

// With an unknown outermost extent the dimensions are cut off from the inside.
std::optional<Refined> refine_unknown(Iters iters, std::span<const std::int64_t> shape) {
  std::vector<Iters> dims(shape.size());
  for (std::size_t d = shape.size(); d-- > 1;) {
    std::int64_t need = shape[d];
    while (need > 1) {
      Iter& last = iters.back();
      const bool unknown = last.extent == kUnknownExtent;
      if (!unknown && need % last.extent == 0) {
        need /= last.extent;
        dims[d].push_back(last);
        iters.pop_back();
      } else if (unknown || last.extent % need == 0) {
        dims[d].push_back({need, last.stride, last.axis});
        last.stride *= need;
        if (!unknown) last.extent /= need;
        need = 1;
      } else {
        return std::nullopt;
      }
    }
    if (dims[d].empty()) dims[d].push_back({1, 1, iters.back().axis});
    std::reverse(dims[d].begin(), dims[d].end());
  }
  dims[0] = iters;
  Refined out;
  out.seps.push_back(0);
  for (const Iters& dim : dims) {
    out.iters.append(dim);
    out.seps.push_back(static_cast<std::int32_t>(out.iters.size()));
  }
  return out;
}

std::optional<Refined> refine_any(const Iters& iters, std::span<const std::int64_t> shape) {
  const bool unknown = !iters.empty() && iters.front().extent == kUnknownExtent;
  return unknown ? refine_unknown(iters, shape) : refine(iters, shape);
}

// ---- group_many ----

// Prefix products; the last one is the total.
std::vector<std::int64_t> boundaries(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> out;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) out.push_back(product *= extent);
  return out;
}

// All boundaries in ascending order, each as often as in the list that has it most often.
std::vector<std::int64_t> merge_boundaries(const std::vector<std::vector<std::int64_t>>& lists) {
  std::vector<std::int64_t> merged;
  for (const auto& list : lists) {
    std::vector<std::int64_t> next;
    std::set_union(merged.begin(), merged.end(), list.begin(), list.end(),
                   std::back_inserter(next));
    merged = std::move(next);
  }
  return merged;
}

// Two neighbouring boundaries of which the second is not a multiple of the first.
std::optional<std::pair<std::int64_t, std::int64_t>> indivisible_step(
    const std::vector<std::int64_t>& merged) {
  std::int64_t before = 1;
  for (const std::int64_t value : merged) {
    if (value % before != 0) return std::pair(before, value);
    before = value;
  }
  return std::nullopt;
}

// Where each boundary of a list stands among the merged ones: the first on the first copy of its
// value, the last on the last copy, the others in turn.
Seps positions(const std::vector<std::int64_t>& list, const std::vector<std::int64_t>& merged) {
  Seps out;
  out.push_back(0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto [first, last] = std::equal_range(merged.begin(), merged.end(), list[i]);
    const auto earlier =
        std::count(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]);
    const auto at = i + 1 == list.size() ? last - 1 : first + earlier;
    out.push_back(static_cast<std::int32_t>(at - merged.begin()) + 1);
  }
  return out;
}

// Cuts the iters at the merged boundaries.
Iters cut(const Iters& iters, const std::vector<std::int64_t>& merged) {
  std::vector<std::int64_t> extents;
  for (const Iter& iter : iters) extents.push_back(iter.extent);
  const std::vector<std::int64_t> ends = boundaries(extents);
  const Seps owner = positions(ends, merged);
  Iters out;
  std::size_t k = 0;
  std::int64_t before = 1;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    while (k + 1 < iters.size() && static_cast<std::int32_t>(i) >= owner[k + 1]) ++k;
    out.push_back({merged[i] / before, iters[k].stride * (ends[k] / merged[i]), iters[k].axis});
    before = merged[i];
  }
  return out;
}

Result<GroupedMany> group_iters(const Layout& layout, std::span<const Shape> shapes) {
  const Iters& shard = layout.tile().shard();
  std::vector<std::vector<std::int64_t>> lists;
  std::vector<std::int64_t> extents;
  for (const Iter& iter : shard) extents.push_back(iter.extent);
  lists.push_back(boundaries(extents));
  for (const Shape& shape : shapes) lists.push_back(boundaries(shape));
  const std::vector<std::int64_t> merged = merge_boundaries(lists);
  if (const auto bad = indivisible_step(merged))
    return fail(DiagKind::NotGroupable,
                "one dimension ends after {} elements and another after {}: neither divides the "
                "other, so no iters "
                "serve both",
                bad->first, bad->second);
  GroupedMany out;
  out.layout = WW_TRY(layout.with_shard(shard.empty() ? Iters() : cut(shard, merged)));
  if (shard.empty()) {
    Iters units;
    for (std::size_t i = 0; i < merged.size(); ++i) units.push_back({1, 1, Axis()});
    out.layout = WW_TRY(layout.with_shard(units));
  }
  for (std::size_t i = 1; i < lists.size(); ++i) out.seps.push_back(positions(lists[i], merged));
  return out;
}

}  // namespace

std::span<const Iter> Grouped::dim(std::size_t d) const {
  const auto begin = static_cast<std::size_t>(seps[d]);
  const auto end = static_cast<std::size_t>(seps[d + 1]);
  return std::span<const Iter>(layout.tile().shard().data(), layout.tile().shard().size())
      .subspan(begin, end - begin);
}

Result<Grouped> group(const Layout& layout, std::span<const std::int64_t> shape) {
  if (shape.empty())
    return fail(DiagKind::RankMismatch, "cannot group by a shape without dimensions");
  WW_TRY_VOID(require_admitted(layout.tile(), shape));
  auto refined = refine_any(layout.tile().shard(), shape);
  if (!refined) {
    Iters merged = layout.tile().shard();
    merge_iters(merged);
    refined = refine_any(merged, shape);
  }
  if (!refined)
    return fail(DiagKind::NotGroupable, "`{}` is not a sum of one function per dimension of {}",
                to_text(layout), shape_text(shape));
  return Grouped{WW_TRY(layout.with_shard(std::move(refined->iters))), refined->seps};
}

Result<GroupedMany> group_many(const Layout& layout, std::span<const Shape> shapes) {
  if (shapes.empty()) return fail(DiagKind::BadArgument, "group_many needs at least one shape");
  if (layout.tile().has_unknown_extent())
    return fail(DiagKind::NeedsConstant, "group_many needs known extents, and `{}` has `?`",
                to_text(layout));
  for (const Shape& shape : shapes) {
    if (shape.empty())
      return fail(DiagKind::RankMismatch, "cannot group by a shape without dimensions");
    WW_TRY_VOID(require_admitted(layout.tile(), shape));
  }
  auto out = group_iters(layout, shapes);
  if (out) return out;
  auto canonical = group_iters(canonicalize(layout), shapes);
  return canonical ? std::move(canonical) : std::move(out);
}

}  // namespace ww::layout
