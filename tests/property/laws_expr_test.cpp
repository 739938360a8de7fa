// SPDX-License-Identifier: Apache-2.0
// Symbolic integers against every value their symbols can take.
#include <gtest/gtest.h>

#include "layout/expr.h"
#include "layout/text.h"
#include "property/laws.h"

namespace ww::test::laws_expr_test {
namespace {

using layout::Expr;
using layout::Sym;

/// A random symbol with few values.
struct Variable {
  Sym sym;
  Ints values;
};

Variable random_variable(Rng& rng, const std::string& name) {
  const std::int64_t divisor = rng.one_in(2) ? 1 : rng.between(2, 8);
  const std::int64_t low = rng.one_in(2) ? 0 : rng.between(-12, 12);
  const std::int64_t first = floor_quotient(low + divisor - 1, divisor) * divisor;
  const std::int64_t high = first + divisor * rng.between(0, 11) + rng.between(0, divisor - 1);
  Variable v{Sym::make(name, {low, high}, divisor).value(), {}};
  for (std::int64_t x = first; x <= high; x += divisor) v.values.push_back(x);
  return v;
}

/// A random expression over the variables, sometimes with quotients and remainders inside.
Expr random_expr(Rng& rng, const std::vector<Variable>& variables) {
  static const Ints kCoefs = {1, 1, 2, 3, 4, 8, 16, -1, -4};
  Expr e = rng.one_in(2) ? 0 : rng.between(-10, 40);
  for (const Variable& v : variables) {
    if (rng.one_in(5)) continue;
    e += Expr(v.sym) * rng.pick(kCoefs);
  }
  for (auto n = rng.between(0, 2); n > 0; --n) {
    const std::int64_t d = rng.between(1, 16);
    const auto cut = rng.one_in(2) ? layout::floor_div(e, d) : layout::floor_mod(e, d);
    if (!cut) continue;
    e = *cut;
    if (rng.one_in(3)) e = e * rng.between(-2, 4) + rng.between(0, 9);
    if (rng.one_in(4)) e += Expr(variables[0].sym);
  }
  return e;
}

/// Must the range be exact? Yes where no symbol occurs twice and no modulo wraps round.
bool has_exact_range(const Expr& e, const std::vector<Variable>& variables) {
  std::set<std::string> seen;
  for (const layout::Term& term : e.terms()) {
    if (!seen.insert(std::string(term.atom.var.name())).second) return false;
    if (term.atom.mod == 0) continue;
    const Ints& values = variables[term.atom.var.name() == "i" ? 0 : 1].values;
    const std::int64_t round = term.atom.div * term.atom.mod;
    if (floor_quotient(values.front(), round) != floor_quotient(values.back(), round)) return false;
  }
  return true;
}

/// All assignments of values to the two variables.
template <typename Visit>
void for_each_value(const std::vector<Variable>& variables, Visit visit) {
  for (const std::int64_t a : variables[0].values) {
    for (const std::int64_t b : variables[1].values) visit(Symbols{{"i", a}, {"j", b}});
  }
}

std::vector<Variable> two_variables(Rng& rng) {
  return {random_variable(rng, "i"), random_variable(rng, "j")};
}

constexpr int kRounds = 2500;

TEST(LawsExpr, QuotientAndRemainderAreExact) {
  Rng rng(1301);
  int answered = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto variables = two_variables(rng);
    const Expr e = random_expr(rng, variables);
    const std::int64_t d =
        rng.one_in(2) ? std::int64_t{1} << rng.between(0, 5) : rng.between(1, 20);
    const auto q = layout::floor_div(e, d);
    const auto r = layout::floor_mod(e, d);
    answered += q && r ? 1 : 0;
    for_each_value(variables, [&](const Symbols& at) {
      const std::int64_t v = value_of(e, at);
      if (q) {
        ASSERT_EQ(value_of(*q, at), floor_quotient(v, d))
            << e.text() << " / " << d << " = " << q->text();
      }
      if (r) {
        ASSERT_EQ(value_of(*r, at), floor_remainder(v, d))
            << e.text() << " % " << d << " = " << r->text();
      }
    });
  }
  EXPECT_GT(answered, kRounds / 4);
}

TEST(LawsExpr, RangeHoldsEveryValueAndIsTightWhereItMustBe) {
  Rng rng(1302);
  for (int round = 0; round < kRounds; ++round) {
    const auto variables = two_variables(rng);
    const Expr e = random_expr(rng, variables);
    std::optional<layout::Range> seen;
    for_each_value(variables, [&](const Symbols& at) {
      const std::int64_t v = value_of(e, at);
      if (!seen) seen = {v, v};
      seen = {std::min(seen->min, v), std::max(seen->max, v)};
    });
    const layout::Range range = e.range();
    ASSERT_LE(range.min, seen->min) << e.text();
    ASSERT_GE(range.max, seen->max) << e.text();
    if (has_exact_range(e, variables)) {
      ASSERT_EQ(range, *seen) << e.text() << " is in " << seen->min << ".." << seen->max << ", not "
                              << range.min << ".." << range.max << " where i is "
                              << text(variables[0].values) << " and j is "
                              << text(variables[1].values);
    }
    const std::int64_t bound = rng.between(0, 60);
    const bool below = seen->min >= 0 && seen->max < bound;
    if (layout::provably_below(e, bound)) {
      ASSERT_TRUE(below) << e.text() << " < " << bound;
    }
    if (below && has_exact_range(e, variables)) {
      ASSERT_TRUE(layout::provably_below(e, bound)) << e.text() << " < " << bound;
    }
  }
}

TEST(LawsExpr, MultipleOfDividesEveryValue) {
  Rng rng(1303);
  for (int round = 0; round < kRounds; ++round) {
    const auto variables = two_variables(rng);
    const Expr e = random_expr(rng, variables);
    const std::int64_t d = e.multiple_of();
    ASSERT_GE(d, 0);
    for_each_value(variables, [&](const Symbols& at) {
      const std::int64_t v = value_of(e, at);
      if (d == 0) {
        ASSERT_EQ(v, 0) << e.text();
      } else {
        ASSERT_EQ(floor_remainder(v, d), 0) << e.text() << " is a multiple of " << d;
      }
    });
  }
  const Expr k(Sym::make("k", {0, 64}, 8).value());
  EXPECT_EQ(k.multiple_of(), 8);
  EXPECT_EQ((k * 3).multiple_of(), 24);
  EXPECT_EQ((k * 3 + 16).multiple_of(), 8);
}

TEST(LawsExpr, ArithmeticIsPointwise) {
  Rng rng(1304);
  for (int round = 0; round < kRounds; ++round) {
    const auto variables = two_variables(rng);
    const Expr a = random_expr(rng, variables);
    const Expr b = random_expr(rng, variables);
    const std::int64_t k = rng.between(-4, 4);
    for_each_value(variables, [&](const Symbols& at) {
      ASSERT_EQ(value_of(a + b, at), value_of(a, at) + value_of(b, at));
      ASSERT_EQ(value_of(a - b, at), value_of(a, at) - value_of(b, at));
      ASSERT_EQ(value_of(a * k, at), value_of(a, at) * k);
      ASSERT_EQ(a.evaluate([&](Sym s) { return at.at(std::string(s.name())); }), value_of(a, at));
    });
    ASSERT_EQ(a - a, Expr(0));
    ASSERT_EQ(a + b, b + a);
  }
}

TEST(LawsExpr, TextReadsBack) {
  Rng rng(1305);
  for (int round = 0; round < kRounds; ++round) {
    const auto variables = two_variables(rng);
    const Expr e = random_expr(rng, variables);
    layout::Names names;
    names.symbols.emplace("i", variables[0].sym);
    names.symbols.emplace("j", variables[1].sym);
    const auto back = layout::parse_expr(e.text(), names);
    ASSERT_TRUE(back) << e.text() << ": " << back.error().text;
    ASSERT_EQ(*back, e) << e.text() << " reads back as " << back->text();
  }
}

TEST(LawsExpr, WhatMustBeAnswered) {
  const Expr k(Sym::make("k", {-5, 100}).value());
  const Expr w(Sym::make("w", {0, 3}).value());
  for (const std::int64_t d : {1, 2, 3, 7, 16, 64}) {
    for (std::int64_t v = -70; v <= 70; ++v) {
      EXPECT_EQ(layout::floor_div(v, d).value(), Expr(floor_quotient(v, d)));
      EXPECT_EQ(layout::floor_mod(v, d).value(), Expr(floor_remainder(v, d)));
    }
    EXPECT_TRUE(layout::floor_div(k, d)) << d;
    EXPECT_TRUE(layout::floor_mod(k, d)) << d;
    EXPECT_EQ(layout::floor_div(k * d + (d - 1), d).value(), k);
    EXPECT_EQ(layout::floor_mod(k * d + (d - 1), d).value(), Expr(d - 1));
    EXPECT_EQ(layout::floor_div(k * (3 * d), d).value(), k * 3);
  }
  // Digits that cannot carry: 4·k + w over 4.
  EXPECT_EQ(layout::floor_div(k * 4 + w, 4).value(), k);
  EXPECT_EQ(layout::floor_mod(k * 4 + w, 4).value(), w);
  EXPECT_EQ(layout::floor_div(k * 16 + w * 4 + 3, 4).value(), k * 4 + w);
  EXPECT_EQ(layout::floor_div(k * 4 + w * 2, 4).value(), k + layout::floor_div(w, 2).value());
  // One that can carry: whether 2·k and 2·w together pass a multiple of 4 depends on both.
  EXPECT_FALSE(layout::floor_div(k * 2 + w * 2, 4));
}

TEST(LawsExpr, BadSymbolsAreRefused) {
  EXPECT_FALSE(Sym::make("", {0, 1}));
  EXPECT_FALSE(Sym::make("2k", {0, 1}));
  EXPECT_FALSE(Sym::make("a b", {0, 1}));
  EXPECT_FALSE(Sym::make("k", {1, 0}));
  EXPECT_FALSE(Sym::make("k", {0, 1}, 0));
  EXPECT_FALSE(Sym::make("k", {0, 1}, -2));
}

}  // namespace
}  // namespace ww::test::laws_expr_test
