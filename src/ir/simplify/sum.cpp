// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/sum.h"

#include <algorithm>
#include <bit>

#include "ir/simplify/bounds.h"
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

}  // namespace

Sum Atoms::make(SumAtom atom, bool is_unique) {
  atom.range = range_of(*this, atom);
  atom.divisor = divisor_of(*this, atom);
  if (range::is_single(atom.range) && is_index(atom.type) && !is_unique)
    return {atom.range.min, {}};
  std::vector<std::int64_t> key;
  key.reserve(24);
  key.push_back(static_cast<std::int64_t>(atom.op));
  key.push_back(is_unique ? ++unique_ : 0);
  key.push_back(atom.exact ? 1 : 0);
  append(key, atom.type);
  append(key, atom.source.valid() ? function_[atom.source] : Expr{});
  for (const Sum& arg : atom.args) append(key, arg);
  const auto [place, is_new] =
      numbers_.try_emplace(std::move(key), static_cast<AtomId>(atoms_.size()));
  if (is_new) atoms_.push_back(std::move(atom));
  return {0, {{1, place->second}}};
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
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> right;
  append(left, x.type);
  append(right, y.type);
  append(left, x.source.valid() ? atoms.function()[x.source] : Expr{});
  append(right, y.source.valid() ? atoms.function()[y.source] : Expr{});
  if (const int s = sign(left, right)) return s;
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
