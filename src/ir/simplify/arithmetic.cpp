// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/arithmetic.h"

#include "ir/simplify/bounds.h"
#include "ir/simplify/fold.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

bool is_unsigned(Type type) { return num::kind_of(type.dtype) == num::DTypeKind::Uint; }

// The number modulo 2^bits that the type holds; of an unsigned type with its sign, because a
// difference has one.
std::int64_t reduced(std::int64_t number, Type type) {
  const int bits = num::bits_of(type.dtype);
  if (bits >= 63) return number;
  return is_unsigned(type) ? number % (std::int64_t{1} << bits) : wrap(type.dtype, number);
}

// a + factor·b, common terms collected; nothing when a number leaves 64 bits.
std::optional<Sum> raw_plus(const Sum& a, const Sum& b, std::int64_t factor) {
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

std::optional<Sum> complement_of(Atoms& atoms, const SumAtom& atom) {
  if (!atom.args[1].is_constant()) return std::nullopt;
  const std::int64_t k = atom.args[1].constant;
  if (k < 1 || may_wrap(atoms, atom.args[0], atom.type)) return std::nullopt;
  return atom.op == ExprOp::FloorMod ? floor_quotient(atoms, atom.args[0], k, atom.type)
                                     : floor_remainder(atoms, atom.args[0], k, atom.type);
}

bool has_common_atom(const Sum& a, const Sum& b) {
  for (const SumTerm& term : a.terms)
    for (const SumTerm& other : b.terms)
      if (term.atom == other.atom) return true;
  return false;
}

std::optional<Sum> join_at(Atoms& atoms, const Sum& sum, const SumTerm& term) {
  const SumAtom& atom = atoms[term.atom];
  const bool is_mod = atom.op == ExprOp::FloorMod;
  if ((!is_mod && atom.op != ExprOp::FloorDiv) || sum.terms.size() < 2) return std::nullopt;
  const std::int64_t k = atom.args[1].constant;
  if (!is_mod && (!atom.args[1].is_constant() || k < 1 || term.coef % k != 0)) return std::nullopt;
  const std::optional<Sum>& other = atoms.complement(
      term.atom, [&](const SumAtom& found) { return complement_of(atoms, found); });
  const Sum& x = atom.args[0];
  if (!other) return std::nullopt;
  // Where no two have an atom in common, one term goes and at least one comes.
  if (!has_common_atom(sum, x) && !has_common_atom(sum, *other) && !has_common_atom(x, *other))
    return std::nullopt;
  // c·(x%k) = c·x - c·k·(x//k), and -c·k·(x//k) = c·(x%k) - c·x.
  const std::int64_t c = is_mod ? term.coef : -(term.coef / k);
  const auto other_coef = is_mod ? checked_mul(-c, k) : std::optional(c);
  if (!other_coef) return std::nullopt;
  auto out = raw_plus(sum, Sum{0, {{1, term.atom}}}, -term.coef);
  if (out) out = raw_plus(*out, x, is_mod ? c : -c);
  if (out) out = raw_plus(*out, *other, *other_coef);
  if (!out || out->terms.size() >= sum.terms.size()) return std::nullopt;
  out->exact = sum.exact;
  return out;
}

// x%k + k·(x//k) is x, and x - k·(x//k) is x%k: where either leaves fewer terms, it is taken.
Sum joined(Atoms& atoms, Sum sum) {
  for (bool again = sum.terms.size() > 1; again;) {
    again = false;
    for (const SumTerm& term : sum.terms) {
      auto shorter = join_at(atoms, sum, term);
      if (!shorter) continue;
      sum = *std::move(shorter);
      again = true;
      break;
    }
  }
  return sum;
}

}  // namespace

Sum single(Atoms& atoms, ExprOp op, Type type, Type arg_type, std::vector<Sum> args, bool exact) {
  return atoms.make(
      {.op = op, .type = type, .arg_type = arg_type, .args = std::move(args), .exact = exact});
}

std::optional<Sum> scaled(const Sum& a, std::int64_t factor) { return raw_plus({}, a, factor); }

std::optional<Sum> plus(Atoms& atoms, const Sum& a, const Sum& b, std::int64_t factor) {
  auto sum = raw_plus(a, b, factor);
  if (!sum) return std::nullopt;
  return joined(atoms, *std::move(sum));
}

Sum promised(const Atoms& atoms, Sum sum, Type type, bool exact) {
  sum.exact = false;
  sum.exact = exact && !is_unsigned(type) && may_wrap(atoms, sum, type);
  return sum;
}

Sum settled(const Atoms& atoms, Sum sum, Type type, bool exact) {
  sum.exact = false;
  if (!may_wrap(atoms, sum, type)) return sum;
  sum.exact = exact && !is_unsigned(type);
  if (sum.exact) return sum;
  sum.constant = reduced(sum.constant, type);
  SmallVec<SumTerm, 3> terms;
  for (const SumTerm& term : sum.terms)
    if (const std::int64_t coef = reduced(term.coef, type); coef != 0)
      terms.push_back({coef, term.atom});
  sum.terms = std::move(terms);
  return sum;
}

std::optional<Sum> product(Atoms& atoms, const Sum& a, const Sum& b, Type type, bool exact) {
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
  if (compare(atoms, right, left) < 0) std::swap(left, right);
  return scaled(single(atoms, ExprOp::Mul, type, type, {left, right}, exact && !is_unsigned(type)),
                *numbers);
}

}  // namespace ww::ir
