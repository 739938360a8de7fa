// SPDX-License-Identifier: Apache-2.0
// Every tile primitive against its definition.
#include <cmath>

#include "eval/test_kernel.h"
#include "eval/tile/operands.h"

namespace ww::eval::test::tile_ops_test {
namespace {

Numbers apply(TileOp op, DType type, const std::vector<Numbers>& operands) {
  OpKernel k;
  const auto n = static_cast<std::int64_t>(operands[0].size());
  std::vector<std::pair<std::vector<std::int64_t>, DType>> shapes(operands.size() + 1, {{n}, type});
  k.arrays(shapes);
  std::vector<ir::TileArg> args;
  for (std::size_t i = 0; i < shapes.size(); ++i) args.emplace_back(k.all(i));
  k.tile(op, Unit::Warp, std::move(args));
  std::vector<Numbers> inputs{{}};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  const Outcome o = k.run(inputs);
  EXPECT_EQ(o.checks(), "") << o.text();
  return o.arrays[0];
}

double f32(double x) { return static_cast<float>(x); }

// --- copies under conditions ---

struct Conditions {
  TileOp op = TileOp::Copy;
  std::int64_t start = 0;  // of the source region, whose rows are 4 of 6, columns 4 of 3
  bool fills = true;
  std::optional<double> fill_value = {};
  std::optional<bool> predicate = {};
};

// Into a tile of sevens; the source counts from 1.
Outcome copied(const Conditions& c) {
  TestKernel k;
  const BufferId in = k.matched("in", {6, 3}, DType::Float32);
  const BufferId out = k.matched("out", {4, 4}, DType::Float32);
  k.start(1);
  const BufferId s = k.alloc("s", {4, 4}, DType::Float32, Scope::Shared);
  k.tile(TileOp::Fill, Unit::Cta, {k.full(s), k.real(DType::Float32, 7)});
  k.sync();
  const auto id =
      k.tile(c.op, Unit::Cta, {k.full(s), k.part(in, {{k.n(c.start), 4}, {k.n(0), 4}})});
  auto& config = k.f.tile_calls[id.index].config;
  if (c.fills) config.emplace_back("fill_mode", std::string("zero"));
  if (c.fill_value) config.emplace_back("fill_value", *c.fill_value);
  if (c.predicate) config.emplace_back("predicate", k.eq(k.tid(), *c.predicate ? 0 : 1));
  if (c.op == TileOp::CopyAsync) {
    k.ptx("cp.async.commit_group", {});
    k.ptx("cp.async.wait_group", {ir::test::value(k.n(0))});
  }
  k.sync();
  k.tile(TileOp::Copy, Unit::Cta, {k.full(out), k.full(s)});
  return k.run({count_to(18, 1), {}});
}

TEST(EvalTileOp, CopiesUnderConditions) {
  for (const TileOp op : {TileOp::Copy, TileOp::CopyAsync}) {
    const Outcome inside = copied({.op = op});
    EXPECT_EQ(inside.checks(), "") << inside.text();
    EXPECT_EQ(inside.arrays[1], (Numbers{1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 0}));
    const Outcome ends = copied({.op = op, .start = 4});
    EXPECT_EQ(ends.checks(), "") << ends.text();
    EXPECT_EQ(ends.arrays[1], (Numbers{13, 14, 15, 0, 16, 17, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(copied({.op = op, .start = 100}).arrays[1], Numbers(16, 0));
    EXPECT_EQ(copied({.op = op, .start = 4, .predicate = true}).arrays[1], ends.arrays[1]);
    EXPECT_EQ(copied({.op = op, .predicate = false}).arrays[1], Numbers(16, 0));
    // Nothing is copied, wherever the source is.
    const Outcome kept = copied({.op = op, .start = -1, .fills = false, .predicate = false});
    EXPECT_EQ(kept.checks(), "") << kept.text();
    EXPECT_EQ(kept.arrays[1], Numbers(16, 7));
    const Outcome begins = copied({.op = op, .start = -1});
    EXPECT_EQ(begins.checks(), "") << begins.text();
    EXPECT_EQ(begins.arrays[1], (Numbers{0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0}));
    EXPECT_EQ(copied({.op = op, .start = -100}).arrays[1], Numbers(16, 0));
    // Without zeros to fill in it is a fault.
    EXPECT_EQ(copied({.op = op, .start = 4, .fills = false}).checks(), "bounds");
    EXPECT_EQ(copied({.op = op, .start = -1, .fills = false}).checks(), "bounds");
  }
}

// Another value than zero; without it, or without `clip`, leaving a buffer is a fault.
TEST(EvalTileOp, CopiesWithAFillValue) {
  for (const TileOp op : {TileOp::Copy, TileOp::CopyAsync}) {
    const Outcome ends = copied({.op = op, .start = 4, .fills = false, .fill_value = 0.5});
    EXPECT_EQ(ends.checks(), "") << ends.text();
    EXPECT_EQ(ends.arrays[1],
              (Numbers{13, 14, 15, .5, 16, 17, 18, .5, .5, .5, .5, .5, .5, .5, .5, .5}));
    EXPECT_EQ(copied({.op = op, .fills = false, .fill_value = 0.5, .predicate = false}).arrays[1],
              Numbers(16, 0.5));
  }
  for (const bool clips : {false, true}) {
    TestKernel k;
    const BufferId in = k.matched("in", {4}, DType::Float32);
    const BufferId out = k.matched("out", {5}, DType::Float32);
    k.start(1);
    const auto id = k.tile(TileOp::Copy, Unit::Cta, {k.part(out, {{k.n(3), 4}}), k.full(in)});
    k.f.tile_calls[id.index].config.emplace_back("clip", clips);
    const Outcome o = k.run({count_to(4, 1), Numbers(5, 7)});
    EXPECT_EQ(o.checks(), clips ? "" : "bounds") << o.text();
    if (clips) {
      EXPECT_EQ(o.arrays[1], (Numbers{7, 7, 7, 1, 2}));
    }
  }
}

TEST(EvalTileOp, APredicateOfSingleThreadsIsFound) {
  TestKernel k;
  const BufferId in = k.matched("in", {4}, DType::Float32);
  k.start(2);
  const BufferId s = k.alloc("s", {4}, DType::Float32, Scope::Shared);
  const auto id = k.tile(TileOp::Copy, Unit::Cta, {k.full(s), k.full(in)});
  k.f.tile_calls[id.index].config.emplace_back("predicate", k.eq(k.tid(), 0));
  const Outcome o = k.run({count_to(4)});
  EXPECT_EQ(o.checks(), "operand");
  EXPECT_EQ(o.text(),
            "`predicate` differs between threads of CTA (0,0,0): 1 in thread 0, 0 in thread 1");
}

// A bool for each element, row or column, in an array of 0 and 1. What is left out is not even read.
TEST(EvalTileOp, CopiesUnderAMask) {
  struct Case {
    std::vector<std::int64_t> shape;
    Numbers bools, kept, filled;
  };
  const std::vector<Case> cases = {
      {{2, 3}, {1, 0, 1, 0, 0, 1}, {1, 7, 3, 7, 7, 6}, {1, .5, 3, .5, .5, 6}},
      {{2, 1}, {0, 1}, {7, 7, 7, 4, 5, 6}, {.5, .5, .5, 4, 5, 6}},
      {{3}, {1, 0, 0}, {1, 7, 7, 4, 7, 7}, {1, .5, .5, 4, .5, .5}}};
  for (const Case& c : cases)
    for (const bool fills : {false, true}) {
      TestKernel k;
      const BufferId in = k.matched("in", {2, 3}, DType::Float32);
      const BufferId mask = k.matched("mask", c.shape, DType::Bool);
      const BufferId out = k.matched("out", {2, 3}, DType::Float32);
      k.start(1);
      const auto id = k.tile(TileOp::Copy, Unit::Cta, {k.full(out), k.full(in), k.full(mask)});
      if (fills) k.f.tile_calls[id.index].config.emplace_back("fill_value", 0.5);
      const Outcome o = k.run({count_to(6, 1), c.bools, Numbers(6, 7)});
      EXPECT_EQ(o.checks(), "") << o.text();
      EXPECT_EQ(o.arrays[2], fills ? c.filled : c.kept);
    }
}

// Nothing is written where the destination has no place.
TEST(EvalTileOp, CopiesIntoRegionsThatStickOut) {
  for (const std::int64_t start : {-2, 0, 3, 9}) {
    TestKernel k;
    const BufferId in = k.matched("in", {4}, DType::Float32);
    const BufferId out = k.matched("out", {5}, DType::Float32);
    k.start(1);
    const auto id = k.tile(TileOp::Copy, Unit::Cta, {k.part(out, {{k.n(start), 4}}), k.full(in)});
    k.f.tile_calls[id.index].config.emplace_back("fill_mode", std::string("zero"));
    const Outcome o = k.run({count_to(4, 1), Numbers(5, 7)});
    EXPECT_EQ(o.checks(), "") << o.text();
    Numbers wanted(5, 7);
    for (std::int64_t i = 0; i < 4; ++i)
      if (start + i >= 0 && start + i < 5)
        wanted[static_cast<std::size_t>(start + i)] = static_cast<double>(i + 1);
    EXPECT_EQ(o.arrays[1], wanted) << start;
  }
}

// --- scalars that differ between threads ---

TEST(EvalTileOp, EachThreadUsesItsOwnScalar) {
  TestKernel k;
  const BufferId out = k.matched("out", {64}, DType::Float32);
  k.start(64);
  const BufferId r = k.alloc("R", {64}, DType::Float32, Scope::Local, "S[64:1@tx]");
  const ExprId own = k.to(DType::Float32, k.div(k.tid(), 32));
  k.tile(TileOp::Fill, Unit::Cta, {k.full(r), own});
  k.tile(TileOp::Fma, Unit::Cta,
         {k.full(r), k.full(r), k.real(DType::Float32, 10), k.to(DType::Float32, k.tid())});
  k.tile(TileOp::Copy, Unit::Cta, {k.full(out), k.full(r)});
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  for (std::size_t t = 0; t < 64; ++t)
    EXPECT_EQ(o.arrays[0][t], static_cast<double>(t + (t < 32 ? 0 : 10))) << t;
}

TEST(EvalTileOp, CopiesOfAnElementMustNotBecomeDifferent) {
  TestKernel k;
  const BufferId out = k.matched("out", {64}, DType::Float32);
  k.start(64);
  const BufferId r =
      k.alloc("R", {32}, DType::Float32, Scope::Local, "S[32:1@laneid] + R[2:1@warpid]");
  k.tile(TileOp::Fill, Unit::Cta, {k.full(r), k.real(DType::Float32, 1)});
  k.tile(TileOp::Mul, Unit::Cta, {k.full(r), k.full(r), k.to(DType::Float32, k.div(k.tid(), 32))});
  k.store(out, {k.tid()}, k.real(DType::Float32, 0));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "replica");
  EXPECT_EQ(
      o.text(),
      "the copies of `R[0]` in thread 0 and thread 32 of CTA (0,0,0) become different: `b` is "
      "0 and 1 there");
}

TEST(EvalTileOp, MemoryTakesOneValueOfAUnit) {
  TestKernel k;
  k.start(64);
  const BufferId s = k.alloc("s", {4}, DType::Float32, Scope::Shared);
  const ExprId own = k.to(DType::Float32, k.div(k.tid(), 32));
  k.tile(TileOp::Fill, Unit::Cta, {k.full(s), k.op(ExprOp::Mul, own, k.real(DType::Float32, 0.5))});
  const Outcome o = k.run({});
  EXPECT_EQ(o.checks(), "operand");
  EXPECT_EQ(o.text(),
            "a scalar operand differs between threads of CTA (0,0,0): 0 in thread 0, 0.5 in "
            "thread 32");
}

TEST(EvalTileOp, FunctionsOfOneOperand) {
  const Numbers x{0.25, 1, 2, 9};
  const auto expect = [&](TileOp op, double (*f)(double)) {
    const Numbers got = apply(op, DType::Float32, {x});
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(got[i], f32(f(x[i]))) << ir::name_of(op);
  };
  expect(TileOp::Sqrt, [](double v) { return std::sqrt(v); });
  expect(TileOp::Exp, [](double v) { return std::exp(v); });
  expect(TileOp::Exp2, [](double v) { return std::exp2(v); });
  expect(TileOp::Log2, [](double v) { return std::log2(v); });
  expect(TileOp::Reciprocal, [](double v) { return 1 / v; });
  expect(TileOp::Silu, [](double v) { return v / (1 + std::exp(-v)); });
  expect(TileOp::Log, [](double v) { return std::log(v); });
  expect(TileOp::Log1p, [](double v) { return std::log1p(v); });
  expect(TileOp::Expm1, [](double v) { return std::expm1(v); });
  expect(TileOp::Rsqrt, [](double v) { return 1 / std::sqrt(v); });
  expect(TileOp::Sin, [](double v) { return std::sin(v); });
  expect(TileOp::Cos, [](double v) { return std::cos(v); });
  expect(TileOp::Tanh, [](double v) { return std::tanh(v); });
  expect(TileOp::Sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); });
  expect(TileOp::Erf, [](double v) { return std::erf(v); });
}

// By values that were computed elsewhere, to ten digits.
TEST(EvalTileOp, Gelu) {
  const auto near = [](TileOp op, double x, double y) {
    EXPECT_NEAR(apply(op, DType::Float64, {{x}})[0], y, 1e-9) << x;
  };
  near(TileOp::Gelu, 1, 0.8413447461);
  near(TileOp::Gelu, -1, -0.1586552539);
  near(TileOp::Gelu, -3, -0.0040496941);
  near(TileOp::GeluTanh, 1, 0.8411919906);
  near(TileOp::GeluTanh, -1, -0.1588080094);
  near(TileOp::GeluTanh, -3, -0.0036373921);
}

TEST(EvalTileOp, NumbersOfOneOperand) {
  const Numbers x{-2.5, -0.4, 0.5, 3};
  EXPECT_EQ(apply(TileOp::Abs, DType::Float64, {x}), (Numbers{2.5, 0.4, 0.5, 3}));
  EXPECT_EQ(apply(TileOp::Neg, DType::Float64, {x}), (Numbers{2.5, 0.4, -0.5, -3}));
  EXPECT_EQ(apply(TileOp::Relu, DType::Float64, {x}), (Numbers{0, 0, 0.5, 3}));
  EXPECT_EQ(apply(TileOp::Floor, DType::Float32, {x}), (Numbers{-3, -1, 0, 3}));
  EXPECT_EQ(apply(TileOp::Ceil, DType::Float32, {x}), (Numbers{-2, 0, 1, 3}));
  EXPECT_EQ(apply(TileOp::Round, DType::Float32, {x}), (Numbers{-3, 0, 1, 3}));
  EXPECT_EQ(apply(TileOp::Abs, DType::Int8, {{-128, -5, 7}}), (Numbers{-128, 5, 7}));
  EXPECT_EQ(apply(TileOp::Neg, DType::Uint8, {{1, 0}}), (Numbers{255, 0}));
  EXPECT_EQ(apply(TileOp::Relu, DType::Int32, {{-3, 4}}), (Numbers{0, 4}));
  EXPECT_EQ(apply(TileOp::BitwiseNot, DType::Uint8, {{1, 0}}), (Numbers{254, 255}));
}

TEST(EvalTileOp, BitsBoundsAndPowers) {
  const Numbers a{12, 10, 255}, b{10, 3, 9};
  EXPECT_EQ(apply(TileOp::BitwiseAnd, DType::Int32, {a, b}), (Numbers{8, 2, 9}));
  EXPECT_EQ(apply(TileOp::BitwiseOr, DType::Int32, {a, b}), (Numbers{14, 11, 255}));
  EXPECT_EQ(apply(TileOp::BitwiseXor, DType::Int32, {a, b}), (Numbers{6, 9, 246}));
  EXPECT_EQ(apply(TileOp::LeftShift, DType::Uint8, {a, b}), (Numbers{0, 80, 0}));
  EXPECT_EQ(apply(TileOp::RightShift, DType::Int8, {{-128, -1}, {3, 100}}), (Numbers{-16, -1}));
  EXPECT_EQ(apply(TileOp::Clamp, DType::Float32, {{-2, 0.5, 9}, {0, 0, 0}, {1, 1, 4}}),
            (Numbers{0, 0.5, 4}));
  EXPECT_EQ(apply(TileOp::Where, DType::Float32, {{0, 2, -1}, {1, 2, 3}, {4, 5, 6}}),
            (Numbers{4, 2, 3}));
  EXPECT_EQ(apply(TileOp::Pow, DType::Float32, {{2, -2, 9}, {10, 3, 0.5}}), (Numbers{1024, -8, 3}));
}

TEST(EvalTileOp, ComparisonsAndLogicGiveBools) {
  const auto decided = [](TileOp op, DType type, const Numbers& a, const Numbers& b) {
    OpKernel k;
    const auto count = static_cast<std::int64_t>(a.size());
    k.arrays({{{count}, DType::Bool}, {{count}, type}, {{count}, type}});
    k.tile(op, Unit::Warp, {k.all(0), k.all(1), k.all(2)});
    return k.run({{}, a, b}).arrays[0];
  };
  const Numbers a{1, -1, 2, NAN}, b{2, -1, 1, 0};
  EXPECT_EQ(decided(TileOp::Less, DType::Float32, a, b), (Numbers{1, 0, 0, 0}));
  EXPECT_EQ(decided(TileOp::LessEqual, DType::Float32, a, b), (Numbers{1, 1, 0, 0}));
  EXPECT_EQ(decided(TileOp::Greater, DType::Float16, a, b), (Numbers{0, 0, 1, 0}));
  EXPECT_EQ(decided(TileOp::GreaterEqual, DType::Float32, a, b), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(decided(TileOp::Equal, DType::Float32, a, b), (Numbers{0, 1, 0, 0}));
  EXPECT_EQ(decided(TileOp::NotEqual, DType::Float32, a, b), (Numbers{1, 0, 1, 1}));
  const Numbers x{0, 0, 4, -2}, y{0, 1, 0, 8};
  EXPECT_EQ(decided(TileOp::LogicalAnd, DType::Int32, x, y), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(decided(TileOp::LogicalOr, DType::Int32, x, y), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(decided(TileOp::LogicalXor, DType::Int32, x, y), (Numbers{0, 1, 1, 0}));
}

TEST(EvalTileOp, FunctionsOfTwoOperands) {
  const Numbers a{1, -2, 3.5, 8};
  const Numbers b{4, 5, -0.5, 2};
  EXPECT_EQ(apply(TileOp::Add, DType::Float32, {a, b}), (Numbers{5, 3, 3, 10}));
  EXPECT_EQ(apply(TileOp::Sub, DType::Float32, {a, b}), (Numbers{-3, -7, 4, 6}));
  EXPECT_EQ(apply(TileOp::Mul, DType::Float16, {a, b}), (Numbers{4, -10, -1.75, 16}));
  EXPECT_EQ(apply(TileOp::Fdiv, DType::Float32, {a, b}), (Numbers{0.25, f32(-0.4), -7, 4}));
  EXPECT_EQ(apply(TileOp::Maximum, DType::Float32, {a, b}), (Numbers{4, 5, 3.5, 8}));
  EXPECT_EQ(apply(TileOp::Minimum, DType::Float32, {a, b}), (Numbers{1, -2, -0.5, 2}));
  EXPECT_EQ(apply(TileOp::Add, DType::Int8, {{127, 1}, {1, 1}}), (Numbers{-128, 2}));
  EXPECT_EQ(apply(TileOp::Fma, DType::Float32, {{2, 3}, {4, 5}, {1, -1}}), (Numbers{9, 14}));
}

TEST(EvalTileOp, ScaleAndBiasComeBeforeTheFunction) {
  OpKernel k;
  k.arrays({{{2, 2}, DType::Float32}, {{2, 2}, DType::Float32}, {{2}, DType::Float32}});
  k.tile(TileOp::Sqrt, Unit::Warp, {k.all(0), k.all(1), k.all(2), k.real(DType::Float32, 2)});
  EXPECT_EQ(k.run({{}, {2, 4, 8, 12}, {0, 1}}).arrays[0], (Numbers{2, 3, 4, 5}));
}

// The product of halves and the product of their float32 values differ in the last place.
TEST(EvalTileOp, ComputesInTheTypeThatOperandsMeetIn) {
  const auto product = [](DType to, DType a, DType b, double x, double y) {
    OpKernel k;
    k.arrays({{{1}, to}, {{1}, a}, {{1}, b}});
    k.tile(TileOp::Mul, Unit::Warp, {k.all(0), k.all(1), k.all(2)});
    return k.run({{}, {x}, {y}}).arrays[0][0];
  };
  // 1.0009765625² = 1.001954078674316…, between two halves, nearer to the lower.
  const double x = 1 + 0x1p-10;
  EXPECT_EQ(product(DType::Float16, DType::Float16, DType::Float16, x, x), 1 + 0x1p-9);
  EXPECT_EQ(product(DType::Float32, DType::Float16, DType::Float16, x, x), x * x);
  // (1 + 2^-12)² = 1 + 2^-11 + 2^-24: in float32 the last term is lost, and with it the way up.
  const double y = 1 + 0x1p-12;
  EXPECT_EQ(product(DType::Float16, DType::Float32, DType::Float32, y, y), 1);
  EXPECT_EQ(product(DType::Float16, DType::Float64, DType::Float64, y, y), 1 + 0x1p-10);
}

TEST(EvalTileOp, SelectChoosesByElement) {
  OpKernel k;
  k.arrays({{{4}, DType::Float32}, {{4}, DType::Float32}, {{4}, DType::Bool}});
  k.tile(TileOp::Select, Unit::Warp, {k.all(0), k.all(1), k.real(DType::Float32, -1), k.all(2)});
  EXPECT_EQ(k.run({{}, {5, 6, 7, 8}, {1, 0, 0, 1}}).arrays[0], (Numbers{5, -1, -1, 8}));
}

TEST(EvalTileOp, FillZeroAndMemset) {
  OpKernel k;
  k.arrays({{{4}, DType::Float16}, {{4}, DType::Int32}, {{4}, DType::Float32}});
  k.tile(TileOp::Fill, Unit::Warp, {k.all(0), k.real(DType::Float32, 1.5)});
  k.tile(TileOp::Memset, Unit::Warp, {k.all(1), k.n(3)});
  k.tile(TileOp::Zero, Unit::Warp, {k.all(2)});
  const Outcome o = k.run({{}, {}, {}});
  EXPECT_EQ(o.arrays[0], Numbers(4, 1.5));
  EXPECT_EQ(o.arrays[1], Numbers(4, 3));
  EXPECT_EQ(o.arrays[2], Numbers(4, 0));
  EXPECT_EQ(o.report.written[2], std::vector<bool>(4, true));
}

TEST(EvalTileOp, CastRoundsToTheOtherType) {
  OpKernel k;
  k.arrays({{{3}, DType::Float16}, {{3}, DType::Float32}});
  k.tile(TileOp::Cast, Unit::Warp, {k.all(0), k.all(1)});
  EXPECT_EQ(
      k.run({{}, {2049, 0.1, 70000}}).arrays[0],
      (Numbers{2048, as_real(DType::Float16, from_real(DType::Float16, f32(0.1))), INFINITY}));
}

TEST(EvalTileOp, InPlaceOperandsAreReadBeforeTheyAreWritten) {
  TestKernel k;
  const BufferId out = k.matched("out", {4}, DType::Float32);
  k.start(32);
  const BufferId s = k.alloc("s", {4}, DType::Float32, Scope::Shared);
  k.tile(TileOp::Fill, Unit::Warp, {k.full(s), k.real(DType::Float32, 9)});
  k.tile(TileOp::Sqrt, Unit::Warp, {k.full(s)});
  k.tile(TileOp::Add, Unit::Warp, {k.full(s), k.full(s), k.full(s)});
  k.tile(TileOp::Copy, Unit::Warp, {k.full(out), k.full(s)});
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();  // elementwise primitives end with a barrier
  EXPECT_EQ(o.arrays[0], Numbers(4, 6));
}

TEST(EvalTileOp, OperandsAreBroadcast) {
  OpKernel k;
  k.arrays({{{2, 3}, DType::Float32}, {{2, 3}, DType::Float32}, {{2, 1}, DType::Float32}});
  k.tile(TileOp::Sub, Unit::Warp, {k.all(0), k.all(1), k.all(2)});
  EXPECT_EQ(k.run({{}, {1, 2, 3, 4, 5, 6}, {1, 4}}).arrays[0], (Numbers{0, 1, 2, 0, 1, 2}));
}

TEST(EvalTileOp, BroadcastMapsStretchUnitExtents) {
  const auto map = [](std::vector<std::int64_t> like, std::vector<std::int64_t> from) {
    return broadcast_map(like, from);
  };
  EXPECT_EQ(map({2, 2}, {1, 2}), (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_EQ(map({2, 2}, {2}), (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_EQ(map({2, 1, 2}, {4}), std::nullopt);
  EXPECT_EQ(map({1, 4}, {4, 1}), (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(EvalTileOp, ReductionsFoldAxes) {
  struct Row {
    TileOp op;
    std::int64_t axis;
    bool accum;
    Numbers expected;
  };
  const Numbers x{3, -1, 4, 1, -5, 9};
  for (const Row& row : {Row{TileOp::Sum, -1, false, {6, 5}}, Row{TileOp::Sum, 1, true, {16, 25}},
                         Row{TileOp::Max, -1, false, {4, 9}}, Row{TileOp::Min, 1, true, {-1, -5}},
                         Row{TileOp::Max, 1, true, {10, 20}}}) {
    OpKernel k;
    k.arrays({{{2}, DType::Float32}, {{2, 3}, DType::Float32}});
    k.tile(row.op, Unit::Warp, {k.all(0), k.all(1), ir::Setting(row.axis), ir::Setting(row.accum)});
    EXPECT_EQ(k.run({{10, 20}, x}).arrays[0], row.expected) << ir::name_of(row.op);
  }
  OpKernel k;
  k.arrays({{{3}, DType::Int32}, {{2, 3}, DType::Int32}});
  k.tile(TileOp::Sum, Unit::Warp,
         {k.all(0), k.all(1), ir::Setting(std::int64_t{0}), ir::Setting(false)});
  EXPECT_EQ(k.run({{}, x}).arrays[0], (Numbers{4, -6, 13}));
}

// 2^24 + 1 is 2^24 in float32: one after the other the sum of these is 2^24, exactly it would be
// 2^24 + 3.
TEST(EvalTileOp, SumsOfFloatsAreMadeLaneByLane) {
  const auto sum = [](const std::string& layout, const std::string& registers, double accum) {
    TestKernel k;
    const BufferId out = k.matched("out", {32}, DType::Float32);
    k.start(32);
    const BufferId r = k.alloc("r", {4}, DType::Float32, Scope::Local, layout);
    const BufferId s = k.alloc("s", {1}, DType::Float32, Scope::Local, "S[1] + R[32:1@laneid]");
    const bool is_own = registers == "own";  // all four in each thread
    const BufferId mine = k.view("mine", r, {is_own ? 4 : 1});
    const BufferId all = k.view("all", s, {1});
    const auto element = [&](ExprId i) {
      return k.op(ExprOp::Add, k.real(DType::Float32, 1),
                  k.op(ExprOp::Mul, k.real(DType::Float32, 16777215),
                       k.to(DType::Float32, k.op(ExprOp::Eq, i, k.n(0)))));
    };
    for (int i = 0; i < (is_own ? 4 : 1); ++i)
      k.store(mine, {k.n(i)}, element(is_own ? k.n(i) : k.tid()));
    k.store(all, {k.n(0)}, k.real(DType::Float32, accum));
    k.tile(TileOp::Sum, Unit::Warp,
           {k.full(s), k.full(r), ir::Setting(std::int64_t{0}), ir::Setting(accum != 0)});
    k.store(out, {k.tid()}, k.at(all, {k.n(0)}));
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), "") << o.text();
    return o.arrays[0][0] - 16777216;
  };
  EXPECT_EQ(sum("S[4:1@laneid]", "lanes", 0), 2);
  EXPECT_EQ(sum("S[4] + R[32:1@laneid]", "own", 0), 0);
  EXPECT_EQ(sum("S[4:1@laneid]", "lanes", 1), 4);  // 2^24 + 3 is a tie, rounded to even
  EXPECT_EQ(sum("S[4] + R[32:1@laneid]", "own", 1), 0);
}

TEST(EvalTileOp, ReductionsOverLanesFillReplicas) {
  TestKernel k;
  const BufferId out = k.matched("out", {32}, DType::Float32);
  k.start(32);
  const BufferId r =
      k.alloc("r", {8, 4}, DType::Float32, Scope::Local, "S[(8,4):(4@laneid,1@laneid)]");
  const BufferId s =
      k.alloc("s", {8}, DType::Float32, Scope::Local, "S[8:4@laneid] + R[4:1@laneid]");
  const BufferId mine = k.view("mine", r, {1});
  const BufferId sum = k.view("sum", s, {1});
  k.store(mine, {k.n(0)}, k.to(DType::Float32, k.tid()));
  k.tile(TileOp::Sum, Unit::Warp, {k.full(s), k.full(r)});
  k.store(out, {k.tid()}, k.at(sum, {k.n(0)}));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  for (std::size_t t = 0; t < 32; ++t)
    EXPECT_EQ(o.arrays[0][t], static_cast<double>(t / 4 * 16 + 6));
}

TEST(EvalTileOp, PermuteLayoutMovesElementsInPlace) {
  TestKernel k;
  const BufferId out = k.matched("out", {4, 8}, DType::Int32);
  k.start(32);
  const BufferId s = k.alloc("s", {4, 8}, DType::Int32, Scope::Shared, "S[(4,8):(8,1)]");
  const BufferId t = k.view("t", s, {4, 8}, "S[(4,8):(1,4)]");
  k.store(s, {k.div(k.tid(), 8), k.mod(k.tid(), 8)}, k.tid());
  k.sync();
  k.tile(TileOp::PermuteLayout, Unit::Warp, {k.full(t), k.full(s)});
  k.store(out, {k.div(k.tid(), 8), k.mod(k.tid(), 8)},
          k.at(t, {k.div(k.tid(), 8), k.mod(k.tid(), 8)}));
  const Outcome o = k.run({{}});
  EXPECT_EQ(o.checks(), "") << o.text();
  EXPECT_EQ(o.arrays[0], count_to(32));
}

}  // namespace
}  // namespace ww::eval::test::tile_ops_test
