// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/read.h"

#include <algorithm>

#include "ir/simplify/arithmetic.h"
#include "ir/simplify/bounds.h"
#include "ir/simplify/fold.h"
#include "ir/simplify/range.h"

namespace ww::ir {
namespace {

// Beyond this depth of variables that stand for expressions, and this many operations inside each
// other on the way there, a variable stands for itself.
constexpr int kDeepest = 64;
constexpr int kMaxLevels = 256;

// k when value is 2^k - 1 with k ≥ 1, as its power.
std::optional<std::int64_t> power_of_mask(const Sum& sum) {
  if (!sum.is_constant() || sum.constant < 1 || sum.constant >= range::kFar - 1)
    return std::nullopt;
  const std::int64_t power = sum.constant + 1;
  return (power & sum.constant) == 0 ? std::optional(power) : std::nullopt;
}

}  // namespace

const Sum& SumReader::read(ExprId expr) {
  if (const std::uint32_t* const found = known_.find(expr.index)) return sums_[*found];
  ++level_;
  Sum made = read_new(f_[expr], expr);
  --level_;
  // A call with an effect happens as often as it is written: each reading of it is another value.
  if (!f_[expr].has_effect) known_.add(expr.index, static_cast<std::uint32_t>(sums_.size()));
  return sums_.push_back(std::move(made));
}

Sum SumReader::read_new(const Expr& e, ExprId id) {
  const bool is_choice = e.op == ExprOp::Select || e.op == ExprOp::IfThenElse;
  if (is_choice) return read_choice(e, id);
  if (!is_index(e.type)) return as_it_is(e, id);
  switch (group_of(e.op)) {
    case ExprGroup::Compare: {
      const Type type = f_[e.args[0]].type;
      if (!is_index(type) || type.is_bool()) return as_it_is(e, id);
      const Sum& a = read(e.args[0]);
      return comparison(atoms_, e.op, a, read(e.args[1]), type, e.no_wrap);
    }
    case ExprGroup::Logic:
      return read_logic(e, id);
    default:
      break;
  }
  if (e.op == ExprOp::Not) return inverse(atoms_, read(e.args[0]));
  if (e.op == ExprOp::Cast) return read_cast(e, id);
  if (e.op == ExprOp::Var) return read_var(e, id);
  if (e.op == ExprOp::IntImm) {
    const bool is_bits = e.type.dtype == num::DType::Uint64 && e.integer < 0;
    return is_bits || range::is_far(e.integer) ? as_it_is(e, id) : Sum{e.integer, {}};
  }
  return e.type.is_bool() ? as_it_is(e, id) : read_integer(e, id);
}

// The node with its arguments read, and nothing known about what it does with them.
Sum SumReader::as_it_is(const Expr& e, ExprId id) {
  SumAtom atom{.op = e.op, .type = e.type, .args = {}, .source = id};
  atom.args.reserve(e.args.size());
  for (const ExprId arg : e.args) atom.args.push_back(read(arg));
  const bool is_unique = e.op == ExprOp::Call && e.has_effect;
  return atoms_.make(std::move(atom), is_unique);
}

Sum SumReader::read_var(const Expr& e, ExprId id) {
  const ExprId value = atoms_.facts().value(e.var);
  const auto itself = [&] {
    return atoms_.make({.op = e.op, .type = e.type, .args = {}, .source = id});
  };
  const bool is_deep = depth_ >= kDeepest || level_ >= kMaxLevels;
  if (!value.valid() || is_deep || f_[value].type != e.type) return itself();
  has_names_ = true;
  ++depth_;
  const Sum& sum = read(value);
  --depth_;
  if (inlined_ || sum.is_constant()) return sum;
  // The name stays, with all that its value tells about it.
  Sum out = itself();
  if (out.is_constant()) return out;
  atoms_.narrow(out.terms[0].atom, range_of(atoms_, sum, e.type), divisor_of(atoms_, sum, e.type));
  return out;
}

Sum SumReader::read_integer(const Expr& e, ExprId id) {
  std::optional<Sum> out;
  bool exact = e.no_wrap;
  // Sums of what is only congruent to its value are no more than that.
  const auto operand = [&](std::size_t i) -> const Sum& {
    const Sum& sum = read(e.args[i]);
    exact = exact && !may_wrap(atoms_, sum, e.type);
    return sum;
  };
  switch (e.op) {
    case ExprOp::Add:
    case ExprOp::Sub: {
      const Sum& a = operand(0);
      out = plus(atoms_, a, operand(1), e.op == ExprOp::Add ? 1 : -1);
      break;
    }
    case ExprOp::Neg:
      out = scaled(operand(0), -1);
      break;
    case ExprOp::Mul: {
      const Sum& a = operand(0);
      const Sum& b = operand(1);
      out = product(atoms_, a, b, e.type, exact);
      break;
    }
    case ExprOp::Shl: {
      const Sum& a = operand(0);
      const Sum& by = read(e.args[1]);
      if (by.is_constant() && by.constant >= 0 && by.constant <= 30)
        out = scaled(a, std::int64_t{1} << by.constant);
      break;
    }
    case ExprOp::FloorDiv:
    case ExprOp::FloorMod:
    case ExprOp::TruncDiv:
    case ExprOp::TruncMod:
      return read_division(e, id);
    case ExprOp::Min:
    case ExprOp::Max:
      if (std::optional<Sum> known = read_min_max(e)) return *std::move(known);
      break;
    case ExprOp::Call: {
      if (e.callee != Intrinsic::Abs) break;
      const Sum& a = read(e.args[0]);
      if (range_of(atoms_, a, e.type).min >= 0) return a;
      if (range_of(atoms_, a, e.type).max <= 0) out = scaled(a, -1);
      break;
    }
    default:
      return read_bits(e, id);
  }
  return out ? settled(atoms_, *std::move(out), e.type, exact) : as_it_is(e, id);
}

// Where one of the two is always the lesser.
std::optional<Sum> SumReader::read_min_max(const Expr& e) {
  const Sum& a = read(e.args[0]);
  const Sum& b = read(e.args[1]);
  const auto difference = plus(atoms_, a, b, -1);
  if (!difference || may_wrap(atoms_, a, e.type) || may_wrap(atoms_, b, e.type))
    return std::nullopt;
  const bool wants_less = e.op == ExprOp::Min;
  if (const auto first_is_less = decided(atoms_, ExprOp::Le, *difference))
    return *first_is_less == wants_less ? a : b;
  if (decided(atoms_, ExprOp::Lt, *difference) == std::optional(false)) return wants_less ? b : a;
  return std::nullopt;
}

Sum SumReader::read_division(const Expr& e, ExprId id) {
  const Sum& x = read(e.args[0]);
  const Sum& y = read(e.args[1]);
  const bool is_div = e.op == ExprOp::FloorDiv || e.op == ExprOp::TruncDiv;
  const bool truncates = e.op == ExprOp::TruncDiv || e.op == ExprOp::TruncMod;
  const Range values = range_of(atoms_, x, e.type);
  const Range by = range_of(atoms_, y, e.type);
  if (by.min <= 0 && by.max >= 0) return as_it_is(e, id);
  // 2^k divides 2^width, so that the remainder of what wraps is that of the sum.
  if (may_wrap(atoms_, x, e.type) && e.op == ExprOp::FloorMod && y.is_constant() &&
      divides_width(y.constant, e.type))
    return floor_remainder(atoms_, x, y.constant, e.type);
  if (may_wrap(atoms_, x, e.type) || may_wrap(atoms_, y, e.type)) return as_it_is(e, id);
  if (x == Sum{}) return {};
  if (x == y) return {is_div ? 1 : 0, {}};
  if (values.min >= 0 && values.max < by.min) return is_div ? Sum{} : x;
  if (!y.is_constant() || y.constant < 1) return as_it_is(e, id);
  const std::int64_t k = y.constant;
  const bool exact = plain_divisor(atoms_, x) % k == 0;
  if (truncates && values.min < 0 && !exact) return as_it_is(e, id);
  return is_div ? floor_quotient(atoms_, x, k, e.type) : floor_remainder(atoms_, x, k, e.type);
}

Sum SumReader::read_bits(const Expr& e, ExprId id) {
  if (e.args.size() != 2 || group_of(e.op) != ExprGroup::Infix) return as_it_is(e, id);
  const Sum& a = read(e.args[0]);
  const Sum& b = read(e.args[1]);
  if (e.op == ExprOp::Shr) {
    const bool is_division = b.is_constant() && b.constant >= 0 && b.constant <= 30;
    if (!is_division || may_wrap(atoms_, a, e.type)) return as_it_is(e, id);
    return floor_quotient(atoms_, a, std::int64_t{1} << b.constant, e.type);
  }
  if (e.op == ExprOp::BitAnd) {
    if (a == b) return a;
    for (const auto& [x, mask] : {std::pair(&a, &b), std::pair(&b, &a)})
      if (const auto power = power_of_mask(*mask))
        return range::within(range::of_type(e.type.dtype), {0, *power - 1})
                   ? *x
                   : floor_remainder(atoms_, *x, *power, e.type);
    return as_it_is(e, id);
  }
  if (e.op != ExprOp::BitOr && e.op != ExprOp::BitXor) return as_it_is(e, id);
  if (a == b) return e.op == ExprOp::BitOr ? a : Sum{};
  for (const auto& [high, low] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const std::int64_t step = range::power_in(divisor_of(atoms_, *high, e.type));
    if (!range::within(range_of(atoms_, *low, e.type), {0, step - 1})) continue;
    if (const auto sum = plus(atoms_, *high, *low, 1)) {  // no bit in common
      const bool wraps = may_wrap(atoms_, *high, e.type) || may_wrap(atoms_, *low, e.type);
      return settled(atoms_, *sum, e.type, !wraps && (high->exact || low->exact));
    }
  }
  return as_it_is(e, id);
}

Sum SumReader::read_choice(const Expr& e, ExprId id) {
  if (f_[e.args[0]].type.lanes != 1) return as_it_is(e, id);
  const Sum& condition = read(e.args[0]);
  if (condition.is_constant()) return read(e.args[condition.constant != 0 ? 1 : 2]);
  Sum yes = read(e.args[1]);
  if (const Sum& no = read(e.args[2]); yes == no && !f_[e.args[1]].has_effect) {
    yes.exact = yes.exact && no.exact;  // only one of them is there
    return yes;
  }
  return as_it_is(e, id);
}

Sum SumReader::read_logic(const Expr& e, ExprId id) {
  const Sum& a = read(e.args[0]);
  const Sum& b = read(e.args[1]);
  const std::int64_t absorbing = e.op == ExprOp::And ? 0 : 1;
  if (a.is_constant()) return a.constant == absorbing ? a : b;
  if (b.is_constant()) return b.constant == absorbing ? b : a;
  return a == b ? a : as_it_is(e, id);
}

Sum SumReader::read_cast(const Expr& e, ExprId id) {
  const Type from = f_[e.args[0]].type;
  if (!is_index(from) || from.is_bool() || e.type.is_bool()) return as_it_is(e, id);
  const Sum& x = read(e.args[0]);
  // A constant is its value modulo 2^bits only: -1 of uint16 is 65535.
  const std::int64_t value = wrap(from.dtype, x.constant);
  if (x.is_constant() && !(e.type.dtype == num::DType::Uint64 && value < 0))
    return {wrap(e.type.dtype, value), {}};
  if (x.constant != 0 || x.terms.size() != 1 || x.terms[0].coef != 1) return as_it_is(e, id);
  // A cast of a cast whose value fitted on the way is one cast, or none.
  const SumAtom& inner = atoms_[x.terms[0].atom];
  if (inner.op != ExprOp::Cast) return as_it_is(e, id);
  const Type first = inner.source.valid() ? f_[f_[inner.source].args[0]].type : inner.arg_type;
  if (!is_index(first) || first.is_bool() ||
      !range::within(range_of(atoms_, inner.args[0], first), range::of_type(from.dtype)))
    return as_it_is(e, id);
  if (first == e.type) return inner.args[0];
  return single(atoms_, ExprOp::Cast, e.type, first, {inner.args[0]});
}

}  // namespace ww::ir
