// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/sum.h"

#include <algorithm>
#include <array>
#include <bit>

#include "ir/simplify/bounds.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

// What identifies the node that an atom was read from, besides its arguments.
std::array<std::int64_t, 6> parts_of(const Expr& e) {
  return {e.integer,
          std::bit_cast<std::int64_t>(e.real),
          static_cast<std::int64_t>(e.var.index),
          static_cast<std::int64_t>(e.buffer.index),
          static_cast<std::int64_t>(e.callee),
          static_cast<std::int64_t>(e.text)};
}

std::array<int, 4> parts_of(Type type) {
  return {static_cast<int>(type.kind), static_cast<int>(type.dtype), static_cast<int>(type.lanes),
          static_cast<int>(type.opaque)};
}

std::uint64_t mixed(std::uint64_t hash, auto part) {
  return (hash ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15U;
}

int sign(const auto& a, const auto& b) { return a < b ? -1 : (b < a ? 1 : 0); }

}  // namespace

std::uint64_t hash_of(const Sum& sum) {
  std::uint64_t out = mixed(sum.terms.size() * 2 + (sum.exact ? 1 : 0), sum.constant);
  for (const SumTerm& term : sum.terms) out = mixed(mixed(out, term.coef) >> 7U, term.atom);
  return out;
}

const Expr& Atoms::source_of(const SumAtom& atom) const {
  static const Expr none;
  return atom.source.valid() ? function_[atom.source] : none;
}

std::uint32_t Atoms::hash_of(const SumAtom& atom) const {
  std::uint64_t out = mixed(atom.exact ? 1 : 0, atom.op);
  for (const int part : parts_of(atom.type)) out = mixed(out, part);
  out >>= 5U;
  for (const std::int64_t part : parts_of(source_of(atom))) out = mixed(out >> 3U, part);
  for (const Sum& arg : atom.args) out = mixed(out >> 9U, ir::hash_of(arg));
  return spread(out);
}

// `exact` of an argument belongs to what it is.
bool Atoms::same(const SumAtom& a, const SumAtom& b) const {
  if (a.op != b.op || a.exact != b.exact || a.type != b.type || a.args.size() != b.args.size())
    return false;
  for (std::size_t i = 0; i < a.args.size(); ++i)
    if (!(a.args[i] == b.args[i]) || a.args[i].exact != b.args[i].exact) return false;
  return a.source == b.source || parts_of(source_of(a)) == parts_of(source_of(b));
}

Sum Atoms::make(SumAtom atom, bool is_unique) {
  const std::uint32_t hash = is_unique ? 0 : hash_of(atom);
  if (!is_unique) {
    const AtomId known =
        numbers_.find(hash, [&](AtomId other) { return same(atoms_[other], atom); });
    if (known != HashIndex::kNone) return {0, {{1, known}}};
  }
  atom.range = range_of(*this, atom);
  atom.divisor = divisor_of(*this, atom);
  if (range::is_single(atom.range) && is_index(atom.type) && !is_unique)
    return {atom.range.min, {}};
  const auto number = static_cast<AtomId>(atoms_.size());
  atoms_.push_back(std::move(atom));
  if (!is_unique) numbers_.add(hash, number);
  return {0, {{1, number}}};
}

void Atoms::narrow(AtomId id, Range range, std::int64_t divisor) {
  SumAtom& atom = atoms_[id];
  atom.range = {std::max(atom.range.min, range.min), std::min(atom.range.max, range.max)};
  if (atom.range.min > atom.range.max) atom.range = range;
  atom.divisor = std::max(atom.divisor, divisor);
}

int compare(const Atoms& atoms, AtomId a, AtomId b) {
  if (a == b) return 0;
  const SumAtom& x = atoms[a];
  const SumAtom& y = atoms[b];
  // Compound atoms stand before variables: `i//4 + j`.
  if (const int s = sign(x.op == ExprOp::Var, y.op == ExprOp::Var)) return s;
  if (const int s = sign(x.op, y.op)) return s;
  if (const int s = sign(x.args.size(), y.args.size())) return s;
  for (std::size_t i = 0; i < x.args.size(); ++i)
    if (const int s = compare(atoms, x.args[i], y.args[i])) return s;
  if (const int s = sign(parts_of(x.type), parts_of(y.type))) return s;
  const auto source = [&](const SumAtom& atom) {
    return parts_of(atom.source.valid() ? atoms.function()[atom.source] : Expr{});
  };
  if (const int s = sign(source(x), source(y))) return s;
  if (const int s = sign(x.exact, y.exact)) return s;
  return sign(a, b);  // unique atoms only
}

// Terms lie by number, which depends on what was read before; the order here must not.
int compare(const Atoms& atoms, const Sum& a, const Sum& b) {
  if (a == b) return 0;
  if (const int s = sign(a.terms.size(), b.terms.size())) return s;
  const auto ordered = [&](const Sum& sum) {
    SmallVec<SumTerm, 3> terms = sum.terms;
    std::sort(terms.begin(), terms.end(), [&](const SumTerm& s, const SumTerm& t) {
      return compare(atoms, s.atom, t.atom) < 0;
    });
    return terms;
  };
  const SmallVec<SumTerm, 3> left = ordered(a);
  const SmallVec<SumTerm, 3> right = ordered(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (const int s = compare(atoms, left[i].atom, right[i].atom)) return s;
    if (const int s = sign(left[i].coef, right[i].coef)) return s;
  }
  return sign(a.constant, b.constant);
}

}  // namespace ww::ir
