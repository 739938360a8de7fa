// SPDX-License-Identifier: Apache-2.0
// Strides that nest (each larger than the reach of those below it on its axis) give every sum a
// single spelling, so merging neighbours already yields a unique form. Strides that do not nest are
// read off the set itself.
#include "layout/replica.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "base/wide.h"
#include "layout/canonical.h"
#include "layout/text.h"

namespace ww::layout {
namespace {

// Larger sets are left in the order they have, and comparing them is refused.
constexpr std::int64_t kMaxReplicaSet = 1 << 14;

std::int64_t count(const Iters& iters) {
  std::int64_t n = 1;
  for (const Iter& iter : iters) n = std::min<std::int64_t>(n * iter.extent, kMaxSize);
  return n;
}

void turn_around(Iters& replica, Offsets& offset) {
  for (Iter& iter : replica) {
    if (iter.stride >= 0) continue;
    offset.add(iter.axis, (iter.extent - 1) * iter.stride);
    iter.stride = -iter.stride;
  }
}

bool sort_before(const Iter& a, const Iter& b) {
  if (!(a.axis == b.axis)) return a.axis < b.axis;
  return std::tuple(a.stride, a.extent) < std::tuple(b.stride, b.extent);
}

bool nests(const Iters& sorted) {
  Wide reach = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || !(sorted[i].axis == sorted[i - 1].axis)) reach = 0;
    if (sorted[i].stride <= reach) return false;
    reach += static_cast<Wide>(sorted[i].extent - 1) * sorted[i].stride;
  }
  return true;
}

void drop_idle(Iters& replica) {
  auto* end = std::remove_if(replica.begin(), replica.end(),
                             [](const Iter& iter) { return iter.extent == 1 || iter.stride == 0; });
  while (replica.end() != end) replica.pop_back();
}

void merge_sorted(Iters& sorted) {
  Iters out;
  for (const Iter& iter : sorted) {
    if (!out.empty() && continues(iter, out.back())) {
      out.back().extent *= iter.extent;
    } else {
      out.push_back(iter);
    }
  }
  sorted = out;
}

Displacement shifted(Displacement v, std::size_t column, std::int64_t by) {
  v[column] += by;
  return v;
}

// The first members of the runs of `length` steps that tile the set, if they do.
std::optional<std::set<Displacement>> heads_of(std::set<Displacement> rest, std::size_t column,
                                               std::int64_t step, std::int64_t length) {
  std::set<Displacement> heads;
  while (!rest.empty()) {
    const Displacement head = *rest.begin();
    for (std::int64_t i = 0; i < length; ++i)
      if (rest.erase(shifted(head, column, i * step)) == 0) return std::nullopt;
    heads.insert(head);
  }
  return heads;
}

std::string replica_text(const Iters& replica) {
  if (replica.empty()) return "an element without replicas";
  constexpr std::string_view kShard = "S[] + ";
  return fmt::format("the replica `{}`",
                     to_text(*TileLayout::make({}, replica)).substr(kShard.size()));
}

}  // namespace

std::vector<Axis> axes_of(const Iters& iters) {
  std::vector<Axis> axes;
  for (const Iter& iter : iters)
    if (std::find(axes.begin(), axes.end(), iter.axis) == axes.end()) axes.push_back(iter.axis);
  std::sort(axes.begin(), axes.end());
  return axes;
}

std::set<Displacement> displacement_set(const Iters& replica, std::span<const Axis> axes) {
  std::set<Displacement> out{Displacement(axes.size(), 0)};
  for (const Iter& iter : replica) {
    const auto column =
        static_cast<std::size_t>(std::find(axes.begin(), axes.end(), iter.axis) - axes.begin());
    std::set<Displacement> next;
    for (const Displacement& base : out)
      for (std::int64_t d = 0; d < iter.extent; ++d)
        next.insert(shifted(base, column, d * iter.stride));
    out = std::move(next);
  }
  return out;
}

std::optional<Iters> runs_of(const std::set<Displacement>& set, std::span<const Axis> axes) {
  if (set.size() == 1) return Iters();
  // Sums of non-negative steps: the smallest non-zero member is a single step of some run.
  const Displacement& step = *std::next(set.begin());
  const auto moves = [](std::int64_t v) { return v != 0; };
  if (std::count_if(step.begin(), step.end(), moves) != 1) return std::nullopt;
  const auto column =
      static_cast<std::size_t>(std::find_if(step.begin(), step.end(), moves) - step.begin());
  const std::int64_t stride = step[column];
  std::int64_t longest = 1;
  while (set.contains(shifted(*set.begin(), column, longest * stride))) ++longest;
  for (std::int64_t length = longest; length > 1; --length) {
    if (static_cast<std::int64_t>(set.size()) % length != 0) continue;
    const auto heads = heads_of(set, column, stride, length);
    if (!heads) continue;
    auto rest = runs_of(*heads, axes);
    if (!rest) continue;
    rest->push_back({length, stride, axes[column]});
    std::sort(rest->begin(), rest->end(), sort_before);
    return rest;
  }
  return std::nullopt;
}

void normalize_replica(Iters& replica, Offsets& offset) {
  if (replica.empty()) return;
  drop_idle(replica);
  turn_around(replica, offset);
  std::sort(replica.begin(), replica.end(), sort_before);
  if (nests(replica)) {
    merge_sorted(replica);
    return;
  }
  if (count(replica) > kMaxReplicaSet) return;
  const std::vector<Axis> axes = axes_of(replica);
  if (auto runs = runs_of(displacement_set(replica, axes), axes)) replica = std::move(*runs);
}

Result<bool> same_replica(const Iters& a, const Iters& b) {
  if (a == b) return true;
  if (nests(a) && nests(b)) return false;
  if (count(a) > kMaxReplicaSet || count(b) > kMaxReplicaSet)
    return fail(DiagKind::TooLarge, "comparing {} with {} replica places exceeds the limit of {}",
                count(a), count(b), kMaxReplicaSet);
  Iters both = a;
  both.append(b);
  const std::vector<Axis> axes = axes_of(both);
  return displacement_set(a, axes) == displacement_set(b, axes);
}

Result<Iters> divide_replicas(const Iters& total, const Iters& known) {
  if (known.empty()) return total;
  if (total == known) return Iters();
  if (count(total) > kMaxReplicaSet || count(known) > kMaxReplicaSet)
    return fail(DiagKind::TooLarge, "dividing {} replica places by {} exceeds the limit of {}",
                count(total), count(known), kMaxReplicaSet);
  Iters both = total;
  both.append(known);
  const std::vector<Axis> axes = axes_of(both);
  std::set<Displacement> rest = displacement_set(total, axes);
  const std::set<Displacement> part = displacement_set(known, axes);
  std::set<Displacement> heads;
  while (!rest.empty()) {
    const Displacement head = *rest.begin();
    for (const Displacement& d : part) {
      Displacement sum = head;
      for (std::size_t a = 0; a < sum.size(); ++a) sum[a] += d[a];
      if (rest.erase(sum) == 0)
        return fail(DiagKind::NotASum, "{} is not {} repeated", replica_text(total),
                    replica_text(known));
    }
    heads.insert(head);
  }
  if (auto runs = runs_of(heads, axes)) return std::move(*runs);
  return fail(DiagKind::NotATile, "the rest of the replica is not a sum of runs");
}

}  // namespace ww::layout
