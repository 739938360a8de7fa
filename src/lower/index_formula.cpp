// SPDX-License-Identifier: Apache-2.0
#include "lower/index_formula.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "layout/fit.h"
#include "lower/as_index.h"

namespace ww::lower {

using ir::ExprId;
using layout::TileLayout;

namespace {

// The entries that count may be every c-th from some start on.
struct Progression {
  std::int64_t first = 0, step = 1, count = 0;
};
std::optional<Progression> progression(const std::vector<bool>& used) {
  Progression out;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const auto at = static_cast<std::int64_t>(i);
    if (out.count == 0) out.first = at;
    if (out.count == 1) out.step = at - last;
    if (out.count > 1 && at - last != out.step) return std::nullopt;
    last = at;
    ++out.count;
  }
  return out;
}

// Weights of the bits of i, as far as two entries that count differ in one bit only.
std::optional<std::vector<std::int64_t>> complete_by_bits(std::span<const std::int64_t> values,
                                                          const std::vector<bool>& used) {
  const std::size_t n = values.size();
  const auto first = as_index(std::ranges::find(used, true) - used.begin());
  const std::size_t bits = static_cast<std::size_t>(std::bit_width(n - 1));
  std::vector<std::int64_t> weight(bits, 0);
  for (std::size_t b = 0; b < bits; ++b)
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t with = i | (std::size_t{1} << b);
      if (with == i || with >= n || !used[i] || !used[with]) continue;
      weight[b] = values[with] - values[i];
      break;
    }
  const auto sum = [&](std::size_t i) {
    std::int64_t total = 0;
    for (std::size_t b = 0; b < bits; ++b) total += ((i >> b) & 1U) != 0 ? weight[b] : 0;
    return total;
  };
  const std::int64_t offset = values[first] - sum(first);
  std::vector<std::int64_t> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = offset + sum(i);
    if (used[i] && out[i] != values[i]) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<TileLayout> fit_table(std::span<const std::int64_t> values) {
  const layout::Column column{layout::axes::m(), values};
  auto fitted = layout::fit(std::span(&column, 1));
  if (!fitted) return std::nullopt;
  return *std::move(fitted);
}

// Every c-th entry from the beginning on: the table without the others, whose index is i // c.
static std::optional<TileLayout> fit_steps(std::span<const std::int64_t> values,
                                           const std::vector<bool>& used) {
  const auto steps = progression(used);
  if (!steps || steps->first >= steps->step) return std::nullopt;
  std::vector<std::int64_t> taken;
  for (std::int64_t j = 0; j < steps->count; ++j)
    taken.push_back(values[as_index(steps->first + j * steps->step)]);
  const auto fitted = fit_table(taken);
  if (!fitted) return std::nullopt;
  layout::Iters shard = fitted->shard();
  if (steps->step > 1)
    shard.push_back({.extent = steps->step, .stride = 0, .axis = layout::axes::m()});
  auto lifted = TileLayout::make(std::move(shard), {}, fitted->offset());
  return lifted ? std::optional(*std::move(lifted)) : std::nullopt;
}

std::optional<TileLayout> fit_table(std::span<const std::int64_t> values,
                                    const std::vector<bool>& used) {
  if (std::ranges::find(used, false) == used.end()) return fit_table(values);
  if (std::ranges::find(used, true) == used.end()) return std::nullopt;
  if (auto fitted = fit_steps(values, used)) return fitted;
  const auto full = complete_by_bits(values, used);
  return full ? fit_table(*full) : std::nullopt;
}

ExprId digits_expr(CodeWriter& code, const TileLayout& form, ExprId i) {
  const ExprId sum = code.n(form.offset().constant_on(layout::axes::m()));
  const layout::Range range = form.range_on(layout::axes::m());
  if (range.min < -kInt32End || range.max >= kInt32End) i = code.as_int64(i);
  std::int64_t below = 1;
  ExprId total = {};
  for (std::size_t d = form.shard().size(); d-- > 0;) {
    const layout::Iter& iter = form.shard()[d];
    if (iter.extent > 1 && iter.stride != 0) {
      ExprId digit = code.div(i, below);
      if (d != 0) digit = code.mod(digit, iter.extent);
      const ExprId term = code.mul(digit, iter.stride);
      total = total.valid() ? code.add(term, total) : term;
    }
    below *= iter.extent;
  }
  return total.valid() ? code.add(total, sum) : sum;
}

ExprId swizzle_expr(CodeWriter& code, const layout::Swizzle& swizzle, ExprId address) {
  if (swizzle.is_none()) return address;
  const std::int64_t mask = (std::int64_t{1} << swizzle.len()) - 1;
  const int p = swizzle.per_element();
  const int from = swizzle.inner() ? p + swizzle.atom() : p;
  const int to = swizzle.inner() ? p : p + swizzle.atom();
  const ExprId picked = code.mod(code.div(address, std::int64_t{1} << from), mask + 1);
  return code.bit_xor(address, code.mul(picked, std::int64_t{1} << to));
}

// --- sets ----------------------------------------------------------------------------------------

namespace {

// u in [first, last]
ExprId between(CodeWriter& code, ExprId u, std::int64_t first, std::int64_t last,
               std::int64_t size) {
  ExprId out = {};
  if (first > 0) out = code.index(ir::ExprOp::Ge, u, code.n(first));
  if (last + 1 < size) out = code.both(out, code.less(u, last + 1));
  return out;
}

// The set repeats every `period`; the smallest such period.
std::size_t period_of(const std::vector<bool>& set) {
  for (std::size_t p = 1; p < set.size(); ++p) {
    if (set.size() % p != 0) continue;
    bool repeats = true;
    for (std::size_t i = p; i < set.size() && repeats; ++i) repeats = set[i] == set[i - p];
    if (repeats) return p;
  }
  return set.size();
}

// Runs of equal membership all have lengths that are multiples of this.
std::size_t granule_of(const std::vector<bool>& set) {
  std::size_t out = set.size();
  for (std::size_t i = 1; i < set.size(); ++i)
    if (set[i] != set[i - 1]) out = std::gcd(out, i);
  return out;
}

}  // namespace

ExprId member_expr(CodeWriter& code, ExprId u, const std::vector<bool>& set) {
  const auto count = std::ranges::count(set, true);
  if (as_index(count) == set.size()) return {};
  WW_CHECK(count > 0, "an empty set of threads");
  const std::size_t period = period_of(set);
  std::vector<bool> part(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(period));
  const std::size_t granule = granule_of(part);
  std::vector<bool> units;
  for (std::size_t i = 0; i < period; i += granule) units.push_back(part[i]);
  ExprId digit = code.div(u, static_cast<std::int64_t>(granule));
  if (period < set.size()) digit = code.mod(digit, std::ssize(units));
  const auto first = std::ranges::find(units, true) - units.begin();
  const auto last = static_cast<std::ptrdiff_t>(units.size()) - 1 -
                    (std::find(units.rbegin(), units.rend(), true) - units.rbegin());
  const auto inside = std::ranges::count(units, true);
  const auto size = std::ssize(units);
  const auto step = static_cast<std::int64_t>(granule);
  if (period == set.size() && last - first + 1 == inside)
    return between(code, u, first * step, (last + 1) * step - 1, size * step);
  if (inside == 1) return code.index(ir::ExprOp::Eq, digit, code.n(first));
  if (last - first + 1 == inside) return between(code, digit, first, last, size);
  // By pieces: the middle of the units is as good a place to cut as any.
  ExprId out = {};
  for (std::int64_t i = 0; i < size; ++i) {
    if (!units[as_index(i)]) continue;
    std::int64_t end = i;
    while (end + 1 < size && units[as_index(end + 1)]) ++end;
    ExprId piece = i == end ? code.index(ir::ExprOp::Eq, digit, code.n(i))
                            : between(code, digit, i, end, size);
    out = out.valid() ? code.binary(ir::ExprOp::Or, out, piece) : piece;
    i = end;
  }
  return out;
}

}  // namespace ww::lower
