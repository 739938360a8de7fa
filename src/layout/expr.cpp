// SPDX-License-Identifier: Apache-2.0
// Floor division and modulo of affine expressions without approximation. The working idea is a cut:
// write the value as high + low where every part of `high` is a multiple of some c and low stays in
// [0, c). Then nothing carries from low into high, and both can be divided on their own.
#include "layout/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <numeric>
#include <tuple>

#include "base/ascii.h"
#include "base/check.h"
#include "base/wide.h"
#include "layout/axis.h"

namespace ww::layout {

struct Sym::Facts {
  std::string name;
  Range range;
  std::int64_t multiple_of = 1;
};

namespace {

std::int64_t saturate(Wide value) {
  constexpr Wide kLimit = Wide{2} * kMaxPlace;
  return static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

auto sort_key(const Atom& a) { return std::tuple(a.var.name(), a.div, a.mod); }

// (var / div) % mod divided by k, where that is again an atom.
std::optional<Atom> divide_atom(const Atom& atom, std::int64_t k) {
  if (k == 1) return atom;
  if (atom.mod == 0) return Atom(atom.var, atom.div * k, 0);
  if (atom.mod % k == 0) return Atom(atom.var, atom.div * k, atom.mod / k);
  return std::nullopt;
}

// An atom modulo k, where that is again an atom: (x % mod) % k = x % k when k divides mod.
std::optional<Atom> reduce_atom(const Atom& atom, std::int64_t k) {
  const Range range = atom.range();
  if (range.min >= 0 && range.max < k) return atom;
  if (atom.mod == 0 || atom.mod % k == 0) return Atom(atom.var, atom.div, k);
  return std::nullopt;
}

// A modulo that the range makes idle is dropped, so that equal values have equal atoms.
Atom simplify(Atom atom) {
  if (atom.mod != 0) {
    const Range plain = Atom(atom.var, atom.div, 0).range();
    if (plain.min >= 0 && plain.max < atom.mod) atom.mod = 0;
  }
  return atom;
}

std::int64_t granularity(const Term& term) {
  const Wide g = static_cast<Wide>(term.coef) * term.atom.multiple_of();
  return saturate(g < 0 ? -g : g);
}

// c·(x % n) + c·n·(x // n) is c·x again, whichever of the two comes first.
std::optional<Term> join_digits(const Term& a, const Term& b) {
  const bool a_is_low = a.atom.div < b.atom.div;
  const Term& low = a_is_low ? a : b;
  const Term& high = a_is_low ? b : a;
  const std::int64_t n = low.atom.mod;
  if (n == 0 || !(low.atom.var == high.atom.var) || checked_mul(low.coef, n) != high.coef ||
      checked_mul(low.atom.div, n) != high.atom.div)
    return std::nullopt;
  const auto mod = checked_mul(n, high.atom.mod);
  if (!mod) return std::nullopt;
  return Term{low.coef, simplify(Atom(low.atom.var, low.atom.div, *mod))};
}

// value / d where every part divides exactly.
std::optional<Expr> exact_quotient(const Term& term, std::int64_t d) {
  if (term.coef % d == 0) return Expr(Term{term.coef / d, term.atom});
  const std::int64_t g = std::gcd(term.coef, d);
  if (const auto atom = divide_atom(term.atom, d / g))
    return Expr(Term{term.coef / g, simplify(*atom)});
  return std::nullopt;
}

struct Cut {
  Expr high;  // parts that are multiples of c
  Expr low;   // the rest, with the constant's remainder
};

Cut cut_at(const Expr& value, std::int64_t c) {
  Cut cut;
  const std::int64_t low_constant = ww::floor_mod(value.constant(), c);
  cut.high = Expr(value.constant() - low_constant);
  cut.low = Expr(low_constant);
  for (const Term& term : value.terms())
    (granularity(term) % c == 0 ? cut.high : cut.low) += Expr(term);
  return cut;
}

std::optional<Expr> exact_quotient(const Expr& value, std::int64_t d) {
  Expr out(value.constant() / d);
  for (const Term& term : value.terms()) {
    const auto part = exact_quotient(term, d);
    if (!part) return std::nullopt;
    out += *part;
  }
  return out;
}

// Candidate cuts below d, widest first: the granularities of the terms that divide d.
SmallVec<std::int64_t, 4> cuts_below(const Expr& value, std::int64_t d) {
  SmallVec<std::int64_t, 4> cuts;
  for (const Term& term : value.terms()) {
    const std::int64_t c = std::gcd(granularity(term), d);
    if (c > 1 && c < d && std::find(cuts.begin(), cuts.end(), c) == cuts.end()) cuts.push_back(c);
  }
  std::sort(cuts.begin(), cuts.end(), std::greater<>());
  return cuts;
}

// floor(rest / d) where nothing in rest is a multiple of d and the constant is in [0, d).
std::optional<Expr> divide_rest(const Expr& rest, std::int64_t d) {
  const Range range = rest.range();
  const std::int64_t bucket = ww::floor_div(range.min, d);
  if (bucket == ww::floor_div(range.max, d)) return Expr(bucket);
  if (rest.terms().size() == 1 && rest.constant() == 0 && rest.terms()[0].coef == 1) {
    if (const auto atom = divide_atom(rest.terms()[0].atom, d))
      return Expr(Term{1, simplify(*atom)});
    return std::nullopt;
  }
  for (const std::int64_t c : cuts_below(rest, d)) {
    const Cut cut = cut_at(rest, c);
    if (!provably_below(cut.low, c)) continue;
    const auto high = exact_quotient(cut.high, c);
    if (!high) continue;
    if (auto out = floor_div(*high, d / c)) return out;
  }
  return std::nullopt;
}

std::optional<Expr> reduce_rest(const Expr& rest, std::int64_t d) {
  if (provably_below(rest, d)) return rest;
  if (rest.terms().size() == 1 && rest.constant() == 0 && rest.terms()[0].coef == 1) {
    if (const auto atom = reduce_atom(rest.terms()[0].atom, d))
      return Expr(Term{1, simplify(*atom)});
    return std::nullopt;
  }
  for (const std::int64_t c : cuts_below(rest, d)) {
    const Cut cut = cut_at(rest, c);
    if (!provably_below(cut.low, c)) continue;
    const auto high = exact_quotient(cut.high, c);
    if (!high) continue;
    if (auto reduced = floor_mod(*high, d / c)) return *reduced * c + cut.low;
  }
  return std::nullopt;
}

}  // namespace

Result<Sym> Sym::make(std::string_view name, Range range, std::int64_t multiple_of) {
  if (!is_identifier(name) || name.size() > kMaxNameLength)
    return fail(DiagKind::BadArgument,
                "`{}` is not a variable name: expected an identifier of at most {} characters",
                name.substr(0, kMaxNameLength), kMaxNameLength);
  if (range.min > range.max || range.min < -kMaxPlace || range.max > kMaxPlace)
    return fail(DiagKind::BadArgument,
                "variable `{}` ranges over {}..{}: expected min ≤ max within ±2^60", name,
                range.min, range.max);
  if (multiple_of < 1 || multiple_of > kMaxPlace)
    return fail(DiagKind::BadArgument, "variable `{}` is a multiple of {}: expected at least 1",
                name, multiple_of);
  // The multiples inside the range are what the variable can be.
  const Range tight{-ww::floor_div(-range.min, multiple_of) * multiple_of,
                    ww::floor_div(range.max, multiple_of) * multiple_of};
  if (tight.min > tight.max)
    return fail(DiagKind::BadArgument, "variable `{}`: no multiple of {} lies in {}..{}", name,
                multiple_of, range.min, range.max);
  range = tight;
  static std::mutex mutex;
  static std::deque<Facts> entries;
  const std::scoped_lock lock(mutex);
  Sym sym;
  for (const Facts& facts : entries)
    if (facts.name == name && facts.range == range && facts.multiple_of == multiple_of)
      sym.facts_ = &facts;
  if (sym.facts_ == nullptr)
    sym.facts_ = &entries.emplace_back(Facts{std::string(name), range, multiple_of});
  return sym;
}

std::string_view Sym::name() const {
  return facts_ == nullptr ? "?" : std::string_view(facts_->name);
}
Range Sym::range() const { return facts_->range; }
std::int64_t Sym::multiple_of() const { return facts_->multiple_of; }

Range Atom::range() const {
  const Range base = var.range();
  const Range plain{ww::floor_div(base.min, div), ww::floor_div(base.max, div)};
  if (mod == 0) return plain;
  const bool one_block = ww::floor_div(plain.min, mod) == ww::floor_div(plain.max, mod);
  if (one_block) return {ww::floor_mod(plain.min, mod), ww::floor_mod(plain.max, mod)};
  return {0, mod - multiple_of()};
}

std::int64_t Atom::multiple_of() const {
  const std::int64_t known = var.multiple_of();
  const std::int64_t plain = known % div == 0 ? known / div : 1;
  return mod == 0 ? plain : std::gcd(plain, mod);
}

std::string Atom::text() const {
  std::string out(var.name());
  if (div != 1) out += fmt::format("//{}", div);
  if (mod != 0) out += fmt::format("%{}", mod);
  return out;
}

Expr::Expr(Sym sym) { add(Term{1, Atom(sym)}); }

void Expr::add(Term term) {
  if (term.coef == 0) return;
  std::size_t at = 0;
  while (at < terms_.size() && sort_key(terms_[at].atom) < sort_key(term.atom)) ++at;
  while (at < terms_.size() && sort_key(terms_[at].atom) == sort_key(term.atom)) {
    if (terms_[at].atom == term.atom) {
      term.coef += terms_[at].coef;
      terms_.erase(at);
      add(term);
      return;
    }
    ++at;
  }
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (const auto joined = join_digits(terms_[i], term)) {
      terms_.erase(i);
      add(*joined);
      return;
    }
  }
  terms_.insert(at, term);
}

Range Expr::range() const {
  Wide lo = constant_;
  Wide hi = constant_;
  for (const Term& term : terms_) {
    const Range r = term.atom.range();
    const Wide a = static_cast<Wide>(term.coef) * r.min;
    const Wide b = static_cast<Wide>(term.coef) * r.max;
    lo += std::min(a, b);
    hi += std::max(a, b);
  }
  return {saturate(lo), saturate(hi)};
}

std::int64_t Expr::multiple_of() const {
  std::int64_t g = constant_ < 0 ? -constant_ : constant_;
  for (const Term& term : terms_) g = std::gcd(g, granularity(term));
  return g;
}

std::int64_t Expr::evaluate(const std::function<std::int64_t(Sym)>& value_of) const {
  std::int64_t sum = constant_;
  for (const Term& term : terms_) {
    std::int64_t value = ww::floor_div(value_of(term.atom.var), term.atom.div);
    if (term.atom.mod != 0) value = ww::floor_mod(value, term.atom.mod);
    sum += term.coef * value;
  }
  return sum;
}

std::string Expr::text() const {
  std::string out;
  for (const Term& term : terms_) {
    const bool plain = term.atom.div == 1 && term.atom.mod == 0;
    const std::int64_t size = term.coef < 0 ? -term.coef : term.coef;
    if (out.empty()) {
      out += term.coef < 0 ? "-" : "";
    } else {
      out += term.coef < 0 ? " - " : " + ";
    }
    if (size != 1) out += fmt::format("{}*", size);
    out += plain ? term.atom.text() : fmt::format("({})", term.atom.text());
  }
  if (out.empty()) return fmt::format("{}", constant_);
  if (constant_ != 0)
    out += fmt::format(" {} {}", constant_ < 0 ? '-' : '+', constant_ < 0 ? -constant_ : constant_);
  return out;
}

Expr& Expr::operator+=(const Expr& other) {
  constant_ += other.constant_;
  const SmallVec<Term, 2> theirs = other.terms_;  // `other` may be *this
  for (const Term& term : theirs) add(term);
  return *this;
}

Expr& Expr::operator*=(std::int64_t factor) {
  constant_ *= factor;
  if (factor == 0) terms_.clear();
  for (Term& term : terms_) term.coef *= factor;
  return *this;
}

bool provably_below(const Expr& value, std::int64_t bound) {
  const Range range = value.range();
  return range.min >= 0 && range.max < bound;
}

std::optional<Expr> floor_div(const Expr& value, std::int64_t d) {
  WW_CHECK(d >= 1, "division by {}", d);
  if (d == 1) return value;
  const Cut cut = cut_at(value, d);
  auto quotient = exact_quotient(cut.high, d);
  if (!quotient) return std::nullopt;
  const auto rest = divide_rest(cut.low, d);
  if (!rest) return std::nullopt;
  return *quotient + *rest;
}

std::optional<Expr> floor_mod(const Expr& value, std::int64_t d) {
  WW_CHECK(d >= 1, "modulo {}", d);
  if (d == 1) return Expr(0);
  return reduce_rest(cut_at(value, d).low, d);
}

}  // namespace ww::layout
