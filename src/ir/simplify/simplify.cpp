// SPDX-License-Identifier: Apache-2.0
// An expression is read as a sum (sum.h) and written back. Reading decides and cancels
// all it can; what is written back counts only when it is no longer than what was there.
#include "ir/simplify/simplify.h"

#include <algorithm>
#include <set>

#include "ir/simplify/bounds.h"
#include "ir/simplify/range.h"
#include "ir/simplify/read.h"
#include "ir/simplify/rebuild.h"

namespace ww::ir {
namespace {

// Each round leaves an expression no longer; where two forms of one length would alternate, the
// last one stands.
constexpr int kRounds = 8;

}  // namespace

class SimplifierState {
 public:
  SimplifierState(Function& function, const Facts& facts)
      : f_(function), named_(function, facts, false), inlined_(function, facts, true) {}

  ExprId best(ExprId expr) {
    if (f_[expr].op == ExprOp::IntImm) return expr;
    if (const ExprId* const found = done_.find(expr.index)) return *found;
    ExprId out = expr;
    for (int round = 0; round < kRounds; ++round) {
      const ExprId next = once(out);
      if (same(next, out)) break;
      out = next;
    }
    if (done_.find(expr.index) == nullptr) done_.add(expr.index, out);
    return out;
  }

 private:
  static constexpr std::uint32_t kFewNodes = 32;  // that are compared again without ado

  ExprId once(ExprId expr) {
    std::optional<ExprId> found;
    if (!f_[expr].has_effect) {
      const Type type = f_[expr].type;
      for (Form* form : {&named_, &inlined_}) {
        const auto next = form->writer.expr(form->reader.read(expr), type);
        if (next && size(*next) <= size(expr) && (!found || size(*next) < size(*found)))
          found = next;
        if (!form->reader.has_names()) break;  // nothing to inline
      }
    }
    return found ? *found : by_parts(expr);
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

  [[nodiscard]] std::uint32_t size(ExprId expr) const { return f_[expr].nodes; }

  // The same nodes throughout? Pairs that were found equal are not compared again.
  bool same(ExprId a, ExprId b) {
    if (a == b) return true;
    const Expr& x = f_[a];
    const Expr& y = f_[b];
    if (x.op != y.op || x.type != y.type || x.integer != y.integer || x.real != y.real ||
        x.var != y.var || x.buffer != y.buffer || x.callee != y.callee || x.text != y.text ||
        x.args.size() != y.args.size() || size(a) != size(b))
      return false;
    if (size(a) > kFewNodes && equal_.contains({a, b})) return true;
    for (std::size_t i = 0; i < x.args.size(); ++i)
      if (!same(x.args[i], y.args[i])) return false;
    if (size(a) > kFewNodes) equal_.insert({a, b});
    return true;
  }

  // Both know what they have met: parts of an expression are not read or written again.
  struct Form {
    Form(Function& function, const Facts& facts, bool inlined)
        : reader(function, facts, inlined), writer(function, reader.atoms()) {}
    SumReader reader;
    Rebuild writer;
  };

  Function& f_;
  Form named_;
  Form inlined_;
  IdMap<ExprId> done_;
  std::set<std::pair<ExprId, ExprId>> equal_;
};

Ranges::Ranges(const Function& function, const Facts& facts)
    : f_(function),
      inlined_(std::make_unique<SumReader>(function, facts, true)),
      named_(std::make_unique<SumReader>(function, facts, false)) {}
Ranges::~Ranges() = default;

Range Ranges::range(ExprId expr) const {
  const Type type = f_[expr].type;
  if (!is_index(type)) return range::kAll;
  const Range inlined = range_of(inlined_->atoms(), inlined_->read(expr), type);
  if (!inlined_->has_names()) return inlined;
  const Range named = range_of(named_->atoms(), named_->read(expr), type);
  const Range both{std::max(inlined.min, named.min), std::min(inlined.max, named.max)};
  return both.min <= both.max ? both : inlined;
}

std::int64_t Ranges::divisor(ExprId expr) const {
  const Type type = f_[expr].type;
  if (!is_index(type)) return 1;
  const std::int64_t inlined = divisor_of(inlined_->atoms(), inlined_->read(expr), type);
  if (!inlined_->has_names()) return inlined;
  const std::int64_t named = divisor_of(named_->atoms(), named_->read(expr), type);
  return inlined == 0 || named == 0 ? 0 : std::max(inlined, named);
}

bool Ranges::stays_in_type(ExprId expr) const {
  const Expr& e = f_[expr];
  const auto arg = [&](std::size_t i) { return range(e.args[i]); };
  const auto fits = [&](Range r) { return range::within(r, range::of_type(e.type.dtype)); };
  if (!e.type.is_int()) return true;
  switch (e.op) {
    case ExprOp::Add:
      return fits(range::add(arg(0), arg(1)));
    case ExprOp::Sub:
      return fits(range::add(arg(0), range::scale(arg(1), -1)));
    case ExprOp::Mul:
      return fits(range::multiply(arg(0), arg(1)));
    case ExprOp::Neg:
      return fits(range::scale(arg(0), -1));
    case ExprOp::Shl: {
      const Range by = arg(1);
      if (by.min < 0 || by.max >= num::bits_of(e.type.dtype) || by.max > 61) return false;
      return fits(range::multiply(arg(0), {std::int64_t{1} << by.min, std::int64_t{1} << by.max}));
    }
    case ExprOp::Cast:
      return fits(arg(0));
    default:
      return true;
  }
}

Range range_of(const Function& function, ExprId expr, const Facts& facts) {
  return Ranges(function, facts).range(expr);
}

std::int64_t divisor_of(const Function& function, ExprId expr, const Facts& facts) {
  return Ranges(function, facts).divisor(expr);
}

ExprId simplify(Function& function, ExprId expr, const Facts& facts) {
  return SimplifierState(function, facts).best(expr);
}

Simplifier::Simplifier(Function& function, const Facts& facts)
    : state_(std::make_unique<SimplifierState>(function, facts)) {}
Simplifier::~Simplifier() = default;

ExprId Simplifier::simplify(ExprId expr) { return state_->best(expr); }

std::optional<bool> decide(const Function& function, ExprId condition, const Facts& facts) {
  if (!is_index(function[condition].type)) return std::nullopt;
  for (const bool inlined : {true, false}) {
    SumReader reader(function, facts, inlined);
    const Sum sum = reader.read(condition);
    if (sum.is_constant()) return sum.constant != 0;
    const Range r = range_of(reader.atoms(), sum, function[condition].type);
    if (r.min > 0 || r.max < 0) return true;
    if (!reader.has_names()) break;
  }
  return std::nullopt;
}

}  // namespace ww::ir
