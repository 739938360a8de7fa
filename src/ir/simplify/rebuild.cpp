// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/rebuild.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/simplify/range.h"

namespace ww::ir {

std::optional<ExprId> Rebuild::number(std::int64_t value, Type type) {
  const Range all = range::of_type(type.dtype);
  if (value < all.min || value > all.max) return std::nullopt;
  return int_imm(f_, type.dtype, value);
}

std::optional<ExprId> Rebuild::apply(ExprOp op, std::optional<ExprId> a, std::optional<ExprId> b,
                                     bool exact) {
  if (!a || !b) return std::nullopt;
  auto made = binary(f_, op, {*a, false}, {*b, false});
  if (!made) return std::nullopt;
  if (exact && f_[*made].op == op) f_.set_no_wrap(*made);
  return *made;
}

std::vector<Rebuild::Group> Rebuild::groups(const Sum& sum) const {
  SmallVec<SumTerm, 3> terms = sum.terms;
  const auto size = [](const SumTerm& term) { return term.coef < 0 ? -term.coef : term.coef; };
  std::sort(terms.begin(), terms.end(), [&](const SumTerm& s, const SumTerm& t) {
    return size(s) != size(t) ? size(s) > size(t) : compare(atoms_, s.atom, t.atom) < 0;
  });
  std::vector<Group> out;
  for (const SumTerm& term : terms) {
    if (out.empty() || out.back().coef != size(term)) out.push_back({size(term), {}, {}});
    (term.coef > 0 ? out.back().added : out.back().subtracted).push_back(term.atom);
  }
  std::stable_partition(out.begin(), out.end(), [](const Group& g) { return !g.added.empty(); });
  return out;
}

// a + b - c - d; at least one is added.
std::optional<ExprId> Rebuild::chain(const std::vector<AtomId>& added,
                                     const std::vector<AtomId>& subtracted, bool exact) {
  std::optional<ExprId> out = atom(added.front());
  for (std::size_t i = 1; i < added.size(); ++i)
    out = apply(ExprOp::Add, out, atom(added[i]), exact);
  for (const AtomId id : subtracted) out = apply(ExprOp::Sub, out, atom(id), exact);
  return out;
}

// `-x`, `x*-4`: the beginning of a sum to which nothing is added.
std::optional<ExprId> Rebuild::negated(const Group& group, Type type, bool exact) {
  if (range::of_type(type.dtype).min == 0) return std::nullopt;
  const auto all = chain(group.subtracted, {}, exact);
  if (!all) return std::nullopt;
  if (group.coef != 1) return apply(ExprOp::Mul, all, number(-group.coef, type), exact);
  auto minus = unary(f_, ExprOp::Neg, {*all, false});
  if (!minus) return std::nullopt;
  f_.set_no_wrap(*minus, exact);
  return *minus;
}

std::optional<ExprId> Rebuild::expr(const Sum& sum, Type type) {
  if (sum.is_atom()) return atom(sum.terms[0].atom);
  const std::uint32_t hash = spread(hash_of(sum) ^ static_cast<std::uint64_t>(type.dtype));
  const std::uint32_t known = numbers_.find(hash, [&](std::uint32_t i) {
    const Written& other = written_[i];
    return other.sum == sum && other.sum.exact == sum.exact && other.type == type;
  });
  if (known != HashIndex::kNone) return written_[known].expr;
  const auto made = written(sum, type);
  numbers_.add(hash, static_cast<std::uint32_t>(written_.size()));
  written_.push_back({sum, type, made});
  return made;
}

std::optional<ExprId> Rebuild::written(const Sum& sum, Type type) {
  if (sum.is_constant()) return number(sum.constant, type);
  const bool exact = sum.exact;
  std::optional<ExprId> out;
  bool has_constant = sum.constant != 0;
  bool is_first = true;
  std::vector<AtomId> late;  // single subtracted atoms stand behind all that is added
  for (const Group& group : groups(sum)) {
    const bool adds = !group.added.empty();
    if (is_first && !adds) {
      // Nothing positive: `3 - x`, `-x`, `x*-4`.
      if (sum.constant > 0) {
        out = number(sum.constant, type);
        has_constant = false;
      } else {
        out = negated(group, type, exact);
        if (!out) return std::nullopt;
        is_first = false;
        continue;
      }
    }
    if (group.coef == 1) {
      for (const AtomId id : group.added) {
        out = is_first ? atom(id) : apply(ExprOp::Add, out, atom(id), exact);
        is_first = false;
      }
      late = group.subtracted;
      if (!adds) is_first = false;
      continue;
    }
    auto inner =
        adds ? chain(group.added, group.subtracted, exact) : chain(group.subtracted, {}, exact);
    inner = apply(ExprOp::Mul, inner, number(group.coef, type), exact);
    out = is_first && adds ? inner : apply(adds ? ExprOp::Add : ExprOp::Sub, out, inner, exact);
    is_first = false;
  }
  for (const AtomId id : late) out = apply(ExprOp::Sub, out, atom(id), exact);
  if (!has_constant) return out;
  const bool adds = sum.constant > 0;
  return apply(adds ? ExprOp::Add : ExprOp::Sub, out,
               number(adds ? sum.constant : -sum.constant, type), exact);
}

std::optional<ExprId> Rebuild::atom(AtomId id) {
  if (const auto* const found = made_.find(id)) return *found;
  const SumAtom& a = atoms_[id];
  std::optional<ExprId> out;
  if (a.source.valid()) {
    out = copied(a);
  } else if (a.op == ExprOp::Cast) {
    if (const auto inner = expr(a.args[0], a.arg_type)) {
      auto made = cast(f_, *inner, a.type);
      if (made) out = *made;
    }
  } else if (a.op == ExprOp::Not) {
    if (const auto inner = expr(a.args[0], a.arg_type)) {
      auto made = unary(f_, ExprOp::Not, {*inner, false});
      if (made) out = *made;
    }
  } else {
    out = apply(a.op, expr(a.args[0], a.arg_type), expr(a.args[1], a.arg_type), a.exact);
  }
  made_.add(id, out);
  return out;
}

// The node it was read from, with new arguments.
std::optional<ExprId> Rebuild::copied(const SumAtom& a) {
  if (f_[a.source].args.empty()) return a.source;
  Expr e = f_[a.source];
  bool is_same = true;
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    const auto arg = expr(a.args[i], f_[e.args[i]].type);
    if (!arg) return std::nullopt;
    is_same = is_same && *arg == e.args[i];
    e.args[i] = *arg;
  }
  return is_same ? a.source : f_.add(std::move(e));
}

}  // namespace ww::ir
