// SPDX-License-Identifier: Apache-2.0
// Laws of ir/simplify.h over random expressions of a few variables: every value is tried, with an
// interpreter of its own. What divides by 0 or leaves its signed type is outside all promises.
#include "ir/simplify.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "ir/build.h"
#include "property/tape.h"

namespace ww::test {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using num::DType;

struct Variable {
  ir::VarId id;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t step = 1;  // only multiples of it
};

struct Problem {
  Function f;
  std::vector<Variable> variables;
  ir::Facts facts;
  ExprId integer;
  ExprId condition;
  DType dtype = DType::Int32;
};

// ---- The interpreter ----------------------------------------------------------------------------

using Value = std::optional<std::int64_t>;

std::int64_t floored(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  if (q * b != a && ((a < 0) != (b < 0))) --q;
  return q;
}

class Interpreter {
 public:
  Interpreter(const Function& f, const std::vector<std::int64_t>& values)
      : f_(f), values_(values) {}

  Value operator()(ExprId id) const {
    const ir::Expr& e = f_[id];
    if (e.op == ExprOp::IntImm) return e.integer;
    if (e.op == ExprOp::Var) return values_[e.var.index];
    const Value a = (*this)(e.args[0]);
    if (!a) return std::nullopt;
    if (e.op == ExprOp::And) return *a == 0 ? Value(0) : (*this)(e.args[1]);
    if (e.op == ExprOp::Or) return *a != 0 ? Value(1) : (*this)(e.args[1]);
    if (e.op == ExprOp::Not) return *a == 0 ? 1 : 0;
    if (e.op == ExprOp::IfThenElse) return (*this)(e.args[*a != 0 ? 1 : 2]);
    if (e.op == ExprOp::Neg) return fitted(-*a, e.type);
    if (e.op == ExprOp::Cast) return wrapped(*a, e.type);
    const Value b = (*this)(e.args[1]);
    if (!b) return std::nullopt;
    if (e.op == ExprOp::Select) {
      const Value c = (*this)(e.args[2]);
      return !c ? std::nullopt : (*a != 0 ? b : c);
    }
    return two(e, *a, *b);
  }

 private:
  static Value two(const ir::Expr& e, std::int64_t a, std::int64_t b) {
    const bool divides = e.op == ExprOp::FloorDiv || e.op == ExprOp::FloorMod ||
                         e.op == ExprOp::TruncDiv || e.op == ExprOp::TruncMod;
    if (divides && b == 0) return std::nullopt;
    switch (e.op) {
      case ExprOp::Add:
        return fitted(a + b, e.type);
      case ExprOp::Sub:
        return fitted(a - b, e.type);
      case ExprOp::Mul:
        return fitted(a * b, e.type);
      case ExprOp::FloorDiv:
        return fitted(floored(a, b), e.type);
      case ExprOp::FloorMod:
        return a - floored(a, b) * b;
      case ExprOp::TruncDiv:
        return fitted(a / b, e.type);
      case ExprOp::TruncMod:
        return a % b;
      case ExprOp::Min:
        return a < b ? a : b;
      case ExprOp::Max:
        return a < b ? b : a;
      case ExprOp::BitAnd:
        return a & b;
      case ExprOp::BitOr:
        return a | b;
      case ExprOp::BitXor:
        return a ^ b;
      case ExprOp::Shl:
        return b < 0 || b > 31 ? Value() : fitted(a * (std::int64_t{1} << b), e.type);
      case ExprOp::Shr:
        return b < 0 || b > 31 ? Value() : Value(a >> b);
      case ExprOp::Eq:
        return a == b;
      case ExprOp::Ne:
        return a != b;
      case ExprOp::Lt:
        return a < b;
      case ExprOp::Le:
        return a <= b;
      case ExprOp::Gt:
        return a > b;
      case ExprOp::Ge:
        return a >= b;
      default:
        throw std::logic_error("no such operator in this test");
    }
  }
  // Unsigned arithmetic wraps around, signed arithmetic must not.
  static Value fitted(std::int64_t v, ir::Type type) {
    const std::int64_t w = *wrapped(v, type);
    if (type.dtype == DType::Uint32) return w;
    return w == v ? Value(v) : std::nullopt;
  }
  static Value wrapped(std::int64_t v, ir::Type type) {
    switch (type.dtype) {
      case DType::Int8:
        return static_cast<std::int8_t>(v);
      case DType::Int32:
        return static_cast<std::int32_t>(v);
      case DType::Uint32:
        return static_cast<std::uint32_t>(v);
      case DType::Bool:
        return v != 0;
      default:
        return v;
    }
  }

  const Function& f_;
  const std::vector<std::int64_t>& values_;
};

void for_each_assignment(const Problem& p,
                         const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> values(p.f.var_count(), 0);
  const std::function<void(std::size_t)> fill = [&](std::size_t k) {
    if (k == p.variables.size()) return visit(values);
    const Variable& v = p.variables[k];
    for (std::int64_t x = v.min; x <= v.max; ++x) {
      if (x % v.step != 0) continue;
      values[v.id.index] = x;
      fill(k + 1);
    }
  };
  fill(0);
}

// ---- Random expressions -------------------------------------------------------------------------

class Maker {
 public:
  Maker(Problem& p, Tape& tape) : p_(p), tape_(tape) {}

  void variables() {
    const std::int64_t count = tape_.between(1, 4);
    const bool is_unsigned = p_.dtype == DType::Uint32;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t step = tape_.pick<std::int64_t>({1, 1, 1, 2, 3, 4, 8});
      const std::int64_t low = is_unsigned ? tape_.between(0, 3) : tape_.between(-6, 6);
      const std::int64_t span = tape_.between(0, count > 2 ? 5 : 18);
      const auto id = p_.f.add(ir::Var{std::string(1, static_cast<char>('i' + i)),
                                       ir::Type::of(p_.dtype),
                                       ir::VarKind::Param,
                                       {}});
      const Variable v{id, low * step, (low + span) * step, step};
      p_.variables.push_back(v);
      p_.facts.set_range(id, {v.min, v.max});
      p_.facts.set_divisor(id, step);
    }
  }

  ExprId integer(int depth) {
    const std::int64_t kind = depth == 0 ? tape_.below(3) : tape_.below(20);
    if (kind <= 1) return variable();
    if (kind == 2) return number(tape_.between(p_.dtype == DType::Uint32 ? 0 : -9, 17));
    if (kind <= 5) return two(ExprOp::Add, depth);
    if (kind <= 7) return two(ExprOp::Sub, depth);
    if (kind == 8) return two(ExprOp::Mul, depth);
    if (kind <= 10) return by_number(ExprOp::Mul, depth, {2, 3, 4, 8, 16, 32});
    if (kind <= 12) return by_number(ExprOp::FloorDiv, depth, {2, 4, 8, 16, 3, 6, -2});
    if (kind <= 14) return by_number(ExprOp::FloorMod, depth, {2, 4, 8, 16, 3, 6, -4});
    if (kind == 15) return two(tape_.pick<ExprOp>({ExprOp::Min, ExprOp::Max}), depth);
    if (kind == 16)
      return by_number(tape_.pick<ExprOp>({ExprOp::BitAnd, ExprOp::BitOr, ExprOp::BitXor}), depth,
                       {1, 3, 7, 15, 4, 6});
    if (kind == 17)
      return by_number(tape_.pick<ExprOp>({ExprOp::Shl, ExprOp::Shr}), depth, {1, 2, 3});
    if (kind == 18) return rare(depth);
    const ExprId c = condition(depth - 1);
    const ExprId a = integer(depth - 1);
    const ExprId b = integer(depth - 1);
    const ExprOp op = tape_.pick<ExprOp>({ExprOp::Select, ExprOp::IfThenElse});
    return *ir::choose(p_.f, op, c, {a, false}, {b, false});
  }

  ExprId condition(int depth) {
    const std::int64_t kind = depth == 0 ? 0 : tape_.below(6);
    if (kind <= 2) {
      const ExprOp op = tape_.pick<ExprOp>(
          {ExprOp::Lt, ExprOp::Le, ExprOp::Gt, ExprOp::Ge, ExprOp::Eq, ExprOp::Ne});
      const ExprId a = integer(depth == 0 ? 0 : depth - 1);
      const ExprId b = integer(depth == 0 ? 0 : depth - 1);
      return *ir::binary(p_.f, op, {a, false}, {b, false});
    }
    if (kind == 5) return *ir::unary(p_.f, ExprOp::Not, {condition(depth - 1), false});
    const ExprId a = condition(depth - 1);
    const ExprId b = condition(depth - 1);
    return *ir::binary(p_.f, kind == 3 ? ExprOp::And : ExprOp::Or, {a, false}, {b, false});
  }

 private:
  ExprId variable() { return ir::var_ref(p_.f, tape_.pick(p_.variables).id); }
  ExprId number(std::int64_t value) { return ir::int_imm(p_.f, p_.dtype, value); }
  // Constants are folded while building; what cannot be folded (a division by 0) is left out.
  ExprId made(ExprOp op, ExprId a, ExprId b) {
    const auto out = ir::binary(p_.f, op, {a, false}, {b, false});
    return out ? *out : a;
  }
  ExprId two(ExprOp op, int depth) {
    const ExprId a = integer(depth - 1);
    return made(op, a, integer(depth - 1));
  }
  ExprId by_number(ExprOp op, int depth, const std::vector<std::int64_t>& numbers) {
    const ExprId a = integer(depth - 1);
    const std::int64_t n = tape_.pick(numbers);
    return made(op, a, number(p_.dtype == DType::Uint32 && n < 0 ? -n : n));
  }
  ExprId rare(int depth) {
    switch (tape_.below(6)) {
      case 0:
        return by_number(ExprOp::TruncDiv, depth, {2, 4, 3, -3});
      case 1:
        return by_number(ExprOp::TruncMod, depth, {2, 4, 3, -3});
      case 2:
        return two(ExprOp::FloorDiv, depth);
      case 3:
        return two(ExprOp::FloorMod, depth);
      case 4: {
        const ExprId narrow = *ir::cast(p_.f, integer(depth - 1), ir::Type::of(DType::Int8));
        return *ir::cast(p_.f, narrow, ir::Type::of(p_.dtype));
      }
      default: {
        if (p_.dtype == DType::Uint32) return two(ExprOp::Add, depth);
        return *ir::unary(p_.f, ExprOp::Neg, {integer(depth - 1), false});
      }
    }
  }

  Problem& p_;
  Tape& tape_;
};

Problem problem_of(const Case& c) {
  Tape tape(c.numbers);
  Problem p;
  p.dtype = tape.below(5) == 4 ? DType::Uint32 : DType::Int32;
  Maker maker(p, tape);
  maker.variables();
  const int depth = static_cast<int>(tape.between(0, 4));
  p.integer = maker.integer(depth);
  p.condition = maker.condition(depth > 3 ? 3 : depth);
  return p;
}

std::string shown(const Function& f, ExprId id) {
  const ir::Expr& e = f[id];
  if (e.op == ExprOp::IntImm) return fmt::format("{}", e.integer);
  if (e.op == ExprOp::Var) return f[e.var].name;
  std::string out = fmt::format("{}(", ir::name_of(e.op));
  for (const ExprId arg : e.args) out += shown(f, arg) + (arg == e.args.back() ? "" : ", ");
  return out + ")";
}

std::string shown(const Problem& p, ExprId id) {
  std::string out = shown(p.f, id) + " with";
  for (const Variable& v : p.variables)
    out += fmt::format(" {} in [{}, {}] of step {}", p.f[v.id].name, v.min, v.max, v.step);
  return out;
}

std::size_t nodes(const Function& f, ExprId id) {
  std::size_t n = 1;
  for (const ExprId arg : f[id].args) n += nodes(f, arg);
  return n;
}

// ---- Laws ---------------------------------------------------------------------------------------

Complaint keeps_the_value(Problem& p, ExprId before) {
  const ExprId after = ir::simplify(p.f, before, p.facts);
  if (nodes(p.f, after) > nodes(p.f, before))
    return fmt::format("{} grew to {}", shown(p, before), shown(p.f, after));
  if (p.f[after].type != p.f[before].type) return "the type changed: " + shown(p, before);
  const ExprId again = ir::simplify(p.f, after, p.facts);
  if (shown(p.f, again) != shown(p.f, after))
    return fmt::format("{} becomes {}, and that {}", shown(p, before), shown(p.f, after),
                       shown(p.f, again));
  Complaint out;
  for_each_assignment(p, [&](const std::vector<std::int64_t>& values) {
    const Interpreter value(p.f, values);
    const Value want = value(before);
    if (!out && want && value(after) != want)
      out = fmt::format("{} becomes {}: not {}", shown(p, before), shown(p.f, after), *want);
  });
  return out;
}

Complaint bounds_hold(const Problem& p) {
  const ir::Range range = ir::range_of(p.f, p.integer, p.facts);
  const std::int64_t divisor = ir::divisor_of(p.f, p.integer, p.facts);
  const auto answer = ir::decide(p.f, p.condition, p.facts);
  Complaint out;
  for_each_assignment(p, [&](const std::vector<std::int64_t>& values) {
    const Interpreter value(p.f, values);
    if (const Value v = value(p.integer); v && !out) {
      if (*v < range.min || *v > range.max)
        out =
            fmt::format("{} is {}, not in [{}, {}]", shown(p, p.integer), *v, range.min, range.max);
      else if (divisor == 0 ? *v != 0 : *v % divisor != 0)
        out = fmt::format("{} is {}, no multiple of {}", shown(p, p.integer), *v, divisor);
    }
    if (const Value v = value(p.condition); v && answer && !out && (*v != 0) != *answer)
      out = fmt::format("{} is not always {}", shown(p, p.condition), *answer);
  });
  return out;
}

Complaint replaces(Problem& p) {
  const Variable v = p.variables.front();
  const ExprId other = *ir::binary(p.f, ExprOp::Add, {ir::var_ref(p.f, v.id), false},
                                   {ir::int_imm(p.f, p.dtype, 1), false});
  const ExprId after =
      ir::substitute(p.f, p.integer, [&](ir::VarId id) { return id == v.id ? other : ExprId{}; });
  Complaint out;
  for_each_assignment(p, [&](const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> moved = values;
    ++moved[v.id.index];
    if (Interpreter(p.f, values)(after) != Interpreter(p.f, moved)(p.integer))
      out = "substitution changes more than the variable: " + shown(p, p.integer);
  });
  return out;
}

Case random_case(Rng& rng) { return Tape::random(rng, 90); }

TEST(LawsSimplify, TheValueStays) {
  for_all(1701, 6000, random_case, [](const Case& c) -> Complaint {
    Problem p = problem_of(c);
    if (auto bad = keeps_the_value(p, p.integer)) return bad;
    return keeps_the_value(p, p.condition);
  });
}

TEST(LawsSimplify, RangesDivisorsAndAnswersHold) {
  for_all(1702, 6000, random_case,
          [](const Case& c) -> Complaint { return bounds_hold(problem_of(c)); });
}

TEST(LawsSimplify, SubstitutionReplacesOneVariable) {
  for_all(1703, 1000, random_case, [](const Case& c) -> Complaint {
    Problem p = problem_of(c);
    return replaces(p);
  });
}

// A variable that stands for an expression is the same as the expression.
TEST(LawsSimplify, NamesForValues) {
  for_all(1704, 3000, random_case, [](const Case& c) -> Complaint {
    Problem p = problem_of(c);
    const ExprId inner = p.integer;
    const auto name = p.f.add(ir::Var{"v", ir::Type::of(p.dtype), ir::VarKind::Let, {}});
    p.facts.set_value(name, inner);
    Tape tape(c.numbers);
    const ExprId over = *ir::binary(p.f, ExprOp::Mul, {ir::var_ref(p.f, name), false},
                                    {ir::int_imm(p.f, p.dtype, tape.between(1, 8)), false});
    const ExprId before = *ir::binary(p.f, ExprOp::Sub, {over, false}, {inner, false});
    const ExprId after = ir::simplify(p.f, before, p.facts);
    Complaint out;
    for_each_assignment(p, [&](const std::vector<std::int64_t>& values) {
      const Value v = Interpreter(p.f, values)(inner);
      if (!v || out) return;
      std::vector<std::int64_t> bound = values;
      bound[name.index] = *v;
      const Value want = Interpreter(p.f, bound)(before);
      if (want && Interpreter(p.f, bound)(after) != want)
        out = fmt::format("{} becomes {}", shown(p, before), shown(p.f, after));
    });
    return out;
  });
}

// Negative control: an interpreter that rounds the wrong way must be noticed.
TEST(LawsSimplify, AWrongValueIsCaught) {
  const auto failure = find_failure(1705, 2000, random_case, [](const Case& c) -> Complaint {
    Problem p = problem_of(c);
    p.facts.set_range(p.variables[0].id, {p.variables[0].min, p.variables[0].min});  // a lie
    return keeps_the_value(p, p.integer);
  });
  EXPECT_TRUE(failure);
}

}  // namespace
}  // namespace ww::test
