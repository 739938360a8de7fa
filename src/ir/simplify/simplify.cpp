// SPDX-License-Identifier: Apache-2.0
// An expression is read as a sum (sum.h) and written back. Reading decides and cancels
// all it can; what is written back counts only when it is no longer than what was there.
#include "ir/simplify/simplify.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/id_map.h"
#include "base/stable_vec.h"
#include "ir/build.h"
#include "ir/simplify/fold.h"
#include "ir/simplify/range.h"
#include "ir/simplify/sum.h"
#include "ir/visit.h"

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

// Each round leaves an expression no longer; where two forms of one length would alternate, the
// last one stands.
constexpr int kRounds = 8;

}  // namespace

// --- from expressions to sums --------------------------------------------------------------------

/// Reads expressions of one function, which may share parts: what was read is kept.
class SumReader {
 public:
  /// `inlined`: variables that stand for an expression are read as that expression.
  SumReader(const Function& function, const Facts& facts, bool inlined)
      : f_(function), atoms_(function, facts), inlined_(inlined) {}

  /// Stays where it is when others are read.
  const Sum& read(ExprId expr) {
    if (const std::uint32_t* const found = known_.find(expr.index)) return sums_[*found];
    ++level_;
    Sum made = read_new(f_[expr], expr);
    --level_;
    // A call with an effect happens as often as it is written: each reading of it is another value.
    if (!f_[expr].has_effect) known_.add(expr.index, static_cast<std::uint32_t>(sums_.size()));
    return sums_.push_back(std::move(made));
  }

  /// Did it read a variable that means an expression? If not, inlining changes nothing.
  [[nodiscard]] bool has_names() const { return has_names_; }
  [[nodiscard]] const Atoms& atoms() const { return atoms_; }

 private:
  Sum read_new(const Expr& e, ExprId id) {
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

  Sum read_integer(const Expr& e, ExprId id) {
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
  std::optional<Sum> read_min_max(const Expr& e) {
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

  Sum read_division(const Expr& e, ExprId id) {
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

  Sum read_bits(const Expr& e, ExprId id) {
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

  Sum read_choice(const Expr& e, ExprId id) {
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

  Sum read_logic(const Expr& e, ExprId id) {
    const Sum& a = read(e.args[0]);
    const Sum& b = read(e.args[1]);
    const std::int64_t absorbing = e.op == ExprOp::And ? 0 : 1;
    if (a.is_constant()) return a.constant == absorbing ? a : b;
    if (b.is_constant()) return b.constant == absorbing ? b : a;
    return a == b ? a : as_it_is(e, id);
  }

  Sum read_cast(const Expr& e, ExprId id) {
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

  Sum read_var(const Expr& e, ExprId id) {
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
    atoms_.narrow(out.terms[0].atom, range_of(atoms_, sum, e.type),
                  divisor_of(atoms_, sum, e.type));
    return out;
  }

  // The node with its arguments read, and nothing known about what it does with them.
  Sum as_it_is(const Expr& e, ExprId id) {
    SumAtom atom{.op = e.op, .type = e.type, .args = {}, .source = id};
    atom.args.reserve(e.args.size());
    for (const ExprId arg : e.args) atom.args.push_back(read(arg));
    const bool is_unique = e.op == ExprOp::Call && e.has_effect;
    return atoms_.make(std::move(atom), is_unique);
  }

  const Function& f_;
  Atoms atoms_;
  bool inlined_;
  bool has_names_ = false;
  StableVec<Sum> sums_;         // that were read
  IdMap<std::uint32_t> known_;  // by expression: which of them it is
  int depth_ = 0;               // variables that stand for expressions, inside each other
  int level_ = 0;               // operations inside each other
};

// --- from sums to expressions --------------------------------------------------------------------
//
// From sums back to nodes: `i*16 + j//4 - k + 3`. Nodes are shared: a sum
// that was written before is the expression that it became then.

class Rebuild {
 public:
  Rebuild(Function& function, const Atoms& atoms) : f_(function), atoms_(atoms) {}

  /// The sum as an expression of that type. Nothing when a number does not fit the type, or an
  /// unsigned value would have to be negated.
  std::optional<ExprId> expr(const Sum& sum, Type type) {
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

 private:
  // Positive terms before negative ones, greater coefficients first; terms of one coefficient
  // become one product.
  struct Group {
    std::int64_t coef = 1;  // ≥ 1
    std::vector<AtomId> added;
    std::vector<AtomId> subtracted;
  };

  [[nodiscard]] std::vector<Rebuild::Group> groups(const Sum& sum) const {
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

  struct Written {
    Sum sum;
    Type type;
    std::optional<ExprId> expr;
  };

  std::optional<ExprId> written(const Sum& sum, Type type) {
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

  // a + b - c - d; at least one is added.
  std::optional<ExprId> chain(const std::vector<AtomId>& added,
                              const std::vector<AtomId>& subtracted, bool exact) {
    std::optional<ExprId> out = atom(added.front());
    for (std::size_t i = 1; i < added.size(); ++i)
      out = apply(ExprOp::Add, out, atom(added[i]), exact);
    for (const AtomId id : subtracted) out = apply(ExprOp::Sub, out, atom(id), exact);
    return out;
  }

  // `-x`, `x*-4`: the beginning of a sum to which nothing is added.
  std::optional<ExprId> negated(const Group& group, Type type, bool exact) {
    if (range::of_type(type.dtype).min == 0) return std::nullopt;
    const auto all = chain(group.subtracted, {}, exact);
    if (!all) return std::nullopt;
    if (group.coef != 1) return apply(ExprOp::Mul, all, number(-group.coef, type), exact);
    auto minus = unary(f_, ExprOp::Neg, {*all, false});
    if (!minus) return std::nullopt;
    f_.set_no_wrap(*minus, exact);
    return *minus;
  }

  std::optional<ExprId> atom(AtomId id) {
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
  std::optional<ExprId> copied(const SumAtom& a) {
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

  std::optional<ExprId> number(std::int64_t value, Type type) {
    const Range all = range::of_type(type.dtype);
    if (value < all.min || value > all.max) return std::nullopt;
    return int_imm(f_, type.dtype, value);
  }

  std::optional<ExprId> apply(ExprOp op, std::optional<ExprId> a, std::optional<ExprId> b,
                              bool exact) {
    if (!a || !b) return std::nullopt;
    auto made = binary(f_, op, {*a, false}, {*b, false});
    if (!made) return std::nullopt;
    if (exact && f_[*made].op == op) f_.set_no_wrap(*made);
    return *made;
  }

  Function& f_;
  const Atoms& atoms_;
  IdMap<std::optional<ExprId>> made_;  // by atom
  StableVec<Written> written_;
  HashIndex numbers_;  // of what was written
};

// --- simplifying ---------------------------------------------------------------------------------

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
    return with_operands(f_, expr, [&](ExprId arg) { return best(arg); });
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
