// SPDX-License-Identifier: Apache-2.0
// Formulas that are recovered from tables, evaluated again for every entry.
#include "lower/index_formula.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "ir/launch/thread_values.h"
#include "ir/print/print.h"

namespace ww::lower::address_form_test {
namespace {

using ir::ExprId;
using ir::VarId;

/// A function with two variables to write formulas over.
class Sheet {
 public:
  Sheet(std::int64_t threads, std::int64_t rounds) : code(f, facts, {}) {
    u = f.add(ir::Var{.name = "u", .type = ir::Type::of(num::DType::Int32)});
    k = f.add(ir::Var{.name = "k", .type = ir::Type::of(num::DType::Int32)});
    facts.set_range(u, {0, threads - 1});
    facts.set_range(k, {0, std::max<std::int64_t>(0, rounds - 1)});
  }

  std::int64_t value(ExprId expr, std::int64_t at_u, std::int64_t at_k) {
    const ExprId put = ir::substitute(f, expr, [&](VarId var) {
      return ir::int_imm(f, num::DType::Int32, var == u ? at_u : at_k);
    });
    const auto number = ir::const_int(f, ir::simplify(f, fold(put), facts));
    EXPECT_TRUE(number) << ir::print(f, put);
    return number.value_or(-1);
  }

  ir::Function f;
  ir::Facts facts;
  CodeWriter code;
  VarId u, k;

 private:
  // Constants all the way: built again, so that they fold.
  ExprId fold(ExprId id) {
    const ir::Expr e = f[id];
    if (e.args.size() != 2) return id;
    const ExprId a = fold(e.args[0]);
    const ExprId b = fold(e.args[1]);
    return ir::binary(f, e.op, {.expr = a}, {.expr = b}).value();
  }
};

TEST(AddressForm, DigitsOfWholeTables) {
  const std::vector<std::vector<std::int64_t>> tables = {{5},
                                                         {0, 1, 2, 3},
                                                         {7, 7, 7},
                                                         {0, 8, 1, 9, 2, 10, 3, 11},
                                                         {0, 1, 2, 10, 11, 12, 20, 21, 22},
                                                         {3, 2, 1, 0}};
  for (const auto& table : tables) {
    const auto form = fit_table(table);
    ASSERT_TRUE(form);
    Sheet sheet(static_cast<std::int64_t>(table.size()), 1);
    const ExprId expr = digits_expr(sheet.code, *form, sheet.code.var(sheet.u));
    for (std::size_t i = 0; i < table.size(); ++i)
      EXPECT_EQ(sheet.value(expr, static_cast<std::int64_t>(i), 0), table[i]);
  }
  EXPECT_FALSE(fit_table(std::vector<std::int64_t>{0, 1, 3, 7}));
}

TEST(AddressForm, EntriesThatDoNotCount) {
  // Every fourth of 32; the first ten; lanes of which bit 2 is set.
  const std::vector<std::pair<std::function<bool(int)>, std::function<std::int64_t(int)>>> rows = {
      {[](int i) { return i % 4 == 0; }, [](int i) { return i * 5; }},
      {[](int i) { return i < 10; }, [](int i) { return i / 5 * 100 + i % 5; }},
      {[](int i) { return (i & 4) != 0; }, [](int i) { return 7 + (i & 3) + (i >> 3) * 40; }},
      {[](int i) { return i == 9; }, [](int) { return 3; }}};
  for (const auto& [counts, value] : rows) {
    std::vector<std::int64_t> table;
    std::vector<bool> used;
    for (int i = 0; i < 32; ++i) {
      used.push_back(counts(i));
      table.push_back(counts(i) ? value(i) : -77);
    }
    const auto form = fit_table(table, used);
    ASSERT_TRUE(form);
    Sheet sheet(32, 1);
    const ExprId expr = digits_expr(sheet.code, *form, sheet.code.var(sheet.u));
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(counts(i) ? sheet.value(expr, i, 0) : 0, counts(i) ? value(i) : 0) << i;
  }
}

TEST(AddressForm, SetsAsConditions) {
  std::mt19937 random(7);
  std::vector<std::vector<bool>> sets;
  for (const int size : {4, 32, 48, 128}) {
    for (int i = 0; i < 12; ++i) {
      std::vector<bool> set;
      const auto period = 1U << (random() % 6);
      const auto below = 1 + random() % period;
      for (int u = 0; u < size; ++u) set.push_back(static_cast<unsigned>(u) % period < below);
      sets.push_back(set);
    }
    std::vector<bool> any;
    for (int u = 0; u < size; ++u) any.push_back(u == 1 || random() % 3 == 0);
    sets.push_back(any);
  }
  for (const auto& set : sets) {
    Sheet sheet(static_cast<std::int64_t>(set.size()), 1);
    const ExprId expr = member_expr(sheet.code, sheet.code.var(sheet.u), set);
    for (std::size_t u = 0; u < set.size(); ++u)
      EXPECT_EQ(!expr.valid() || sheet.value(expr, static_cast<std::int64_t>(u), 0) != 0, set[u]);
  }
}

struct FormRow {
  const char* what;
  AddressForm::Kind kind;
  std::function<std::int64_t(std::int64_t, std::int64_t)> linear;
  layout::Swizzle swizzle;
  std::int64_t base_divisor;
};

TEST(AddressForm, AddressesOfThreadsAndRounds) {
  const auto swizzle = layout::Swizzle::make(3, 3, 3).value();
  using Kind = AddressForm::Kind;
  const std::vector<FormRow> rows = {
      {"one part per thread, one per round",
       Kind::Sum,
       [](auto u, auto k) { return u % 8 * 16 + u / 8 * 8 + k * 512; },
       {},
       4},
      {"rounds that keep the swizzle", Kind::Sum,
       [](auto u, auto k) { return u % 8 * 64 + u / 8 * 8 + k * 512; }, swizzle, 0},
      {"rounds that the swizzle turns", Kind::Xor,
       [](auto u, auto k) { return u % 16 * 64 + u / 16 * 8 + k * 16; }, swizzle, 1024},
      {"a base that the swizzle sees, rounds of whole periods", Kind::Sum,
       [](auto u, auto k) { return u * 8 + k * 1024; }, swizzle, 64},
      {"a base that the swizzle sees", Kind::Joint, [](auto u, auto k) { return u * 8 + k * 256; },
       swizzle, 64}};
  for (const FormRow& row : rows) {
    AddressTable table{.threads = 32,
                       .rounds = 4,
                       .linear = {},
                       .used = std::vector<bool>(32, true),
                       .count = 0,
                       .swizzle = row.swizzle,
                       .base_divisor = row.base_divisor};
    for (std::int64_t k = 0; k < 4; ++k)
      for (std::int64_t u = 0; u < 32; ++u) table.linear.push_back(row.linear(u, k));
    const auto form = find_form(table);
    ASSERT_TRUE(form) << row.what;
    EXPECT_EQ(form->kind, row.kind) << row.what;
    for (const std::int64_t base : {std::int64_t{0}, row.base_divisor, 5 * row.base_divisor}) {
      Sheet sheet(32, 4);
      const ExprId u = sheet.code.var(sheet.u);
      const ThreadPart part = thread_part(sheet.code, *form, u, sheet.code.n(base));
      const ExprId at = address_expr(sheet.code, *form, part, u, sheet.code.var(sheet.k), 32);
      for (std::int64_t k = 0; k < 4; ++k)
        for (std::int64_t t = 0; t < 32; ++t)
          ASSERT_EQ(sheet.value(at, t, k), row.swizzle(row.linear(t, k) + base)) << row.what;
    }
  }
}

TEST(AddressForm, BitsThatNoThreadHasAreAdded) {
  // Eight 16-byte pieces of 16 rows; the rounds are two pieces, the next 16 rows, the next panel.
  AddressTable table{.threads = 16,
                     .rounds = 8,
                     .linear = {},
                     .used = std::vector<bool>(16, true),
                     .count = 0,
                     .swizzle = layout::Swizzle::make(3, 3, 3).value(),
                     .base_divisor = 0};
  for (std::int64_t k = 0; k < 8; ++k)
    for (std::int64_t u = 0; u < 16; ++u)
      table.linear.push_back(u * 64 + k % 2 * 16 + k / 2 % 2 * 1024 + k / 4 * 8192);
  const auto form = find_form(table);
  ASSERT_TRUE(form);
  ASSERT_EQ(form->kind, AddressForm::Kind::Xor);
  Sheet sheet(16, 8);
  const ExprId k = sheet.code.var(sheet.k);
  const ExprId flips = digits_expr(sheet.code, form->flips, k);
  const ExprId added = digits_expr(sheet.code, form->round, k);
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(sheet.value(flips, 0, i), i % 2 * 16);
    EXPECT_EQ(sheet.value(added, 0, i), i / 2 % 2 * 1024 + i / 4 * 8192);
  }
}

TEST(AddressForm, IrregularAddressesHaveNoForm) {
  AddressTable table{.threads = 4,
                     .rounds = 1,
                     .linear = {0, 1, 3, 7},
                     .used = std::vector<bool>(4, true),
                     .count = 0,
                     .swizzle = {},
                     .base_divisor = 0};
  EXPECT_FALSE(find_form(table));
}

}  // namespace
}  // namespace ww::lower::address_form_test
