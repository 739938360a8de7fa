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

using ir::ExprId;

namespace {

// Does the runtime base commute with the swizzle?
bool base_commutes(const AddressTable& table) {
  return table.swizzle.is_none() || table.base_divisor == 0 ||
         table.base_divisor % table.swizzle.period() == 0;
}

std::int64_t first_used(const AddressTable& table) {
  return std::ranges::find(table.used, true) - table.used.begin();
}

std::vector<std::int64_t> column(const AddressTable& table, std::int64_t k) {
  const auto begin = table.linear.begin() + k * table.threads;
  return {begin, begin + table.threads};
}

template <typename Rest>
bool holds_everywhere(const AddressTable& table, Rest&& rest) {
  for (std::int64_t k = 0; k < table.rounds; ++k)
    for (std::int64_t u = 0; u < table.threads; ++u)
      if (table.counts(u, k) && !rest(u, k)) return false;
  return true;
}

std::optional<AddressForm> with_thread_part(const AddressTable& table, AddressForm::Kind kind) {
  std::vector<bool> used;
  for (std::int64_t u = 0; u < table.threads; ++u) used.push_back(table.counts(u, 0));
  auto thread = fit_table(column(table, 0), used);
  if (!thread) return std::nullopt;
  return AddressForm{.kind = kind, .thread = *std::move(thread), .swizzle = table.swizzle};
}

// T(u) + D(k), with the swizzle done in T.
std::optional<AddressForm> as_sum(const AddressTable& table) {
  const std::int64_t u0 = first_used(table);
  std::vector<std::int64_t> round;
  for (std::int64_t k = 0; k < table.rounds; ++k)
    round.push_back(table.place(u0, k) - table.place(u0, 0));
  if (!holds_everywhere(table, [&](std::int64_t u, std::int64_t k) {
        return table.place(u, k) == table.place(u, 0) + round[as_index(k)];
      }))
    return std::nullopt;
  auto form = with_thread_part(table, AddressForm::Kind::Sum);
  auto rounds = fit_table(round);
  if (!form || !rounds) return std::nullopt;
  form->round = *std::move(rounds);
  return form;
}

// (T(u) ^ X(k)) + D(k), with the swizzle done in T. A bit that no T(u) has is the same by `+` and by
// `^`, and an addend becomes part of an instruction's address.
std::optional<AddressForm> as_xor(const AddressTable& table) {
  const std::int64_t u0 = first_used(table);
  std::int64_t of_threads = 0;
  for (std::int64_t u = 0; u < table.threads; ++u)
    if (table.counts(u, 0)) of_threads |= table.place(u, 0);
  std::vector<std::int64_t> flips, added;
  for (std::int64_t k = 0; k < table.rounds; ++k) {
    const std::int64_t both = table.place(u0, k) ^ table.place(u0, 0);
    flips.push_back(both & of_threads);
    added.push_back(both & ~of_threads);
  }
  if (!holds_everywhere(table, [&](std::int64_t u, std::int64_t k) {
        return table.place(u, k) == (table.place(u, 0) ^ flips[as_index(k)]) + added[as_index(k)];
      }))
    return std::nullopt;
  auto form = with_thread_part(table, AddressForm::Kind::Xor);
  auto flip = fit_table(flips);
  auto add = fit_table(added);
  if (!form || !flip || !add) return std::nullopt;
  form->flips = *std::move(flip);
  form->round = *std::move(add);
  return form;
}

// Rounds that are whole periods of the swizzle apart: T(u) with the base is swizzled once.
std::optional<AddressForm> swizzled_once(const AddressTable& table) {
  const std::int64_t u0 = first_used(table);
  for (std::int64_t k = 0; k < table.rounds; ++k)
    if ((table.at(u0, k) - table.at(u0, 0)) % table.swizzle.period() != 0) return std::nullopt;
  auto form = as_sum(table);
  if (form) form->base_inside = true;
  return form;
}

// L(u) + D(k) before the swizzle, or one formula of k·threads + u.
std::optional<AddressForm> as_joint(const AddressTable& table) {
  std::vector<bool> used;
  for (std::int64_t k = 0; k < table.rounds; ++k)
    for (std::int64_t u = 0; u < table.threads; ++u) used.push_back(table.counts(u, k));
  auto all = fit_table(table.linear, used);
  if (!all) return std::nullopt;
  return AddressForm{.kind = AddressForm::Kind::Joint,
                     .thread = *std::move(all),
                     .swizzle = table.swizzle,
                     .base_inside = !base_commutes(table)};
}

}  // namespace

std::optional<AddressForm> find_form(const AddressTable& table) {
  WW_CHECK(table.linear.size() == as_index(table.threads * table.rounds), "a table of {} entries",
           table.linear.size());
  if (base_commutes(table)) {
    if (auto form = as_sum(table)) return form;
    if (!table.swizzle.is_none())
      if (auto form = as_xor(table)) return form;
  } else if (auto form = swizzled_once(table)) {
    return form;
  }
  return as_joint(table);
}

namespace {

// The terms of a sum that are multiples of the period, and the others; none where there are none.
std::pair<ExprId, ExprId> split_at_period(CodeWriter& code, ExprId sum, std::int64_t period) {
  const ir::Expr& e = code.f()[sum];
  if (e.op == ir::ExprOp::Add) {
    const ExprId left = e.args[0], right = e.args[1];
    const auto [outer_left, inner_left] = split_at_period(code, left, period);
    const auto [outer_right, inner_right] = split_at_period(code, right, period);
    const auto both = [&](ExprId a, ExprId b) {
      return !a.valid() ? b : !b.valid() ? a : code.add(a, b);
    };
    return {both(outer_left, outer_right), both(inner_left, inner_right)};
  }
  if (ir::divisor_of(code.f(), sum, code.facts()) % period == 0) return {sum, {}};
  return {{}, sum};
}

}  // namespace

ThreadPart thread_part(CodeWriter& code, const AddressForm& form, ExprId u, ExprId base) {
  if (form.kind == AddressForm::Kind::Joint) return {base, {}};
  const ExprId digits = digits_expr(code, form.thread, u);
  if (form.base_inside) {
    const auto [outer, inner] = split_at_period(code, base, form.swizzle.period());
    return {swizzle_expr(code, form.swizzle, inner.valid() ? code.add(inner, digits) : digits),
            outer};
  }
  const ExprId thread = swizzle_expr(code, form.swizzle, digits);
  if (form.kind == AddressForm::Kind::Xor) return {thread, base};
  return {code.add(base, thread), {}};
}

namespace {

ExprId xor_expr(CodeWriter& code, const AddressForm& form, ExprId thread, ExprId k) {
  const ExprId flipped = code.bit_xor(thread, digits_expr(code, form.flips, k));
  return code.add(flipped, digits_expr(code, form.round, k));
}

}  // namespace

ExprId address_expr(CodeWriter& code, const AddressForm& form, const ThreadPart& part, ExprId u,
                    ExprId k, std::int64_t threads) {
  const auto with_base = [&](ExprId rest) {
    return part.base.valid() && code.constant(part.base) != 0 ? code.add(part.base, rest) : rest;
  };
  switch (form.kind) {
    case AddressForm::Kind::Sum:
      return with_base(code.add(part.fixed, digits_expr(code, form.round, k)));
    case AddressForm::Kind::Xor:
      return with_base(xor_expr(code, form, part.fixed, k));
    case AddressForm::Kind::Joint:
      break;
  }
  const ExprId q = code.add(code.mul(k, threads), u);
  const ExprId linear = digits_expr(code, form.thread, q);
  if (form.base_inside) return swizzle_expr(code, form.swizzle, code.add(part.fixed, linear));
  return code.add(part.fixed, swizzle_expr(code, form.swizzle, linear));
}

std::optional<PlaceForm> find_place_form(const OperandPlaces& side, AddressTable table,
                                         std::span<const std::int32_t> first) {
  table.swizzle = side.swizzle;
  table.base_divisor = side.base_divisor;
  auto form = find_form(table);
  if (!form) return std::nullopt;
  PlaceForm out{.form = *std::move(form)};
  table.swizzle = {};
  for (const RuntimeStride& stride : side.strides) {
    for (std::size_t i = 0; i < first.size(); ++i)
      table.linear[i] = first[i] < 0 ? 0 : stride.coef[as_index(first[i])];
    auto coef = find_form(table);
    if (!coef) return std::nullopt;
    out.strides.emplace_back(stride.stride, *std::move(coef));
  }
  return out;
}

std::vector<ThreadPart> place_parts(CodeWriter& code, const PlaceForm& form, ExprId u,
                                    ExprId base) {
  std::vector<ThreadPart> out = {thread_part(code, form.form, u, base)};
  for (const auto& [stride, coef] : form.strides)
    out.push_back(thread_part(code, coef, u, code.n(0)));
  return out;
}

ExprId place_expr(CodeWriter& code, const PlaceForm& form, std::span<const ThreadPart> parts,
                  ExprId u, ExprId k, std::int64_t threads) {
  ExprId out = address_expr(code, form.form, parts[0], u, k, threads);
  for (std::size_t i = 0; i < form.strides.size(); ++i) {
    const auto& [stride, coef] = form.strides[i];
    const ExprId times = address_expr(code, coef, parts[i + 1], u, k, threads);
    out = code.add(out, wide_mul(code, times, stride));
  }
  return out;
}

}  // namespace ww::lower
