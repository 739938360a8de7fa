// SPDX-License-Identifier: Apache-2.0
#include "lower/plain_sum.h"

#include <algorithm>
#include <optional>

#include "base/wide.h"
#include "ir/build.h"
#include "ir/simplify/fold.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::ExprOp;

/// factor · name, factor · (name // k) or factor · (name % k).
struct Term {
  std::int64_t factor = 0;
  ExprId expr = {};
  ir::VarId var = {};
};

/// Reads a sum; gives up on everything that is not plain.
class PlainSum {
 public:
  PlainSum(const ir::Function& f, const ir::Facts& facts) : f_(f), facts_(facts) {}

  bool read(ExprId id, std::int64_t factor) {
    const ir::Expr& e = f_[id];
    switch (e.op) {
      case ExprOp::IntImm:
        return add_constant(checked_mul(e.integer, factor));
      case ExprOp::Var:
        return add_term({factor, id, e.var});
      case ExprOp::FloorDiv:
      case ExprOp::FloorMod:
        return f_[e.args[0]].op == ExprOp::Var && add_term({factor, id, f_[e.args[0]].var});
      case ExprOp::Add:
        is_index_ = is_index_ && e.no_wrap;
        return read(e.args[0], factor) && read(e.args[1], factor);
      case ExprOp::Mul: {
        is_index_ = is_index_ && e.no_wrap;
        const bool is_left = f_[e.args[0]].op == ExprOp::IntImm;
        const auto by = ir::const_int(f_, e.args[is_left ? 0 : 1]);
        const auto both = by ? checked_mul(*by, factor) : std::nullopt;
        return both && *both > 0 && read(e.args[is_left ? 1 : 0], *both);
      }
      default:
        return false;
    }
  }

  // Nothing below zero, no two terms that could be one, no number that wraps.
  bool is_plain(num::DType dtype) {
    std::ranges::sort(terms_, [](const Term& a, const Term& b) { return a.factor > b.factor; });
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (i > 0 && terms_[i].factor == terms_[i - 1].factor) return false;
      if (!is_plain(terms_[i]) || !ir::fits(dtype, terms_[i].factor, num::DType::Int64))
        return false;
    }
    return constant_ >= 0 && ir::fits(dtype, constant_, num::DType::Int64) && !terms_.empty();
  }

  [[nodiscard]] ExprId rebuilt(ir::Function& f, num::DType dtype) const {
    ExprId out;
    const auto op = [&](ExprOp kind, ExprId a, ExprId b) {
      return ir::binary_like(f, {.op = kind, .no_wrap = is_index_}, a, b).value();
    };
    for (const Term& term : terms_) {
      const ExprId part = term.factor == 1
                              ? term.expr
                              : op(ExprOp::Mul, term.expr, ir::int_imm(f, dtype, term.factor));
      out = out.valid() ? op(ExprOp::Add, out, part) : part;
    }
    return constant_ == 0 ? out : op(ExprOp::Add, out, ir::int_imm(f, dtype, constant_));
  }

 private:
  bool add_constant(std::optional<std::int64_t> amount) {
    const auto sum = amount ? checked_add(constant_, *amount) : std::nullopt;
    if (sum) constant_ = *sum;
    return sum.has_value();
  }

  bool add_term(Term term) {
    for (const Term& other : terms_)
      if (other.var == term.var && f_[other.expr].op == f_[term.expr].op) return false;
    terms_.push_back(term);
    return true;
  }

  // A name of one value is that value, and a name for a sum may cancel with another.
  [[nodiscard]] bool is_plain(const Term& term) const {
    const auto range = facts_.range(term.var);
    if (range && range->min == range->max) return false;
    const ExprId value = facts_.value(term.var);
    const bool is_own = !value.valid() || f_[value].op == ExprOp::Var;
    if (f_[term.expr].op == ExprOp::Var) return is_own || is_plain_part(value, term.factor);
    const auto by = ir::const_int(f_, f_[term.expr].args[1]);
    return is_own && by && range && range->min >= 0 && range->max >= *by &&
           is_plain_part(term.expr, term.factor);
  }
  // A quotient by k joins with a remainder: x // 4 * 8 + x % 4 * 2 is x * 2.
  [[nodiscard]] bool is_plain_part(ExprId part, std::int64_t factor) const {
    const ir::Expr& e = f_[part];
    if (e.op != ExprOp::FloorDiv && e.op != ExprOp::FloorMod) return false;
    const auto by = ir::const_int(f_, e.args[1]);
    if (!by || *by < 1 || e.op == ExprOp::FloorMod) return by && *by >= 1;
    return std::ranges::none_of(terms_, [&](const Term& other) {
      return factor == checked_mul(other.factor, *by).value_or(factor);
    });
  }

  const ir::Function& f_;
  const ir::Facts& facts_;
  SmallVec<Term, 6> terms_;
  std::int64_t constant_ = 0;
  bool is_index_ = true;  // all that was read is index arithmetic
};

bool is_index(ir::Type type) {
  return type == ir::Type::of(num::DType::Int32) || type == ir::Type::of(num::DType::Int64);
}

}  // namespace

ExprId simpler(ir::Function& function, ExprId expr, const ir::Facts& facts) {
  const ExprOp op = function[expr].op;
  if (op == ExprOp::IntImm || op == ExprOp::Load) return expr;
  if (is_index(function[expr].type)) {
    PlainSum sum(function, facts);
    if (const num::DType dtype = function[expr].type.dtype;
        sum.read(expr, 1) && sum.is_plain(dtype))
      return sum.rebuilt(function, dtype);
  }
  return ir::simplify(function, expr, facts);
}

}  // namespace ww::lower
