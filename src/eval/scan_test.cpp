// SPDX-License-Identifier: Apache-2.0
// Scans in the evaluator: along both axes, inclusive and exclusive, and the order of sums of floats.
#include <gtest/gtest.h>

#include <limits>

#include "eval/test_kernel.h"

namespace ww::eval::test::scan_test {
namespace {

struct Row {
  TileOp op;
  std::int64_t axis;
  bool is_exclusive;
  std::vector<double> expected;
};

TEST(EvalScan, AlongAxes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> x{3, -1, 4, 1, -5, 9};
  for (const Row& row : {Row{TileOp::Cumsum, -1, false, {3, 2, 6, 1, -4, 5}},
                         Row{TileOp::Cumsum, 1, true, {0, 3, 2, 0, 1, -4}},
                         Row{TileOp::Cumsum, 0, false, {3, -1, 4, 4, -6, 13}},
                         Row{TileOp::Cumprod, 1, true, {1, 3, -3, 1, 1, -5}},
                         Row{TileOp::Cummax, 1, false, {3, 3, 4, 1, 1, 9}},
                         Row{TileOp::Cummin, 1, true, {kInfinity, 3, -1, kInfinity, 1, -5}}}) {
    TestKernel k;
    const BufferId out = k.matched("out", {2, 3}, DType::Float32);
    const BufferId in = k.matched("in", {2, 3}, DType::Float32);
    k.start(32);
    k.tile(row.op, Unit::Warp,
           {k.full(out), k.full(in), ir::Setting(row.axis), ir::Setting(row.is_exclusive)});
    const Outcome o = k.run({{}, x});
    EXPECT_EQ(o.checks(), "") << o.text();
    EXPECT_EQ(o.arrays[0], row.expected) << ir::name_of(row.op);
  }
}

// 2^24 + 1 is 2^24 in float32. The first element is 2^24, the others are 1: one after the other the
// last sum is 2^24, and lane by lane the ones add up first.
TEST(EvalScan, SumsOfFloatsAreMadeByRunsAndSweeps) {
  const auto last = [](const std::string& layout, int registers) {
    TestKernel k;
    const BufferId out = k.matched("out", {32}, DType::Float32);
    k.start(32);
    const BufferId r = k.alloc("r", {4}, DType::Float32, Scope::Local, layout);
    const BufferId mine = k.view("mine", r, {registers});
    for (int i = 0; i < registers; ++i) {
      const ExprId number = registers == 1 ? k.tid() : k.n(i);
      k.store(mine, {k.n(i)},
              k.op(ExprOp::Add, k.real(DType::Float32, 1),
                   k.op(ExprOp::Mul, k.real(DType::Float32, 16777215),
                        k.to(DType::Float32, k.op(ExprOp::Eq, number, k.n(0))))));
    }
    k.tile(TileOp::Cumsum, Unit::Warp, {k.full(r), k.full(r), ir::Setting(std::int64_t{0})});
    k.store(out, {k.tid()}, k.at(mine, {k.n(registers - 1)}));
    const Outcome o = k.run({{}});
    EXPECT_EQ(o.checks(), "") << o.text();
    return o.arrays[0][3] - 16777216;
  };
  EXPECT_EQ(last("S[4] + R[32:1@laneid]", 4), 0);
  // Lane 2 has 2^24 + (1 + 1), and lane 3 adds its own 1 to that: a tie, rounded to even.
  EXPECT_EQ(last("S[4:1@laneid]", 1), 4);
}

}  // namespace
}  // namespace ww::eval::test::scan_test
