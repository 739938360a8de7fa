// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/algebra.h"

#include <bit>
#include <numeric>

#include "ir/simplify/fold.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

void append(std::vector<std::int64_t>& key, const Sum& sum) {
  key.push_back(sum.constant);
  key.push_back(static_cast<std::int64_t>(sum.terms.size()) * 2 + (sum.exact ? 1 : 0));
  for (const SumTerm& term : sum.terms) {
    key.push_back(term.coef);
    key.push_back(term.atom);
  }
}

void append(std::vector<std::int64_t>& key, Type type) {
  for (const int part : {static_cast<int>(type.kind), static_cast<int>(type.dtype),
                         static_cast<int>(type.lanes), static_cast<int>(type.opaque)})
    key.push_back(part);
}

void append(std::vector<std::int64_t>& key, const Expr& e) {
  for (const std::int64_t part :
       {e.integer, std::bit_cast<std::int64_t>(e.real), static_cast<std::int64_t>(e.var.index),
        static_cast<std::int64_t>(e.buffer.index), static_cast<std::int64_t>(e.callee),
        static_cast<std::int64_t>(e.text)})
    key.push_back(part);
}

int sign(auto a, auto b) { return a < b ? -1 : (b < a ? 1 : 0); }

bool is_unsigned(Type type) { return num::kind_of(type.dtype) == num::DTypeKind::Uint; }

// The number modulo 2^bits that the type holds; of an unsigned type with its sign, because a
// difference has one.
std::int64_t reduced(std::int64_t number, Type type) {
  const int bits = num::bits_of(type.dtype);
  if (bits >= 63) return number;
  return is_unsigned(type) ? number % (std::int64_t{1} << bits) : wrap(type.dtype, number);
}

}  // namespace

// --- atoms ---------------------------------------------------------------------------------------

Sum Algebra::make(SumAtom atom, bool is_unique) {
  atom.range = range_of_atom(atom);
  atom.divisor = divisor_of_atom(atom);
  if (range::is_single(atom.range) && is_index(atom.type) && !is_unique)
    return {atom.range.min, {}};
  std::vector<std::int64_t> key;
  key.reserve(24);
  key.push_back(static_cast<std::int64_t>(atom.op));
  key.push_back(is_unique ? ++unique_ : 0);
  key.push_back(atom.exact ? 1 : 0);
  append(key, atom.type);
  append(key, atom.source.valid() ? f_[atom.source] : Expr{});
  for (const Sum& arg : atom.args) append(key, arg);
  const auto [place, is_new] =
      numbers_.try_emplace(std::move(key), static_cast<AtomId>(atoms_.size()));
  if (is_new) atoms_.push_back(std::move(atom));
  return {0, {{1, place->second}}};
}

Sum Algebra::single(ExprOp op, Type type, Type arg_type, std::vector<Sum> args, bool exact) {
  return make(
      {.op = op, .type = type, .arg_type = arg_type, .args = std::move(args), .exact = exact});
}

int Algebra::compare(AtomId a, AtomId b) const {
  if (a == b) return 0;
  const SumAtom& x = atoms_[a];
  const SumAtom& y = atoms_[b];
  // Compound atoms stand before variables: `i//4 + j`.
  if (const int s = sign(x.op == ExprOp::Var, y.op == ExprOp::Var)) return s;
  if (const int s = sign(x.op, y.op)) return s;
  if (const int s = sign(x.args.size(), y.args.size())) return s;
  for (std::size_t i = 0; i < x.args.size(); ++i)
    if (const int s = compare(x.args[i], y.args[i])) return s;
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> right;
  append(left, x.type);
  append(right, y.type);
  append(left, x.source.valid() ? f_[x.source] : Expr{});
  append(right, y.source.valid() ? f_[y.source] : Expr{});
  if (const int s = sign(left, right)) return s;
  if (const int s = sign(x.exact, y.exact)) return s;
  return sign(a, b);  // unique atoms only
}

// Terms lie by number, which depends on what was read before; the order here must not.
int Algebra::compare(const Sum& a, const Sum& b) const {
  if (a == b) return 0;
  if (const int s = sign(a.terms.size(), b.terms.size())) return s;
  const auto ordered = [this](const Sum& sum) {
    SmallVec<SumTerm, 3> terms = sum.terms;
    std::sort(terms.begin(), terms.end(),
              [this](const SumTerm& s, const SumTerm& t) { return compare(s.atom, t.atom) < 0; });
    return terms;
  };
  const SmallVec<SumTerm, 3> left = ordered(a);
  const SmallVec<SumTerm, 3> right = ordered(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (const int s = compare(left[i].atom, right[i].atom)) return s;
    if (const int s = sign(left[i].coef, right[i].coef)) return s;
  }
  return sign(a.constant, b.constant);
}

// --- sums ----------------------------------------------------------------------------------------

std::optional<Sum> Algebra::scaled(const Sum& a, std::int64_t factor) const {
  return raw_plus({}, a, factor);
}

// a + factor·b, common terms collected; nothing when a number leaves 64 bits.
std::optional<Sum> Algebra::raw_plus(const Sum& a, const Sum& b, std::int64_t factor) const {
  Sum out;
  const auto added = [&](std::int64_t x, std::int64_t y) -> std::optional<std::int64_t> {
    const auto scaled_y = checked_mul(y, factor);
    const auto sum = scaled_y ? checked_add(x, *scaled_y) : std::nullopt;
    return sum && !range::is_far(*sum) ? sum : std::nullopt;
  };
  const auto constant = added(a.constant, b.constant);
  if (!constant) return std::nullopt;
  out.constant = *constant;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool left =
        j == b.terms.size() || (i < a.terms.size() && a.terms[i].atom <= b.terms[j].atom);
    const bool right =
        i == a.terms.size() || (j < b.terms.size() && b.terms[j].atom <= a.terms[i].atom);
    const AtomId which = left ? a.terms[i].atom : b.terms[j].atom;
    const auto coef = added(left ? a.terms[i].coef : 0, right ? b.terms[j].coef : 0);
    if (!coef) return std::nullopt;
    if (*coef != 0) out.terms.push_back({*coef, which});
    i += left ? 1 : 0;
    j += right ? 1 : 0;
  }
  return out;
}

std::optional<Sum> Algebra::plus(const Sum& a, const Sum& b, std::int64_t factor) {
  auto sum = raw_plus(a, b, factor);
  if (!sum) return std::nullopt;
  return joined(*std::move(sum));
}

// `exact` says that it does not overflow, which counts only where the range does not show it, so
// that equal sums are alike.
Sum Algebra::promised(Sum sum, Type type, bool exact) const {
  sum.exact = false;
  sum.exact = exact && !is_unsigned(type) && may_wrap(sum, type);
  return sum;
}

// What an operation of that type makes. What may wrap is meant modulo 2^bits: its numbers are kept
// small.
Sum Algebra::settled(Sum sum, Type type, bool exact) const {
  sum = promised(std::move(sum), type, exact);
  if (!may_wrap(sum, type)) return sum;
  sum.constant = reduced(sum.constant, type);
  SmallVec<SumTerm, 3> terms;
  for (const SumTerm& term : sum.terms)
    if (const std::int64_t coef = reduced(term.coef, type); coef != 0)
      terms.push_back({coef, term.atom});
  sum.terms = std::move(terms);
  return sum;
}

// x%k + k·(x//k) is x, and x - k·(x//k) is x%k: where either leaves fewer terms, it is taken.
Sum Algebra::joined(Sum sum) {
  for (bool again = true; again;) {
    again = false;
    for (const SumTerm& term : sum.terms) {
      auto shorter = join_at(sum, term);
      if (!shorter) continue;
      sum = *std::move(shorter);
      again = true;
      break;
    }
  }
  return sum;
}

std::optional<Sum> Algebra::join_at(const Sum& sum, const SumTerm& term) {
  const SumAtom atom = atoms_[term.atom];
  const bool is_mod = atom.op == ExprOp::FloorMod;
  if ((!is_mod && atom.op != ExprOp::FloorDiv) || !atom.args[1].is_constant()) return std::nullopt;
  const std::int64_t k = atom.args[1].constant;
  const Sum& x = atom.args[0];
  if (k < 1 || sum.terms.size() < 2 || may_wrap(x, atom.type)) return std::nullopt;
  if (!is_mod && term.coef % k != 0) return std::nullopt;
  // c·(x%k) = c·x - c·k·(x//k), and -c·k·(x//k) = c·(x%k) - c·x.
  const std::int64_t c = is_mod ? term.coef : -(term.coef / k);
  const Sum other = is_mod ? floor_div(x, k, atom.type) : floor_mod(x, k, atom.type);
  const auto other_coef = is_mod ? checked_mul(-c, k) : std::optional(c);
  if (!other_coef) return std::nullopt;
  auto out = raw_plus(sum, Sum{0, {{1, term.atom}}}, -term.coef);
  if (out) out = raw_plus(*out, x, is_mod ? c : -c);
  if (out) out = raw_plus(*out, other, *other_coef);
  if (!out || out->terms.size() >= sum.terms.size()) return std::nullopt;
  out->exact = sum.exact;
  return out;
}

std::optional<Sum> Algebra::product(const Sum& a, const Sum& b, Type type, bool exact) {
  if (a.is_constant()) return scaled(b, a.constant);
  if (b.is_constant()) return scaled(a, b.constant);
  // Numbers come out of products of single terms; other sums stay together.
  const auto factor = [](const Sum& sum) {
    return sum.terms.size() == 1 && sum.constant == 0 ? sum.terms[0].coef : std::int64_t{1};
  };
  const auto numbers = checked_mul(factor(a), factor(b));
  if (!numbers) return std::nullopt;
  Sum left = factor(a) == 1 ? a : Sum{0, {{1, a.terms[0].atom}}};
  Sum right = factor(b) == 1 ? b : Sum{0, {{1, b.terms[0].atom}}};
  if (compare(right, left) < 0) std::swap(left, right);
  return scaled(single(ExprOp::Mul, type, type, {left, right}, exact && !is_unsigned(type)),
                *numbers);
}

// --- what is known about them --------------------------------------------------------------------

Range Algebra::plain_range(const Sum& sum) const {
  Range out{sum.constant, sum.constant};
  for (const SumTerm& term : sum.terms)
    out = range::add(out, range::scale(atoms_[term.atom].range, term.coef));
  return out;
}

std::int64_t Algebra::granularity(const SumTerm& term) const {
  const std::int64_t size = term.coef < 0 ? -term.coef : term.coef;
  return checked_mul(size, atoms_[term.atom].divisor).value_or(size);
}

std::int64_t Algebra::plain_divisor(const Sum& sum) const {
  std::int64_t out = sum.constant < 0 ? -sum.constant : sum.constant;
  for (const SumTerm& term : sum.terms) out = std::gcd(out, granularity(term));
  return out;
}

bool Algebra::may_wrap(const Sum& sum, Type type) const {
  if (sum.exact || sum.is_atom()) return false;
  return !range::within(plain_range(sum), range::of_type(type.dtype));
}

Range Algebra::range(const Sum& sum, Type type) const {
  return may_wrap(sum, type) ? range::of_type(type.dtype) : plain_range(sum);
}

std::int64_t Algebra::divisor(const Sum& sum, Type type) const {
  const std::int64_t d = plain_divisor(sum);
  if (!may_wrap(sum, type) || d == 0) return d;
  const int bits = num::bits_of(type.dtype);
  return bits >= 62 ? range::power_in(d) : std::gcd(d, std::int64_t{1} << bits);
}

}  // namespace ww::ir
