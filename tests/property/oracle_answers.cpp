// SPDX-License-Identifier: Apache-2.0
// Does an answer exist? Decided from tables alone.
#include "property/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace ww::test {
namespace {

/// Values of a table as vectors over a fixed list of axes.
struct Dense {
  std::vector<std::string> axes;
  std::vector<std::set<Ints>> sets;
};

Ints dense_place(const Place& place, const std::vector<std::string>& axes) {
  Ints out;
  for (const std::string& axis : axes) {
    const auto found = place.find(axis);
    out.push_back(found == place.end() ? 0 : found->second);
  }
  return out;
}

Dense dense(const Table& table) {
  const std::set<std::string> axes = axes_of(table);
  Dense out{{axes.begin(), axes.end()}, {}};
  for (const Places& places : table) {
    std::set<Ints> set;
    for (const Place& place : places) set.insert(dense_place(place, out.axes));
    out.sets.push_back(std::move(set));
  }
  return out;
}

Ints minus(const Ints& a, const Ints& b) {
  Ints out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = a[k] - b[k];
  return out;
}

Ints plus_multiple(const Ints& a, const Ints& b, std::int64_t factor) {
  Ints out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = a[k] + b[k] * factor;
  return out;
}

/// Displacement of every element from element 0, if all sets are moved copies of the first. A
/// finite set is a moved copy of another in at most one way: smallest onto smallest.
std::optional<std::vector<Ints>> displacements(const Dense& table) {
  const std::set<Ints>& first = table.sets.front();
  std::vector<Ints> out;
  for (const std::set<Ints>& set : table.sets) {
    if (set.size() != first.size()) return std::nullopt;
    out.push_back(minus(*set.begin(), *first.begin()));
    for (const Ints& p : first) {
      if (!set.contains(plus_multiple(p, out.back(), 1))) return std::nullopt;
    }
  }
  return out;
}

/// Is f, looked at every `step` elements, the table of some list of iters? By definition of a
/// digit: yes for one element; else some innermost extent e makes every block of e a progression
/// with a step on one axis, and the block starts are again such a table. All e are tried.
bool is_strided(const std::vector<Ints>& f, std::size_t step, std::map<std::size_t, bool>& known) {
  const std::size_t n = f.size() / step;
  if (n == 1) return true;
  const auto found = known.find(step);
  if (found != known.end()) return found->second;
  const Ints stride = minus(f[step], f[0]);
  const auto moving = std::ranges::count_if(stride, [](std::int64_t s) { return s != 0; });
  bool answer = false;
  for (std::size_t e = 2; moving <= 1 && e <= n && !answer; ++e) {
    if (n % e != 0) continue;
    bool linear = true;
    for (std::size_t x = 0; linear && x < n; ++x) {
      const Ints want =
          plus_multiple(f[(x - x % e) * step], stride, static_cast<std::int64_t>(x % e));
      linear = f[x * step] == want;
    }
    answer = linear && is_strided(f, step * e, known);
  }
  known[step] = answer;
  return answer;
}

/// Is `a` (smallest element 0) the set of all subset sums of some list of positive numbers? A
/// progression of extent e is e-1 equal two-element sets added up, so this decides "sum of
/// progressions". The list is searched in ascending order; the sums of a part of it lie in `a`.
bool is_subset_sums(const std::set<std::int64_t>& a, const std::set<std::int64_t>& sums,
                    std::int64_t at_least) {
  if (sums == a) return true;
  for (auto s = a.lower_bound(at_least); s != a.end(); ++s) {
    std::set<std::int64_t> more = sums;
    for (const std::int64_t v : sums) more.insert(v + *s);
    if (!std::ranges::includes(a, more)) continue;
    if (is_subset_sums(a, more, *s)) return true;
  }
  return false;
}

bool is_replica_values(const std::set<Ints>& set, std::size_t axis_count) {
  std::size_t boxed = 1;
  for (std::size_t k = 0; k < axis_count; ++k) {
    std::set<std::int64_t> values;
    for (const Ints& p : set) values.insert(p[k]);
    boxed *= values.size();
    std::set<std::int64_t> from_0;
    for (const std::int64_t v : values) from_0.insert(v - *values.begin());
    if (!is_subset_sums(from_0, {0}, 1)) return false;
  }
  // Every progression moves along one axis, so the whole is the product of what it is on each axis.
  return boxed == set.size();
}

}  // namespace

bool is_tile_table(const Table& table) {
  const Dense values = dense(table);
  const auto f = displacements(values);
  std::map<std::size_t, bool> known;
  return f && is_strided(*f, 1, known) &&
         is_replica_values(values.sets.front(), values.axes.size());
}

bool is_tile_table_under(const Table& table, const OSwizzle& swizzle) {
  Table plain;
  for (const Places& places : table) {
    Places back;  // the swizzle is its own inverse
    for (Place place : places) {
      swizzle_place(swizzle, place);
      back.insert(std::move(place));
    }
    plain.push_back(std::move(back));
  }
  return is_tile_table(plain);
}

bool is_additive(const Table& table, const Ints& shape) {
  const Dense values = dense(table);
  const auto f = displacements(values);
  if (!f) return false;
  for (std::size_t x = 0; x < f->size(); ++x) {
    const Ints coordinate = coordinate_of(static_cast<std::int64_t>(x), shape);
    Ints sum(values.axes.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Ints alone(shape.size());
      alone[d] = coordinate[d];
      sum = plus_multiple(sum, (*f)[static_cast<std::size_t>(flat_of(alone, shape))], 1);
    }
    if (sum != (*f)[x]) return false;
  }
  return true;
}

bool is_replica_set(const Places& places) {
  const Dense values = dense({places});
  return is_replica_values(values.sets.front(), values.axes.size());
}

std::optional<std::set<std::int64_t>> interval_complement(const std::set<std::int64_t>& a,
                                                          std::int64_t extent) {
  std::set<std::int64_t> covered;
  std::set<std::int64_t> c;
  for (std::int64_t v = 0; v < extent; ++v) {
    if (covered.contains(v)) continue;
    // The smallest number not reached yet can only be reached by the smallest of a.
    const std::int64_t shift = v - *a.begin();
    c.insert(shift);
    for (const std::int64_t p : a) {
      const bool fresh = covered.insert(p + shift).second;
      if (!fresh || p + shift >= extent || p + shift < 0) return std::nullopt;
    }
  }
  return c;
}

}  // namespace ww::test
