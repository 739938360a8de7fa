// SPDX-License-Identifier: Apache-2.0
// Floor division and remainder of sums by a number. The working idea is a cut: write the value as
// high + low where `high` is a multiple of some c that divides k, and low stays in [0, c). Then
// nothing carries from low into high, and both can be treated on their own.
#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/simplify/arithmetic.h"
#include "ir/simplify/bounds.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

// The same sum with every number divided by c, which divides them.
Sum divided(Sum sum, std::int64_t c) {
  sum.constant /= c;
  for (SumTerm& term : sum.terms) term.coef /= c;
  return sum;
}

struct Cut {
  std::int64_t at = 1;
  Sum high;              // a multiple of `at`
  Sum low;               // in [0, at)
  bool divides = false;  // are the numbers in `high` multiples of `at`?
};

std::optional<Cut> cut_below(const Atoms& atoms, const Sum& sum, std::int64_t k) {
  std::vector<std::int64_t> places;
  for (const SumTerm& term : sum.terms)
    if (const std::int64_t c = std::gcd(granularity(atoms, term), k); c > 1) places.push_back(c);
  std::sort(places.begin(), places.end(), std::greater<>());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const std::int64_t c : places) {
    Cut cut{.at = c, .high = {}, .low = {}, .divides = true};
    cut.high.exact = cut.low.exact = sum.exact;
    cut.low.constant = floor_mod(sum.constant, c);
    cut.high.constant = sum.constant - cut.low.constant;
    for (const SumTerm& term : sum.terms) {
      const bool is_high = granularity(atoms, term) % c == 0;
      (is_high ? cut.high : cut.low).terms.push_back(term);
      if (is_high && term.coef % c != 0) cut.divides = false;
    }
    const bool is_idle = cut.low == Sum{} && !cut.divides;
    if (!is_idle && range::within(plain_range(atoms, cut.low), {0, c - 1})) return cut;
  }
  return std::nullopt;
}

// x // k where no coefficient is a multiple of k.
Sum quotient_of_rest(Atoms& atoms, const Sum& rest, std::int64_t k, Type type) {
  const Range values = plain_range(atoms, rest);
  if (range::in_one_block(values, k)) return {floor_div(values.min, k), {}};
  if (const auto cut = cut_below(atoms, rest, k)) {
    const Sum high = cut->divides ? divided(cut->high, cut->at) : cut->high;
    if (!may_wrap(atoms, high, type))
      return floor_quotient(atoms, high, cut->divides ? k / cut->at : k, type);
  }
  if (rest.is_atom()) {
    const SumAtom& inner = atoms[rest.terms[0].atom];
    const bool by_number = inner.args.size() == 2 && inner.args[1].is_constant() &&
                           inner.args[1].constant >= 1 && inner.type == type &&
                           !may_wrap(atoms, inner.args[0], type);
    if (inner.op == ExprOp::FloorDiv && by_number)
      if (const auto both = checked_mul(inner.args[1].constant, k);
          both && range::within({*both, *both}, range::of_type(type.dtype)))
        return floor_quotient(atoms, inner.args[0], *both, type);
    if (inner.op == ExprOp::FloorMod && by_number && inner.args[1].constant % k == 0)
      return floor_remainder(atoms, floor_quotient(atoms, inner.args[0], k, type),
                             inner.args[1].constant / k, type);
  }
  return single(atoms, ExprOp::FloorDiv, type, type, {rest, {k, {}}});
}

// x % k where no term is a multiple of k.
Sum remainder_of_rest(Atoms& atoms, const Sum& rest, std::int64_t k, Type type) {
  const Range values = plain_range(atoms, rest);
  if (range::in_one_block(values, k))
    return {rest.constant - floor_div(values.min, k) * k, rest.terms};
  if (const auto cut = cut_below(atoms, rest, k)) {
    const Sum high = cut->divides ? divided(cut->high, cut->at) : cut->high;
    if (divides_width(k, type) || !may_wrap(atoms, high, type)) {
      const Sum reduced = floor_remainder(atoms, high, cut->divides ? k / cut->at : k, type);
      if (auto out = plus(atoms, cut->low, reduced, cut->divides ? cut->at : 1))
        return settled(atoms, *std::move(out), type, rest.exact);
    }
  }
  return single(atoms, ExprOp::FloorMod, type, type, {rest, {k, {}}});
}

}  // namespace

bool divides_width(std::int64_t k, Type type) {
  const auto bits = static_cast<std::uint64_t>(k);
  return k >= 1 && std::has_single_bit(bits) && std::countr_zero(bits) < num::bits_of(type.dtype);
}

Sum floor_quotient(Atoms& atoms, const Sum& x, std::int64_t k, Type type) {
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
    quotient.constant = floor_div(x.constant, k);
  else
    rest.constant = x.constant;
  // An unsigned rest below 0 would wrap around.
  if (may_wrap(atoms, rest, type)) return single(atoms, ExprOp::FloorDiv, type, type, {x, {k, {}}});
  auto out = plus(atoms, quotient, quotient_of_rest(atoms, rest, k, type), 1);
  return out ? settled(atoms, *std::move(out), type, x.exact)
             : single(atoms, ExprOp::FloorDiv, type, type, {x, {k, {}}});
}

Sum floor_remainder(Atoms& atoms, const Sum& x, std::int64_t k, Type type) {
  if (k == 1) return {};
  const Range values = plain_range(atoms, x);
  if (range::in_one_block(values, k)) return {x.constant - floor_div(values.min, k) * k, x.terms};
  const bool may_be_off = divides_width(k, type);
  Sum rest;
  rest.exact = x.exact;
  std::vector<Sum> opened;
  rest.constant = x.constant % k == 0 ? 0 : x.constant;
  for (const SumTerm& term : x.terms) {
    if (granularity(atoms, term) % k == 0) continue;
    const SumAtom& inner = atoms[term.atom];
    // (x % (a·k) + y) % k is (x + y) % k.
    if (inner.op == ExprOp::FloorMod && inner.type == type && inner.args[1].is_constant() &&
        inner.args[1].constant >= 1 && inner.args[1].constant % k == 0 &&
        (may_be_off || !may_wrap(atoms, inner.args[0], type))) {
      if (const auto open = scaled(inner.args[0], term.coef)) {
        opened.push_back(*open);
        continue;
      }
    }
    rest.terms.push_back(term);
  }
  for (const Sum& more : opened) {
    auto sum = plus(atoms, rest, more, 1);
    if (!sum) return single(atoms, ExprOp::FloorMod, type, type, {x, {k, {}}});
    rest = promised(atoms, *std::move(sum), type, x.exact);
  }
  if (!may_be_off && may_wrap(atoms, rest, type))
    return single(atoms, ExprOp::FloorMod, type, type, {x, {k, {}}});
  return opened.empty() ? remainder_of_rest(atoms, rest, k, type)
                        : floor_remainder(atoms, rest, k, type);
}

}  // namespace ww::ir
