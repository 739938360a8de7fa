// SPDX-License-Identifier: Apache-2.0
// Comparisons of sums: decided where the range of the difference allows, otherwise brought to a
// form with nothing on both sides, no common factor, and a lone number on the right.
#include <algorithm>
#include <numeric>

#include "ir/simplify/arithmetic.h"
#include "ir/simplify/bounds.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

ExprOp negated(ExprOp op) {
  switch (op) {
    case ExprOp::Lt:
      return ExprOp::Ge;
    case ExprOp::Le:
      return ExprOp::Gt;
    case ExprOp::Gt:
      return ExprOp::Le;
    case ExprOp::Ge:
      return ExprOp::Lt;
    case ExprOp::Eq:
      return ExprOp::Ne;
    default:
      return ExprOp::Eq;
  }
}

bool is_greater(ExprOp op) { return op == ExprOp::Gt || op == ExprOp::Ge; }

Sum negative(Sum sum) {
  sum.constant = -sum.constant;
  for (SumTerm& term : sum.terms) term.coef = -term.coef;
  return sum;
}

// difference op 0 without the common factor of its terms; integers round towards the same truth.
void reduce(ExprOp& op, Sum& difference) {
  std::int64_t g = 0;
  for (const SumTerm& term : difference.terms) g = std::gcd(g, term.coef);
  for (SumTerm& term : difference.terms) term.coef /= g;
  std::int64_t& c = difference.constant;
  c = op == ExprOp::Le ? -floor_div(-c, g) : floor_div(c, g);
  if (op == ExprOp::Le && c == 1) {
    op = ExprOp::Lt;
    c = 0;
  } else if (op == ExprOp::Lt && c == -1) {
    op = ExprOp::Le;
    c = 0;
  }
}

struct Sides {
  Sum left;
  Sum right;
};

// difference = left - right with positive numbers on both sides, a lone number excepted.
Sides split(const Sum& difference) {
  Sides out;
  for (const SumTerm& term : difference.terms) {
    if (term.coef > 0)
      out.left.terms.push_back(term);
    else
      out.right.terms.push_back({-term.coef, term.atom});
  }
  const bool on_left =
      out.left.terms.empty() || (!out.right.terms.empty() && difference.constant > 0);
  (on_left ? out.left : out.right).constant = on_left ? difference.constant : -difference.constant;
  return out;
}

}  // namespace

std::optional<bool> decided(const Atoms& atoms, ExprOp op, const Sum& difference) {
  const Range r = plain_range(atoms, difference);
  if (op == ExprOp::Lt || op == ExprOp::Le) {
    const std::int64_t bound = op == ExprOp::Lt ? 0 : 1;
    if (r.max < bound) return true;
    if (r.min >= bound) return false;
    return std::nullopt;
  }
  std::int64_t step = 0;
  for (const SumTerm& term : difference.terms) step = std::gcd(step, granularity(atoms, term));
  const bool never = r.min > 0 || r.max < 0 || (step != 0 && difference.constant % step != 0);
  if (never) return op == ExprOp::Ne;
  if (difference == Sum{}) return op == ExprOp::Eq;
  return std::nullopt;
}

Sum comparison(Atoms& atoms, ExprOp op, const Sum& a, const Sum& b, Type operands, bool exact) {
  const Type truth = Type::of(num::DType::Bool);
  if (a == b) return {op == ExprOp::Eq || op == ExprOp::Le || op == ExprOp::Ge ? 1 : 0, {}};
  const auto difference = plus(atoms, a, b, -1);
  if (!difference || may_wrap(atoms, a, operands) || may_wrap(atoms, b, operands))
    return single(atoms, op, truth, operands, {a, b}, exact);
  const bool greater = is_greater(op);
  ExprOp less = greater ? mirrored(op) : op;
  Sum d = greater ? negative(*difference) : *difference;
  if (const auto answer = decided(atoms, less, d)) return {*answer ? 1 : 0, {}};
  reduce(less, d);
  if (less == ExprOp::Eq || less == ExprOp::Ne) {
    // Either sign says the same: the first atom in the fixed order is positive.
    const auto first = std::min_element(
        d.terms.begin(), d.terms.end(),
        [&](const SumTerm& s, const SumTerm& t) { return compare(atoms, s.atom, t.atom) < 0; });
    if (first->coef < 0) d = negative(d);
  }
  Sides sides = split(d);
  for (Sum* side : {&sides.left, &sides.right})
    *side = promised(atoms, std::move(*side), operands, exact);
  if (may_wrap(atoms, sides.left, operands) || may_wrap(atoms, sides.right, operands))
    return single(atoms, op, truth, operands, {a, b}, exact);
  const bool turned = sides.left.is_constant() || (greater && !sides.right.is_constant());
  return turned ? single(atoms, mirrored(less), truth, operands, {sides.right, sides.left}, exact)
                : single(atoms, less, truth, operands, {sides.left, sides.right}, exact);
}

Sum inverse(Atoms& atoms, const Sum& condition) {
  if (condition.is_constant()) return {condition.constant == 0 ? 1 : 0, {}};
  const SumAtom& atom = atoms[condition.terms[0].atom];
  const Type truth = Type::of(num::DType::Bool);
  if (atom.op == ExprOp::Not) return atom.args[0];
  if (group_of(atom.op) == ExprGroup::Compare && !atom.source.valid())
    return comparison(atoms, negated(atom.op), atom.args[0], atom.args[1], atom.arg_type,
                      atom.exact);
  return single(atoms, ExprOp::Not, truth, truth, {condition});
}

}  // namespace ww::ir
