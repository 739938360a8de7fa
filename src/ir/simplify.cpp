// SPDX-License-Identifier: Apache-2.0
// An expression is read as a sum (simplify_algebra.h) and written back. Reading decides and cancels
// all it can; what is written back counts only when it is no longer than what was there.
#include "ir/simplify.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "ir/simplify_algebra.h"
#include "ir/simplify_range.h"
#include "ir/simplify_rebuild.h"

namespace ww::ir {
namespace {

// Each round leaves an expression no longer; where two forms of one length would alternate, the
// last one stands.
constexpr int kRounds = 8;

class Simplifier {
 public:
  Simplifier(Function& function, const Facts& facts) : f_(function), facts_(facts) {}

  ExprId best(ExprId expr) {
    if (const auto found = done_.find(expr.index); found != done_.end()) return found->second;
    ExprId out = expr;
    for (int round = 0; round < kRounds; ++round) {
      const ExprId next = once(out);
      if (same(next, out)) break;
      out = next;
    }
    done_.emplace(expr.index, out);
    return out;
  }

 private:
  using Size = std::uint64_t;

  ExprId once(ExprId expr) {
    std::optional<ExprId> found;
    if (!has_effect(f_, expr, effects_)) {
      for (const bool inlined : {false, true}) {
        const auto next = rewritten(expr, inlined);
        if (next && size(*next) <= size(expr) && (!found || size(*next) < size(*found)))
          found = next;
      }
    }
    return found ? *found : by_parts(expr);
  }

  std::optional<ExprId> rewritten(ExprId expr, bool inlined) {
    Algebra algebra(f_, facts_, inlined);
    const Sum sum = algebra.read(expr);
    const Type type = f_[expr].type;
    return Rebuild(f_, algebra).expr(sum, type);
  }

  // The node as it is with simpler arguments.
  ExprId by_parts(ExprId expr) {
    Expr e = f_[expr];
    bool is_same = true;
    for (ExprId& arg : e.args) {
      const ExprId simpler = best(arg);
      is_same = is_same && simpler == arg;
      arg = simpler;
    }
    return is_same ? expr : f_.add(std::move(e));
  }

  // The number of nodes when written out; a shared node counts as often as it is used.
  Size size(ExprId expr) {
    if (const auto found = sizes_.find(expr.index); found != sizes_.end()) return found->second;
    constexpr Size kMost = std::numeric_limits<Size>::max() / 8;
    Size out = 1;
    for (const ExprId arg : f_[expr].args) out = std::min(kMost, out + size(arg));
    sizes_.emplace(expr.index, out);
    return out;
  }

  // The same nodes throughout? Pairs that were found equal are not compared again.
  bool same(ExprId a, ExprId b) {
    if (a == b || equal_.contains({a, b})) return true;
    const Expr& x = f_[a];
    const Expr& y = f_[b];
    if (x.op != y.op || x.type != y.type || x.integer != y.integer || x.real != y.real ||
        x.var != y.var || x.buffer != y.buffer || x.callee != y.callee || x.text != y.text ||
        x.args.size() != y.args.size() || size(a) != size(b))
      return false;
    for (std::size_t i = 0; i < x.args.size(); ++i)
      if (!same(x.args[i], y.args[i])) return false;
    equal_.insert({a, b});
    return true;
  }

  Function& f_;
  const Facts& facts_;
  std::map<std::uint32_t, ExprId> done_;
  std::map<std::uint32_t, Size> sizes_;
  std::map<std::uint32_t, bool> effects_;
  std::set<std::pair<ExprId, ExprId>> equal_;
};

}  // namespace

Range range_of(const Function& function, ExprId expr, const Facts& facts) {
  const Type type = function[expr].type;
  if (!is_index(type)) return range::kAll;
  Algebra algebra(function, facts, true);
  const Sum sum = algebra.read(expr);
  const Range inlined = algebra.range(sum, type);
  // A name may be known better than what it stands for.
  Algebra by_name(function, facts, false);
  const Range named = by_name.range(by_name.read(expr), type);
  const Range both{std::max(inlined.min, named.min), std::min(inlined.max, named.max)};
  return both.min <= both.max ? both : inlined;
}

std::int64_t divisor_of(const Function& function, ExprId expr, const Facts& facts) {
  const Type type = function[expr].type;
  if (!is_index(type)) return 1;
  Algebra algebra(function, facts, true);
  const std::int64_t inlined = algebra.divisor(algebra.read(expr), type);
  Algebra by_name(function, facts, false);
  const std::int64_t named = by_name.divisor(by_name.read(expr), type);
  return inlined == 0 || named == 0 ? 0 : std::max(inlined, named);
}

ExprId simplify(Function& function, ExprId expr, const Facts& facts) {
  return Simplifier(function, facts).best(expr);
}

std::optional<bool> decide(const Function& function, ExprId condition, const Facts& facts) {
  if (!is_index(function[condition].type)) return std::nullopt;
  for (const bool inlined : {true, false}) {
    Algebra algebra(function, facts, inlined);
    const Sum sum = algebra.read(condition);
    if (sum.is_constant()) return sum.constant != 0;
    const Range r = algebra.range(sum, function[condition].type);
    if (r.min > 0 || r.max < 0) return true;
  }
  return std::nullopt;
}

}  // namespace ww::ir
