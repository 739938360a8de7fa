// SPDX-License-Identifier: Apache-2.0
#include "ir/simplify/simplify.h"

#include <gtest/gtest.h>

#include <map>

#include "ir/print/print.h"
#include "ir/test_programs.h"

namespace ww::ir::simplify_simplify_test {
namespace {

using num::DType;
using test::Builder;

// Expressions written as C++: `v("w") * 32 + v("l")`.
class Simplify : public testing::Test {
 protected:
  struct Node {
    Simplify* at;
    ExprId id;
    Node two(ExprOp op, Node other) const {
      return {at, binary(at->b.f, op, {id, false}, {other.id, false}).value()};
    }
    Node two(ExprOp op, std::int64_t n) const { return two(op, at->number(n, at->b.f[id].type)); }
    friend Node operator+(Node x, auto y) { return x.two(ExprOp::Add, y); }
    friend Node operator-(Node x, auto y) { return x.two(ExprOp::Sub, y); }
    friend Node operator*(Node x, auto y) { return x.two(ExprOp::Mul, y); }
    friend Node operator/(Node x, auto y) { return x.two(ExprOp::FloorDiv, y); }
    friend Node operator%(Node x, auto y) { return x.two(ExprOp::FloorMod, y); }
    friend Node operator<(Node x, auto y) { return x.two(ExprOp::Lt, y); }
    friend Node operator==(Node x, auto y) { return x.two(ExprOp::Eq, y); }
  };

  VarId var(const std::string& name, Range range, std::int64_t step = 1,
            DType dtype = DType::Int32) {
    const VarId id = b.param(name, Type::of(dtype));
    facts.set_range(id, range);
    facts.set_divisor(id, step);
    vars[name] = id;
    return id;
  }
  Node v(const std::string& name) { return {this, var_ref(b.f, vars.at(name))}; }
  Node number(std::int64_t value, Type type = Type::of(DType::Int32)) {
    return {this, int_imm(b.f, type.dtype, value)};
  }
  // The operation as index arithmetic; its operands stay what they are.
  Node index(Node node) {
    b.f.at(node.id).no_wrap = true;
    return node;
  }
  std::string text(Node node) { return print(b.f, simplify(b.f, node.id, facts)); }
  Range range(Node node) const { return range_of(b.f, node.id, facts); }
  std::int64_t divisor(Node node) const { return divisor_of(b.f, node.id, facts); }

  Simplify() {
    var("i", {0, 7});
    var("j", {0, 15});
    var("w", {0, 3});
    var("l", {0, 31});
    var("x", {-100, 100});
    var("y", {-100, 100});
    var("m", {0, 1024}, 16);
    const VarId n = b.param("n", Type::of(DType::Int32));
    vars["n"] = n;
  }

  Builder b;
  Facts facts;
  std::map<std::string, VarId> vars;
};

TEST_F(Simplify, SumsAreCollected) {
  EXPECT_EQ(text(v("x") + 0), "x");
  EXPECT_EQ(text(v("x") * 1), "x");
  EXPECT_EQ(text(v("x") - v("x")), "0");
  EXPECT_EQ(text(v("x") + v("y") - v("x")), "y");
  EXPECT_EQ(text(number(3) + v("x") + 4), "x + 7");
  EXPECT_EQ(text(v("x") * 4 + v("x") * 4), "x * 8");
  EXPECT_EQ(text((v("x") + v("y")) * 4 + v("i")), "(x + y) * 4 + i");
  EXPECT_EQ(text(number(0) - v("x") + v("y")), "y - x");
  EXPECT_EQ(text(v("x") * v("y") - v("y") * v("x")), "0");
  EXPECT_EQ(text((v("x") * 2) * (v("y") * 3)), "x * y * 6");
  EXPECT_EQ(text(v("l") + v("w") * 32), "w * 32 + l");
}

// Expressions that are as simple as they get stay what they are.
TEST_F(Simplify, OneSumBecomesOneExpression) {
  Simplifier simplifier(b.f, facts);
  const ExprId made = simplifier.simplify((number(1) + v("y") / 8 + v("x") * 4).id);
  EXPECT_EQ(print(b.f, made), "x * 4 + y // 8 + 1");
  EXPECT_EQ(simplifier.simplify((v("y") / 8 + 1 + v("x") * 4).id), made);
  EXPECT_EQ(simplifier.simplify(made), made);
  EXPECT_NE(simplifier.simplify((number(2) + v("y") / 8 + v("x") * 4).id), made);
}

TEST_F(Simplify, DivisionsByNumbers) {
  EXPECT_EQ(text((v("w") * 32 + v("l")) / 32), "w");
  EXPECT_EQ(text((v("w") * 32 + v("l")) % 32), "l");
  EXPECT_EQ(text((v("x") * 32 + v("y")) / 32), "y // 32 + x");
  EXPECT_EQ(text((v("x") / 4) / 8), "x // 32");
  EXPECT_EQ(text(v("x") / 8 * 8 + v("x") % 8), "x");
  EXPECT_EQ(text(v("x") - v("x") / 8 * 8), "x % 8");
  EXPECT_EQ(text((v("x") % 32) % 8), "x % 8");
  EXPECT_EQ(text((v("x") % 32) / 8), "x // 8 % 4");
  EXPECT_EQ(text(v("i") % 8), "i");
  EXPECT_EQ(text(v("i") / 8), "0");
  EXPECT_EQ(text((v("x") * 8 + v("y")) % 8), "y % 8");
  EXPECT_EQ(text((v("i") * 16 + v("w") * 4 + 3) / 4), "i * 4 + w");
  EXPECT_EQ(text((v("x") * 4 + v("w")) / 8), "x // 2");
  EXPECT_EQ(text((v("x") * 4 + v("w")) % 8), "x % 2 * 4 + w");
  EXPECT_EQ(text(v("m") % 16), "0");
  EXPECT_EQ(text((v("m") + v("j")) / 16), "m // 16");
  EXPECT_EQ(text((v("m") + v("j")) % 16), "j");
  EXPECT_EQ(text((v("x") * 4 + 7) / 4), "x + 1");
}

TEST_F(Simplify, OtherDivisionsAndBits) {
  EXPECT_EQ(text(v("l").two(ExprOp::TruncDiv, 4)), "l // 4");
  EXPECT_EQ(text(v("l").two(ExprOp::TruncMod, 4)), "l % 4");
  EXPECT_EQ(text(v("x").two(ExprOp::TruncDiv, 4)), "T.truncdiv(x, 4)");
  EXPECT_EQ(text(v("x").two(ExprOp::BitAnd, 31)), "x % 32");
  EXPECT_EQ(text(v("l").two(ExprOp::BitAnd, 31)), "l");
  EXPECT_EQ(text(v("x").two(ExprOp::Shl, 3)), "x * 8");
  EXPECT_EQ(text(v("x").two(ExprOp::Shr, 3)), "x // 8");
  EXPECT_EQ(text((v("w") * 32).two(ExprOp::BitOr, v("l"))), "w * 32 + l");
  EXPECT_EQ(text((v("w") * 32).two(ExprOp::BitXor, v("l"))), "w * 32 + l");
  EXPECT_EQ(text(v("l").two(ExprOp::BitXor, 1)), "l ^ 1");
}

TEST_F(Simplify, MinAndMax) {
  EXPECT_EQ(text(v("i").two(ExprOp::Min, 7)), "i");
  EXPECT_EQ(text(v("i").two(ExprOp::Max, v("i") + 1)), "i + 1");
  EXPECT_EQ(text(v("x").two(ExprOp::Min, v("y"))), "T.min(x, y)");
}

TEST_F(Simplify, Comparisons) {
  EXPECT_EQ(text(v("i") < 8), "T.bool(True)");
  EXPECT_EQ(text(v("i") == 9), "T.bool(False)");
  EXPECT_EQ(text(v("x") + 3 < v("y") + 5), "x < y + 2");
  EXPECT_EQ(text(v("x") - v("y") < 0), "x < y");
  EXPECT_EQ(text((v("x") + 1).two(ExprOp::Le, v("y"))), "x < y");
  EXPECT_EQ(text(v("x") * 4 < 13), "x < 4");
  EXPECT_EQ(text(v("x") * 4 == 13), "T.bool(False)");
  EXPECT_EQ(text(v("m") == v("m") + 8), "T.bool(False)");
  EXPECT_EQ(text(number(3) < v("x")), "x > 3");
  const Node opposite{this, unary(b.f, ExprOp::Not, {(v("x") < v("y")).id, false}).value()};
  EXPECT_EQ(text(opposite), "x >= y");
  EXPECT_EQ(text((v("i") < 8).two(ExprOp::And, v("x") < v("y"))), "x < y");
  EXPECT_EQ(text((v("i") < 8).two(ExprOp::Or, v("x") < v("y"))), "T.bool(True)");
}

TEST_F(Simplify, Choices) {
  const auto choice = [&](Node c, Node yes, Node no) -> Node {
    return {this, choose(b.f, ExprOp::Select, c.id, {yes.id, false}, {no.id, false}).value()};
  };
  EXPECT_EQ(text(choice(v("i") < 8, v("x"), v("y"))), "x");
  EXPECT_EQ(text(choice(v("i") == 9, v("x"), v("y"))), "y");
  EXPECT_EQ(text(choice(v("x") < v("y"), v("i") + 0, v("i"))), "i");
}

// A difference of unsigned numbers is known modulo 2^bits, and its cast is the cast of its value.
TEST_F(Simplify, CastsOfUnsignedDifferences) {
  var("zero", {0, 0}, 1, DType::Uint16);
  const Node minus_one = v("zero") - 1;
  const auto cast_to = [&](DType type) {
    return text(Node{this, cast(b.f, minus_one.id, Type::of(type)).value()});
  };
  EXPECT_EQ(cast_to(DType::Int32), "65535");
  EXPECT_EQ(cast_to(DType::Uint64), "T.uint64(65535)");
  EXPECT_EQ(cast_to(DType::Int8), "T.int8(-1)");
}

TEST_F(Simplify, CastsThatFit) {
  const auto to = [&](Node node, DType dtype) -> Node {
    return {this, cast(b.f, node.id, Type::of(dtype)).value()};
  };
  EXPECT_EQ(text(to(to(v("x"), DType::Int64), DType::Int32)), "x");
  EXPECT_EQ(range(to(v("x"), DType::Int64)), (Range{-100, 100}));
  EXPECT_EQ(range(to(v("x"), DType::Uint32)), (Range{0, 0xffffffff}));
  EXPECT_NE(text(to(to(v("n"), DType::Int8), DType::Int32)), "n");
}

// `n` is any int32.
TEST_F(Simplify, ValuesWrap) {
  EXPECT_EQ(text(v("n") + 1 - 1), "n");
  EXPECT_EQ(text(v("n") * 4 / 4), "n * 4 // 4");
  EXPECT_EQ(text((v("n") + 1) / 4 - v("n") / 4), "(n + 1) // 4 - n // 4");
  EXPECT_EQ(text(v("n") * 1103515245 % 1000), "n * 1103515245 % 1000");
  EXPECT_EQ(text(v("n") * 65536 * 65536), "0");
  EXPECT_EQ(text(v("n") * 65537 * 65537), "n * 131073");
  EXPECT_EQ(text(v("n") - v("x") < 50), "n - x < 50");
  EXPECT_EQ(text(v("n") < v("n") + 1), "n < n + 1");
  EXPECT_EQ(text(v("n") + 1 == v("n") + 1), "T.bool(True)");
  EXPECT_EQ(text(v("n").two(ExprOp::Max, v("n") + 1)), "T.max(n, n + 1)");
  EXPECT_EQ(decide(b.f, (v("l") * 1103515245 + 12345 < 0).id, facts), std::nullopt);
  // A power of two divides 2^32: what wraps does not show in the remainder.
  EXPECT_EQ(text((v("n") * 64 + v("l")) % 32), "l");
  EXPECT_EQ(text((v("n") * 64 + v("l") * 2).two(ExprOp::BitAnd, 63)), "l * 2");
  EXPECT_EQ(text((v("n") * 6 + v("i") / 8) % 6), "n * 6 % 6");
  EXPECT_EQ(divisor(v("n") * 12), 4);
}

TEST_F(Simplify, NarrowValuesWrapAtTheirWidth) {
  var("a", {-128, 127}, 1, DType::Int8);
  var("c", {-128, 127}, 1, DType::Int8);
  const auto small = [&](std::int64_t n) { return number(n, Type::of(DType::Int8)); };
  EXPECT_EQ(text((v("a") - v("c")).two(ExprOp::Gt, small(50))), "a - c > T.int8(50)");
  EXPECT_EQ(range(v("a") - v("c")), (Range{-128, 127}));
  EXPECT_EQ(text(v("a") * small(100) + v("a") * small(100)), "a * T.int8(-56)");
}

TEST_F(Simplify, IndicesDoNot) {
  const Node scaled = index(v("n") * 4);
  EXPECT_EQ(text(scaled / 4), "n");
  EXPECT_EQ(text(index(scaled + v("w")) / 4), "n");
  EXPECT_EQ(text(index(index(scaled + v("w")) < v("n"))), "n * 3 + w < 0");
  EXPECT_EQ(divisor(index(v("n") * 12)), 12);
  // What was only congruent before stays that.
  EXPECT_EQ(text(index(v("n") * 4 + v("w")) / 4), "(n * 4 + w) // 4");
  // An index is one where it stands; the same sum elsewhere wraps.
  EXPECT_EQ(text((v("n") * 4 / 4).two(ExprOp::Sub, scaled / 4)), "n * 4 // 4 - n");
}

// What was simplified before changes nothing, whatever the order.
TEST_F(Simplify, ManyExpressionsOfOneFunction) {
  const std::vector<Node> nodes = {(v("i") * 8 + v("j")) / 8,
                                   v("j") + v("w") * 16,
                                   (v("w") * 16 + v("j")) / 16,
                                   v("n") * 4 + v("w") + v("n") * 4,
                                   (v("w") * 16 + v("j")) % 16 < v("i"),
                                   v("w") + v("j") * 2 + v("i")};
  for (const bool is_reversed : {false, true}) {
    Simplifier many(b.f, facts);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const Node& node = nodes[is_reversed ? nodes.size() - 1 - k : k];
      EXPECT_EQ(print(b.f, many.simplify(node.id)), text(node));
      EXPECT_EQ(print(b.f, many.simplify(node.id)), text(node));
    }
  }
}

// What simplifying writes is index arithmetic again.
TEST_F(Simplify, PromisesAreKept) {
  const Node sum = index(index(index(v("n") * 4) + v("w")) + index(v("n") * 4));
  const ExprId out = simplify(b.f, sum.id, facts);
  EXPECT_EQ(print(b.f, out), "n * 8 + w");
  EXPECT_TRUE(b.f[out].no_wrap);
  EXPECT_TRUE(b.f[b.f[out].args[0]].no_wrap);
  const ExprId value = simplify(b.f, (v("n") * 4 + v("w") + v("n") * 4).id, facts);
  EXPECT_FALSE(b.f[value].no_wrap);
}

TEST_F(Simplify, TheLeastNumber) {
  const std::int64_t least = -(1LL << 31);
  var("low", {least, least + 3});
  const Node minus{this, unary(b.f, ExprOp::Neg, {v("low").id, false}).value()};
  EXPECT_EQ(range(minus), (Range{least, -least - 1}));
  EXPECT_EQ(range(v("low").two(ExprOp::TruncDiv, -1)), (Range{least, -least - 1}));
  const ExprId low = v("low").id;
  const Node size{this, call(b.f, Intrinsic::Abs, std::span(&low, 1)).value()};
  EXPECT_EQ(range(size), (Range{least, -least - 1}));
  // By what may be 0 the remainder is the dividend.
  EXPECT_EQ(range(v("low").two(ExprOp::TruncMod, v("i"))), (Range{least, -least - 1}));
}

TEST_F(Simplify, UnsignedNumbersMayWrap) {
  var("u", {0, 10}, 1, DType::Uint32);
  EXPECT_EQ(range(v("u") - 1), (Range{0, 0xffffffff}));
  EXPECT_EQ(range(v("u") + 1), (Range{1, 11}));
  EXPECT_EQ(text(v("u") - 1 + 1), "u");
  EXPECT_EQ(text((v("u") * 4 + 3) / 4), "u");
}

TEST_F(Simplify, RangesAndDivisors) {
  EXPECT_EQ(range(v("w") * 32 + v("l")), (Range{0, 127}));
  EXPECT_EQ(range(v("x") % 8), (Range{0, 7}));
  EXPECT_EQ(range(v("x") / 8), (Range{-13, 12}));
  EXPECT_EQ(range(v("m") % 64), (Range{0, 48}));
  EXPECT_EQ(range(v("x") - v("x")), (Range{0, 0}));
  EXPECT_EQ(range(v("n") - 1), (Range{-(1LL << 31), (1LL << 31) - 1}));
  EXPECT_EQ(range(index(v("n") - 1)).min, -(1LL << 31) - 1);
  EXPECT_EQ(divisor(v("m") * 4 + 32), 32);
  EXPECT_EQ(divisor(v("x") * 12), 12);
  EXPECT_EQ(divisor(v("x") - v("x")), 0);
  EXPECT_EQ(divisor(v("m") / 4), 4);
}

// Of numbers of every sign, by numbers that are not 0: against all quotients there are.
TEST_F(Simplify, RangesOfQuotientsAreExact) {
  const Range dividends[] = {{0, 0}, {5, 9}, {-9, -5}, {-7, 3}, {-3, 7}, {0, 8}, {-8, 0}};
  const Range divisors[] = {{1, 1}, {2, 3}, {3, 7}, {-1, -1}, {-3, -2}, {-7, -3}, {9, 20}};
  for (const Range x : dividends)
    for (const Range y : divisors) {
      Range floors{100, -100}, truncated{100, -100};
      for (std::int64_t a = x.min; a <= x.max; ++a)
        for (std::int64_t c = y.min; c <= y.max; ++c) {
          const std::int64_t toward_zero = a / c;
          const bool is_lower = a % c != 0 && (a < 0) != (c < 0);
          const std::int64_t down = toward_zero - (is_lower ? 1 : 0);
          floors = {std::min(floors.min, down), std::max(floors.max, down)};
          truncated = {std::min(truncated.min, toward_zero), std::max(truncated.max, toward_zero)};
        }
      var("a", x);
      var("c", y);
      SCOPED_TRACE(testing::Message()
                   << x.min << ".." << x.max << " by " << y.min << ".." << y.max);
      EXPECT_EQ(range(v("a") / v("c")), floors);
      EXPECT_EQ(range(v("a").two(ExprOp::TruncDiv, v("c"))), truncated);
    }
}

TEST_F(Simplify, GreatNumbersSaturate) {
  const VarId big = b.param("big", Type::of(DType::Int64));
  vars["big"] = big;
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_EQ(range(v("big")), (Range{-far, far}));
  EXPECT_EQ(range(v("big") - 10), (Range{-far, far}));
  EXPECT_EQ(range(v("big") * 1000), (Range{-far, far}));
  EXPECT_EQ(decide(b.f, (v("big") < (far - 1)).id, facts), std::nullopt);
  EXPECT_EQ(text(v("big") * (far - 1) * 4 - v("big") * (far - 1) * 4).empty(), false);
}

TEST_F(Simplify, Decides) {
  EXPECT_EQ(decide(b.f, (v("w") * 32 + v("l") < 128).id, facts), true);
  EXPECT_EQ(decide(b.f, (v("w") * 32 + v("l") < 0).id, facts), false);
  EXPECT_EQ(decide(b.f, (v("x") < 0).id, facts), std::nullopt);
}

TEST_F(Simplify, NamesStandForValues) {
  const Node t = v("n");
  const VarId wid = b.param("wid", Type::of(DType::Int32));
  const VarId lane = b.param("lane", Type::of(DType::Int32));
  vars["wid"] = wid;
  vars["lane"] = lane;
  facts.set_value(wid, (t / 32).id);
  facts.set_value(lane, (t % 32).id);
  EXPECT_EQ(text(v("wid") * 32 + v("lane")), "n");
  EXPECT_EQ(text(v("wid") * 64 + v("lane")), "wid * 64 + lane");
  EXPECT_EQ(range(v("lane")), (Range{0, 31}));
}

TEST_F(Simplify, WhatIsNoIndexIsKept) {
  const BufferId a = b.matched("A", {64}, DType::Float32);
  const Node element{this, b.at(a, {((v("w") * 32 + v("l")) / 32 + 0).id})};
  EXPECT_EQ(text(element + element), "A[w] + A[w]");
  const BufferId counter = b.matched("C", {1}, DType::Int32);
  const ExprId pointer = b.address(counter, {b.n(0)});
  const Node added{this, b.call(Intrinsic::AtomicAdd, {pointer, b.n(1)})};
  EXPECT_EQ(b.f[simplify(b.f, (added - added).id, facts)].op, ExprOp::Sub);
  EXPECT_EQ(range(added - added), range(added));
}

TEST_F(Simplify, SharedPartsTakeNoLonger) {
  Node x = v("x");
  for (int k = 0; k < 25; ++k) x = x + x;  // 2^26 nodes when written out
  EXPECT_EQ(text(x), "x * 33554432");
  for (int k = 0; k < 30; ++k) x = x + x;
  EXPECT_EQ(range(x), (Range{0, 0}));  // all bits are shifted out
  x = v("x");
  for (int k = 0; k < 55; ++k) x = index(x + x);
  EXPECT_EQ(range(x), (Range{-(100LL << 55), 100LL << 55}));
}

TEST_F(Simplify, RangesOfManyExpressionsAreThoseOfEach) {
  const VarId warp = b.param("warp", Type::of(DType::Int32));
  facts.set_range(warp, {0, 2});
  facts.set_value(warp, (v("l") / 8).id);
  vars["warp"] = warp;
  const Ranges ranges(b.f, facts);
  const auto same = [&](Node node) {
    EXPECT_EQ(ranges.range(node.id), range(node)) << print(b.f, node.id);
    EXPECT_EQ(ranges.divisor(node.id), divisor(node)) << print(b.f, node.id);
  };
  const Node base = v("w") * 32 + v("l");
  for (const Node node : {base, base / 32, base % 32, base * 4 + 2, v("m") + base * 16, number(12)})
    same(node);
  // The name is known better than what it stands for; both count.
  same(v("warp") * 4);
  EXPECT_EQ(ranges.range((v("warp") * 4).id), (Range{0, 8}));
  // New expressions and variables of a function that grows.
  var("late", {0, 63}, 4);
  same(v("late") + base * 4);
  same(v("late") < 64);
}

TEST_F(Simplify, SubstitutesVariables) {
  const Node sum = v("x") * 4 + v("y");
  const ExprId five = b.n(5);
  const ExprId out =
      substitute(b.f, sum.id, [&](VarId id) { return id == vars.at("y") ? five : ExprId{}; });
  EXPECT_EQ(print(b.f, out), "x * 4 + 5");
  EXPECT_EQ(substitute(b.f, sum.id, [](VarId) { return ExprId{}; }), sum.id);
}

// Names that stand for expressions with names, far more of them than a stack holds.
TEST_F(Simplify, EndlessChainsOfNames) {
  ExprId last = v("i").id;
  for (int i = 0; i < 20'000; ++i) {
    const VarId name = b.param("p", Type::of(DType::Int32));
    facts.set_value(name, (Node{this, last} * 3 + 1).id);
    last = var_ref(b.f, name);
  }
  const Node remainder = Node{this, last} % 64;
  EXPECT_EQ(range(remainder), (Range{0, 63}));
  EXPECT_EQ(range(Node{this, simplify(b.f, remainder.id, facts)}), (Range{0, 63}));
}

// Each part is read once, however often it is used and whatever stands around it.
TEST_F(Simplify, SharedPartsOnce) {
  Node sum = v("x");
  for (int i = 0; i < 200; ++i) sum = (sum * sum + sum) % 64;
  EXPECT_EQ(range(sum), (Range{0, 63}));
  EXPECT_TRUE(simplify(b.f, sum.id, facts).valid());
}

TEST(SimplifyFacts, OfAFunction) {
  Builder b;
  const VarId cta = b.id(ScopeIdKind::CtaId, "cta", 6);
  const VarId tid = b.id(ScopeIdKind::ThreadId, "tid", 128);
  const VarId warp = b.id(ScopeIdKind::WarpId, "warp", 0);
  const VarId lane = b.id(ScopeIdKind::LaneId, "lane", 0);
  const VarId i = b.loop("i", 10);
  const VarId half = b.bind("half", b.div(b.var(i), 2));
  b.end();
  const Function f = b.done();
  const Facts facts = facts_of(f);
  EXPECT_EQ(facts.range(cta), (Range{0, 5}));
  EXPECT_EQ(facts.range(tid), (Range{0, 127}));
  EXPECT_EQ(facts.range(warp), (Range{0, 3}));
  EXPECT_EQ(facts.range(lane), (Range{0, 31}));
  EXPECT_EQ(facts.range(i), (Range{0, 9}));
  EXPECT_EQ(facts.range(half), (Range{0, 4}));
  EXPECT_TRUE(facts.value(half).valid());
}

}  // namespace
}  // namespace ww::ir::simplify_simplify_test
