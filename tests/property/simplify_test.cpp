// SPDX-License-Identifier: Apache-2.0
// Laws of ir/simplify/simplify.h over random expressions of a few variables, of every integer type:
// every value is tried, with an interpreter of its own. Values wrap around. Some nodes are index
// arithmetic; where one overflows, nothing is promised.
#include "ir/simplify/simplify.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "harness/tape.h"
#include "ir/build.h"
#include "ir/indices.h"
#include "property/cases.h"
#include "property/simplify_problem.h"

namespace ww::test::simplify_test {
namespace {

// ---- Random expressions -------------------------------------------------------------------------

class Maker {
 public:
  Maker(Problem& p, Tape& tape) : p_(p), tape_(tape) {}

  void variables() {
    const std::int64_t count = tape_.between(1, 4);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto id = p_.f.add(ir::Var{std::string(1, static_cast<char>('i' + i)),
                                       ir::Type::of(p_.dtype),
                                       ir::VarKind::Param,
                                       {}});
      p_.variables.push_back(tape_.below(4) == 3 ? unknown(id) : bounded(id, count > 2 ? 5 : 18));
    }
  }

  ExprId integer(int depth) {
    const std::int64_t kind = depth == 0 ? tape_.below(3) : tape_.below(20);
    if (kind <= 1) return variable();
    if (kind == 2) return tape_.below(4) == 3 ? great_number() : number(tape_.between(-9, 17));
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
      return by_number(tape_.pick<ExprOp>({ExprOp::Shl, ExprOp::Shr}), depth,
                       {1, 2, 3, 7, 31, 40, -1});
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
  // Nothing is known but the type: its ends, and a few between.
  Variable unknown(ir::VarId id) {
    const auto [min, max] = ends();
    std::vector<std::int64_t> values = {min, 0, 1, 5, 100, max};
    if (min != 0) values.insert(values.begin() + 1, {wrapped(Wide{min} + 1, p_.dtype), -1});
    return {id, values, "any value"};
  }
  // A range about 0 or at an end of the type, of every value or every step-th.
  Variable bounded(ir::VarId id, std::int64_t most) {
    const auto [min, max] = ends();
    const std::int64_t step = tape_.pick<std::int64_t>({1, 1, 1, 2, 3, 4, 8});
    const std::int64_t span = tape_.between(0, most);
    const std::int64_t where = tape_.below(8);
    const std::int64_t low = min == 0 ? tape_.between(0, 3) : tape_.between(-6, 6);
    const auto multiple = [&](std::int64_t v) { return v - (v % step + step) % step; };
    std::int64_t first = multiple(low * step);
    if (where == 6) first = multiple(max) - span * step;
    if (where == 7) first = multiple(min) == min ? min : multiple(min) + step;
    if (first < min) first = 0;
    Variable v{id, {}, ""};
    for (std::int64_t k = 0; k <= span && first + k * step <= max; ++k)
      v.values.push_back(first + k * step);
    p_.facts.set_range(id, {v.values.front(), v.values.back()});
    p_.facts.set_divisor(id, step);
    v.known = fmt::format("[{}, {}] of step {}", v.values.front(), v.values.back(), step);
    return v;
  }
  // Of 64 bits no further than the numbers that ranges are about.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> ends() const {
    const int bits = num::bits_of(p_.dtype);
    const std::int64_t half = std::int64_t{1} << (bits == 64 ? 61 : bits - 1);
    if (is_unsigned(p_.dtype)) return {0, bits == 64 ? half : 2 * half - 1};
    return {-half, half - 1};
  }
  ExprId great_number() {
    const auto [min, max] = ends();
    return number(
        tape_.pick<std::int64_t>({min, max, max / 2, max / 2 + 1, max / 3, 65536, 46341}));
  }
  ExprId variable() { return ir::var_ref(p_.f, tape_.pick(p_.variables).id); }
  ExprId number(std::int64_t value) { return ir::int_imm(p_.f, p_.dtype, value); }
  // Constants are folded while building; what cannot be folded (a division by 0) is left out.
  ExprId made(ExprOp op, ExprId a, ExprId b) {
    const auto out = ir::binary(p_.f, op, {a, false}, {b, false});
    if (!out) return a;
    const bool is_index = p_.has_indices && tape_.below(2) == 0;
    if (is_index && ir::is_linear(p_.f[*out])) p_.f.at(*out).no_wrap = true;
    return *out;
  }
  ExprId two(ExprOp op, int depth) {
    const ExprId a = integer(depth - 1);
    return made(op, a, integer(depth - 1));
  }
  ExprId by_number(ExprOp op, int depth, const std::vector<std::int64_t>& numbers) {
    const ExprId a = integer(depth - 1);
    const std::int64_t n = tape_.pick(numbers);
    return made(op, a, number(is_unsigned(p_.dtype) && n < 0 ? -n : n));
  }
  ExprId rare(int depth) {
    switch (tape_.below(9)) {
      case 0:
        return by_number(ExprOp::TruncDiv, depth, {2, 4, 3, -3});
      case 1:
        return by_number(ExprOp::TruncMod, depth, {2, 4, 3, -3});
      case 2:
        return two(ExprOp::FloorDiv, depth);
      case 3:
        return two(ExprOp::FloorMod, depth);
      case 4: {
        const DType other = tape_.pick<DType>(
            {DType::Int8, DType::Uint8, DType::Int32, DType::Uint32, DType::Int64});
        const ExprId there = *ir::cast(p_.f, integer(depth - 1), ir::Type::of(other));
        return *ir::cast(p_.f, there, ir::Type::of(p_.dtype));
      }
      case 5:
        return two(tape_.pick<ExprOp>({ExprOp::TruncDiv, ExprOp::TruncMod}), depth);
      case 6:
        return two(tape_.pick<ExprOp>({ExprOp::Shl, ExprOp::Shr}), depth);
      case 7: {
        const ExprId arg = integer(depth - 1);
        if (p_.f[arg].op == ExprOp::IntImm) return arg;
        return *ir::call(p_.f, ir::Intrinsic::Abs, std::span(&arg, 1));
      }
      default: {
        const ExprOp op = tape_.pick<ExprOp>({ExprOp::Neg, ExprOp::Neg, ExprOp::BitNot});
        return *ir::unary(p_.f, op, {integer(depth - 1), false});
      }
    }
  }

  Problem& p_;
  Tape& tape_;
};

Problem problem_of(const Case& c) {
  Tape tape(c.numbers);
  Problem p;
  p.dtype = tape.pick<DType>({DType::Int32, DType::Int32, DType::Uint32, DType::Int8, DType::Uint8,
                              DType::Int16, DType::Uint16, DType::Int64, DType::Uint64});
  p.has_indices = tape.below(2) == 0;
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
  std::string out = fmt::format("{}{}(", e.no_wrap ? "index " : "", ir::name_of(e.op));
  if (e.op == ExprOp::Cast) out += fmt::format("{}, ", num::name_of(e.type.dtype));
  for (const ExprId arg : e.args) out += shown(f, arg) + (arg == e.args.back() ? "" : ", ");
  return out + ")";
}

std::string shown(const Problem& p, ExprId id) {
  std::string out = fmt::format("{} of {} with", shown(p.f, id), num::name_of(p.dtype));
  for (const Variable& v : p.variables) out += fmt::format(" {}: {}", p.f[v.id].name, v.known);
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
    const Value want = Interpreter(p.f, values)(before);
    if (out || !want) return;
    for (const Overflow overflow : {Overflow::Wraps, Overflow::IsWhole})
      if (Interpreter(p.f, values, overflow)(after) != want)
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
      const Wide exact = whole(*v, p.dtype);
      constexpr Wide kFar = Wide{1} << 62;  // stands for no bound
      const bool is_below = exact < range.min && range.min > -kFar;
      const bool is_above = exact > range.max && range.max < kFar;
      if (is_below || is_above)
        out =
            fmt::format("{} is {}, not in [{}, {}]", shown(p, p.integer), *v, range.min, range.max);
      else if (divisor == 0 ? *v != 0 : exact % divisor != 0)
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
    moved[v.id.index] = wrapped(Wide{moved[v.id.index]} + 1, p.dtype);
    if (Interpreter(p.f, values)(after) != Interpreter(p.f, moved)(p.integer))
      out = "substitution changes more than the variable: " + shown(p, p.integer);
  });
  return out;
}

Case random_case(Rng& rng) { return random_numbers(rng, 90); }

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
      if (want && Interpreter(p.f, bound, Overflow::Wraps)(after) != want)
        out = fmt::format("{} becomes {}", shown(p, before), shown(p.f, after));
    });
    return out;
  });
}

// Negative control: an interpreter that rounds the wrong way must be noticed.
TEST(LawsSimplify, AWrongValueIsCaught) {
  const auto failure = find_failure(1705, 2000, random_case, [](const Case& c) -> Complaint {
    Problem p = problem_of(c);
    const std::int64_t first = p.variables[0].values.front();
    p.facts.set_range(p.variables[0].id, {first, first});  // a lie
    return keeps_the_value(p, p.integer);
  });
  EXPECT_TRUE(failure);
}

// And one that takes values for index arithmetic, which would not wrap.
TEST(LawsSimplify, AWrongPromiseIsCaught) {
  const auto failure = find_failure(1706, 6000, random_case, [](const Case& c) -> Complaint {
    Problem p = problem_of(c);
    Problem lying = problem_of(c);
    for (std::uint32_t i = 0; i < lying.f.expr_count(); ++i)
      if (ir::is_linear(lying.f[ExprId{i}])) lying.f.at(ExprId{i}).no_wrap = true;
    const ExprId after = ir::simplify(lying.f, lying.integer, lying.facts);
    Complaint out;
    for_each_assignment(p, [&](const std::vector<std::int64_t>& values) {
      const Value want = Interpreter(p.f, values)(p.integer);
      if (want && Interpreter(lying.f, values, Overflow::Wraps)(after) != want) out = "wrapped";
    });
    return out;
  });
  EXPECT_TRUE(failure);
}

}  // namespace
}  // namespace ww::test::simplify_test
