// SPDX-License-Identifier: Apache-2.0
// Floor division and remainder of sums by a number. The working idea is a cut: write the value as
// high + low where `high` is a multiple of some c that divides k, and low stays in [0, c). Then
// nothing carries from low into high, and both can be treated on their own.
#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/simplify/algebra.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

// The same sum with every number divided by c, which divides them.
Sum divided(Sum sum, std::int64_t c) {
  sum.constant /= c;
  for (SumTerm& term : sum.terms) term.coef /= c;
  return sum;
}

}  // namespace

std::optional<Algebra::Cut> Algebra::cut_below(const Sum& sum, std::int64_t k) const {
  std::vector<std::int64_t> places;
  for (const SumTerm& term : sum.terms)
    if (const std::int64_t c = std::gcd(granularity(term), k); c > 1) places.push_back(c);
  std::sort(places.begin(), places.end(), std::greater<>());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const std::int64_t c : places) {
    Cut cut{.at = c, .high = {}, .low = {}, .divides = true};
    cut.high.exact = cut.low.exact = sum.exact;
    cut.low.constant = range::floor_modulo(sum.constant, c);
    cut.high.constant = sum.constant - cut.low.constant;
    for (const SumTerm& term : sum.terms) {
      const bool is_high = granularity(term) % c == 0;
      (is_high ? cut.high : cut.low).terms.push_back(term);
      if (is_high && term.coef % c != 0) cut.divides = false;
    }
    const bool is_idle = cut.low == Sum{} && !cut.divides;
    if (!is_idle && range::within(plain_range(cut.low), {0, c - 1})) return cut;
  }
  return std::nullopt;
}

Sum Algebra::floor_div(const Sum& x, std::int64_t k, Type type) {
  if (k == 1) return x;
  Sum quotient;
  Sum rest;
  rest.exact = x.exact;
  for (const SumTerm& term : x.terms) {
    if (term.coef % k == 0)
      quotient.terms.push_back({term.coef / k, term.atom});
    else
      rest.terms.push_back(term);
  }
  if (x.constant % k == 0 || rest.is_constant())
    quotient.constant = range::floor_divide(x.constant, k);
  else
    rest.constant = x.constant;
  // An unsigned rest below 0 would wrap around.
  if (may_wrap(rest, type)) return single(ExprOp::FloorDiv, type, type, {x, {k, {}}});
  auto out = plus(quotient, divide_rest(rest, k, type), 1);
  return out ? settled(*std::move(out), type, x.exact)
             : single(ExprOp::FloorDiv, type, type, {x, {k, {}}});
}

// x // k where no coefficient is a multiple of k.
Sum Algebra::divide_rest(const Sum& rest, std::int64_t k, Type type) {
  const Range values = plain_range(rest);
  if (range::in_one_block(values, k)) return {range::floor_divide(values.min, k), {}};
  if (const auto cut = cut_below(rest, k)) {
    const Sum high = cut->divides ? divided(cut->high, cut->at) : cut->high;
    if (!may_wrap(high, type)) return floor_div(high, cut->divides ? k / cut->at : k, type);
  }
  if (rest.is_atom()) {
    const SumAtom inner = atoms_[rest.terms[0].atom];
    const bool by_number = inner.args.size() == 2 && inner.args[1].is_constant() &&
                           inner.args[1].constant >= 1 && inner.type == type &&
                           !may_wrap(inner.args[0], type);
    if (inner.op == ExprOp::FloorDiv && by_number)
      if (const auto both = checked_mul(inner.args[1].constant, k);
          both && range::within({*both, *both}, range::of_type(type.dtype)))
        return floor_div(inner.args[0], *both, type);
    if (inner.op == ExprOp::FloorMod && by_number && inner.args[1].constant % k == 0)
      return floor_mod(floor_div(inner.args[0], k, type), inner.args[1].constant / k, type);
  }
  return single(ExprOp::FloorDiv, type, type, {rest, {k, {}}});
}

// Does k divide every 2^width that a sum of the type may be off by?
bool Algebra::divides_width(std::int64_t k, Type type) {
  const auto bits = static_cast<std::uint64_t>(k);
  return k >= 1 && std::has_single_bit(bits) && std::countr_zero(bits) < num::bits_of(type.dtype);
}

Sum Algebra::floor_mod(const Sum& x, std::int64_t k, Type type) {
  if (k == 1) return {};
  const Range values = plain_range(x);
  if (range::in_one_block(values, k))
    return {x.constant - range::floor_divide(values.min, k) * k, x.terms};
  const bool may_be_off = divides_width(k, type);
  Sum rest;
  rest.exact = x.exact;
  std::vector<Sum> opened;
  rest.constant = x.constant % k == 0 ? 0 : x.constant;
  for (const SumTerm& term : x.terms) {
    if (granularity(term) % k == 0) continue;
    const SumAtom& inner = atoms_[term.atom];
    // (x % (a·k) + y) % k is (x + y) % k.
    if (inner.op == ExprOp::FloorMod && inner.type == type && inner.args[1].is_constant() &&
        inner.args[1].constant >= 1 && inner.args[1].constant % k == 0 &&
        (may_be_off || !may_wrap(inner.args[0], type))) {
      if (const auto open = scaled(inner.args[0], term.coef)) {
        opened.push_back(*open);
        continue;
      }
    }
    rest.terms.push_back(term);
  }
  for (const Sum& more : opened) {
    auto sum = plus(rest, more, 1);
    if (!sum) return single(ExprOp::FloorMod, type, type, {x, {k, {}}});
    rest = promised(*std::move(sum), type, x.exact);
  }
  if (!may_be_off && may_wrap(rest, type))
    return single(ExprOp::FloorMod, type, type, {x, {k, {}}});
  return opened.empty() ? reduce_rest(rest, k, type) : floor_mod(rest, k, type);
}

// x % k where no term is a multiple of k.
Sum Algebra::reduce_rest(const Sum& rest, std::int64_t k, Type type) {
  const Range values = plain_range(rest);
  if (range::in_one_block(values, k))
    return {rest.constant - range::floor_divide(values.min, k) * k, rest.terms};
  if (const auto cut = cut_below(rest, k)) {
    const Sum high = cut->divides ? divided(cut->high, cut->at) : cut->high;
    if (divides_width(k, type) || !may_wrap(high, type)) {
      const Sum reduced = floor_mod(high, cut->divides ? k / cut->at : k, type);
      if (auto out = plus(cut->low, reduced, cut->divides ? cut->at : 1))
        return settled(*std::move(out), type, rest.exact);
    }
  }
  return single(ExprOp::FloorMod, type, type, {rest, {k, {}}});
}

}  // namespace ww::ir
