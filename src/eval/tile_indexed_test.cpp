// SPDX-License-Identifier: Apache-2.0
// gather, scatter and scatter_add by the evaluator: what they mean, and what is wrong with indices.
#include "eval/test_kernel.h"

namespace ww::eval::test::tile_indexed_test {
namespace {

struct Indexed {
  TileOp op = TileOp::Gather;
  std::vector<std::int64_t> dst = {4, 3}, src = {5, 3}, index = {4};
  Numbers numbers = {2, 0, 4, 2};
  std::int64_t axis = 0;
  std::optional<double> fill = {};
  bool clips = false;
};

// The destination begins as hundreds, the source counts from 0.
Outcome run(const Indexed& c) {
  OpKernel k;
  k.arrays({{c.dst, DType::Float32}, {c.src, DType::Float32}, {c.index, DType::Int32}});
  const auto id =
      k.tile(c.op, Unit::Warp, {k.all(0), k.all(1), k.all(2), ir::TileArg(ir::Setting(c.axis))});
  auto& config = k.f.tile_calls[id.index].config;
  if (c.fill) config.emplace_back("fill_value", *c.fill);
  if (c.clips) config.emplace_back("clip", true);
  std::size_t to = 1, from = 1;
  for (const std::int64_t extent : c.dst) to *= static_cast<std::size_t>(extent);
  for (const std::int64_t extent : c.src) from *= static_cast<std::size_t>(extent);
  return k.run({Numbers(to, 100), count_to(from), c.numbers});
}

Numbers result(const Indexed& c) {
  const Outcome o = run(c);
  EXPECT_EQ(o.checks(), "") << o.text();
  return o.arrays[0];
}

TEST(EvalIndexed, Gathers) {
  EXPECT_EQ(result({}), (Numbers{6, 7, 8, 0, 1, 2, 12, 13, 14, 6, 7, 8}));
  EXPECT_EQ(result({.dst = {2, 2}, .src = {2, 3}, .index = {2}, .numbers = {2, 0}, .axis = 1}),
            (Numbers{2, 0, 5, 3}));
  EXPECT_EQ(
      result({.dst = {2, 2}, .src = {2, 3}, .index = {2, 2}, .numbers = {2, 0, 1, 1}, .axis = -1}),
      (Numbers{2, 0, 4, 4}));
  EXPECT_EQ(result({.numbers = {-1, 0, 5, 1}, .fill = 9}),
            (Numbers{9, 9, 9, 0, 1, 2, 9, 9, 9, 3, 4, 5}));
}

TEST(EvalIndexed, Scatters) {
  const Indexed scatter{
      .op = TileOp::Scatter, .dst = {4, 2}, .src = {2, 2}, .index = {2}, .numbers = {3, 1}};
  EXPECT_EQ(result(scatter), (Numbers{100, 100, 2, 3, 100, 100, 0, 1}));
  Indexed clipped = scatter;
  clipped.numbers = {-2, 0};
  clipped.clips = true;
  EXPECT_EQ(result(clipped), (Numbers{2, 3, 100, 100, 100, 100, 100, 100}));
  Indexed added = scatter;
  added.op = TileOp::ScatterAdd;
  added.numbers = {3, 3};
  EXPECT_EQ(result(added), (Numbers{100, 100, 100, 100, 100, 100, 102, 104}));
}

TEST(EvalIndexed, WrongIndices) {
  for (const double wrong : {-1.0, 5.0}) {
    const Outcome o = run({.numbers = {0, 1, wrong, 2}});
    EXPECT_NE(o.text().find(fmt::format("is {} in warp 0 of CTA (0,0,0), expected 0 to 4",
                                        static_cast<int>(wrong))),
              std::string::npos)
        << o.text();
  }
  const Outcome twice =
      run({.op = TileOp::Scatter, .dst = {4, 2}, .src = {2, 2}, .index = {2}, .numbers = {3, 3}});
  EXPECT_NE(twice.text().find("elements 0 and 2 of the tile both go to"), std::string::npos)
      << twice.text();
}

}  // namespace
}  // namespace ww::eval::test::tile_indexed_test
