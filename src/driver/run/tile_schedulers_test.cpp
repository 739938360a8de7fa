// SPDX-License-Identifier: Apache-2.0
// The tile schedulers of the language against orders that are enumerated here: each tile is visited
// once, by the CTA whose turn it is.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/source.h"
#include "driver/run/tool.h"

namespace ww::driver::run_tile_schedulers_test {
namespace {

using Tile = std::array<int, 3>;  // of fewer dimensions: 0 behind them

// A kernel in which each of `ctas` CTAs visits its tiles: V counts visits, O has the tile and the CTA of
// each number.
std::string kernel_of(const std::string& scheduler, const std::string& shape,
                      const std::array<std::string, 3>& tile, int count, int ctas) {
  return fmt::format(R"(
from tvm.backend.cuda.lang import ClusterPersistentScheduler2D, FlashAttentionLinearScheduler, GroupMajor3D
from tvm.backend.cuda.lang import FlashAttentionLPTScheduler
from tvm.script import tirx as T

@T.prim_func
def k(V_ptr: T.handle, O_ptr: T.handle, X_ptr: T.handle, rows: T.int32):
    V = T.match_buffer(V_ptr, ({0}), "int32")
    O = T.match_buffer(O_ptr, ({2}, 4), "int32")
    X = T.match_buffer(X_ptr, ({2}, 4), "int32")
    T.device_entry()
    c = T.cta_id([{3}])
    t = T.thread_id([32])
    s = {1}
    s.init(c)
    while s.valid():
        if t == 0:
            V[{4}, {5}, {6}] = V[{4}, {5}, {6}] + 1
            O[s.linear_idx, 0] = {4}
            O[s.linear_idx, 1] = {5}
            O[s.linear_idx, 2] = {6}
            O[s.linear_idx, 3] = c
        s.next_tile()
)",
                     shape, scheduler, count, ctas, tile[0], tile[1], tile[2]);
}

void expect_order(const std::string& scheduler, const Tile& shape,
                  const std::array<std::string, 3>& tile, const std::vector<Tile>& order, int ctas,
                  int rows, DeviceKind device = DeviceKind::Eval) {
  const SourceText text("k.py", kernel_of(scheduler, fmt::format("{}", fmt::join(shape, ", ")),
                                          tile, static_cast<int>(order.size()), ctas));
  std::string wanted;
  for (std::size_t i = 0; i < order.size(); ++i)
    wanted += fmt::format("{}{},{}", i == 0 ? "" : ",", fmt::join(order[i], ","),
                          i % static_cast<std::size_t>(ctas));
  RunRequest request;
  request.source.path = "k.py";
  request.source.text = &text;
  request.device = device;
  request.arguments.args = {"V=zeros", "X=list:" + wanted, fmt::format("rows={}", rows)};
  request.arguments.expects = {"V == 1", "O == X"};
  const RunOutcome outcome = run_kernel(request);
  ASSERT_TRUE(outcome.report) << scheduler << "\n" << outcome.errors;
  EXPECT_TRUE(outcome.report->good()) << scheduler << "\n" << run_text(*outcome.report);
}

struct Grid2D {
  int rows, cols, size, cluster_m = 1, cluster_n = 1;
};

// The tiles of a cluster in the place of each tile.
std::vector<Tile> in_clusters(const std::vector<Tile>& order, const Grid2D& grid) {
  std::vector<Tile> out;
  for (const Tile& tile : order)
    for (int n = 0; n < grid.cluster_n; ++n)
      for (int m = 0; m < grid.cluster_m; ++m)
        out.push_back({tile[0] * grid.cluster_m + m, tile[1] * grid.cluster_n + n, 0});
  return out;
}

std::vector<Tile> by_groups(const Grid2D& grid) {
  std::vector<Tile> order;
  for (int first = 0; first < grid.rows; first += grid.size)
    for (int col = 0; col < grid.cols; ++col)
      for (int row = first; row < std::min(first + grid.size, grid.rows); ++row)
        order.push_back({row, col, 0});
  return in_clusters(order, grid);
}

std::vector<Tile> by_blocks(const Grid2D& grid) {
  std::vector<Tile> order;
  const int down = grid.rows / grid.size;
  const int across = grid.cols / grid.size;
  for (int col = 0; col < across; ++col)
    for (int i = 0; i < down; ++i)
      for (int inside = 0; inside < grid.size * grid.size; ++inside)
        order.push_back({(col % 2 == 0 ? i : down - 1 - i) * grid.size + inside / grid.size,
                         col * grid.size + inside % grid.size, 0});
  for (int row = 0; row < grid.rows; ++row)
    for (int col = across * grid.size; col < grid.cols; ++col) order.push_back({row, col, 0});
  for (int col = 0; col < across * grid.size; ++col)
    for (int row = down * grid.size; row < grid.rows; ++row) order.push_back({row, col, 0});
  return in_clusters(order, grid);
}

// With the number of rows as a constant, and as a parameter of the kernel.
void expect_2d(const Grid2D& grid, int ctas, bool serpentine) {
  for (const bool is_dynamic : {false, true}) {
    const int rows = grid.rows * grid.cluster_m;
    const std::string scheduler =
        fmt::format("ClusterPersistentScheduler2D('s', {}, {}, {}, {}, {}, {}, {})",
                    is_dynamic ? "rows" : std::to_string(rows), grid.cols * grid.cluster_n, ctas,
                    grid.size, grid.cluster_m, grid.cluster_n, serpentine ? "True" : "False");
    expect_order(scheduler, {rows, grid.cols * grid.cluster_n, 1}, {"s.m_idx", "s.n_idx", "0"},
                 serpentine ? by_blocks(grid) : by_groups(grid), ctas, rows);
  }
}

constexpr Grid2D kGrids[] = {{4, 4, 2}, {5, 7, 2},       {1, 1, 8},      {3, 5, 8},
                             {9, 4, 4}, {7, 7, 3, 2, 1}, {2, 6, 2, 2, 2}};

TEST(TileSchedulers, GroupsOfRows) {
  for (const Grid2D& grid : kGrids)
    for (const int ctas : {1, 3}) expect_2d(grid, ctas, false);
}

// Also where tiles are left over at the right and at the bottom.
TEST(TileSchedulers, BlocksInSerpentines) {
  for (const Grid2D& grid : kGrids)
    for (const int ctas : {1, 3}) expect_2d(grid, ctas, true);
}

TEST(TileSchedulers, OnTheVirtualGpu) {
  const Grid2D grid{5, 7, 2};
  expect_order("ClusterPersistentScheduler2D('s', 5, 7, 4, 2)", {5, 7, 1},
               {"s.m_idx", "s.n_idx", "0"}, by_groups(grid), 4, 5, DeviceKind::Sim);
}

TEST(TileSchedulers, ThreeDimensions) {
  for (const int rows : {1, 4, 5}) {
    std::vector<Tile> order;
    for (int first = 0; first < rows; first += 2)
      for (int k = 0; k < 2; ++k)
        for (int n = 0; n < 3; ++n)
          for (int m = first; m < std::min(first + 2, rows); ++m) order.push_back({m, n, k});
    for (const std::string& given : {std::to_string(rows), std::string("rows")})
      expect_order(fmt::format("GroupMajor3D('s', {}, 3, 2, 2, 3)", given), {rows, 3, 2},
                   {"s.m_idx", "s.n_idx", "s.k_idx"}, order, 3, rows);
  }
}

TEST(TileSchedulers, Attention) {
  const std::array<std::string, 3> tile{"s.batch_idx", "s.head_idx", "s.m_block_idx"};
  std::vector<Tile> linear;
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h)
      for (int m = 0; m < 4; ++m) linear.push_back({b, h, m});
  expect_order("FlashAttentionLinearScheduler('s', 2, 3, 4, 5)", {2, 3, 4}, tile, linear, 5, 0);
  for (const int swizzle : {1, 2, 4, 8}) {
    std::vector<Tile> longest;
    for (int first = 0; first < 6; first += swizzle)
      for (int m = 3; m >= 0; --m)
        for (int head = first; head < std::min(first + swizzle, 6); ++head)
          longest.push_back({head / 3, head % 3, m});
    expect_order(fmt::format("FlashAttentionLPTScheduler('s', 2, 3, 4, {}, 5)", swizzle), {2, 3, 4},
                 tile, longest, 5, 0);
  }
}

// Two SMs with two and three of five tiles; the lists end with the last tile.
TEST(TileSchedulers, ListsInMemory) {
  const SourceText text("k.py", R"(
from tvm.script import tirx as T

@T.prim_func
def k(B: T.Buffer((5,), "int32"), H: T.Buffer((5,), "int32"), Q: T.Buffer((5,), "int32"),
      P: T.Buffer((3,), "int32"), O: T.Buffer((5,), "int32")):
    T.device_entry()
    sm = T.cta_id([2])
    t = T.thread_id([32])
    s = T.IndexedTripleTileScheduler("s", B, H, Q, P)
    s.init(sm)
    while s.valid():
        if t == 0:
            O[s.linear_idx] = s.b_idx * 100 + s.h_idx * 10 + s.q_idx + sm * 1000
        s.next_tile()
)");
  RunRequest request;
  request.source.path = "k.py";
  request.source.text = &text;
  request.device = DeviceKind::Eval;
  request.arguments.args = {"B=list:0,0,1,1,1", "H=list:0,1,0,0,1", "Q=list:3,2,1,0,3",
                            "P=list:0,2,5"};
  request.arguments.expects = {"O[0] == 3", "O[1] == 12", "O[2] == 1101", "O[4] == 1113"};
  const RunOutcome outcome = run_kernel(request);
  ASSERT_TRUE(outcome.report) << outcome.errors;
  EXPECT_TRUE(outcome.report->good()) << run_text(*outcome.report);
}

TEST(TileSchedulers, BadNumbersAreRefused) {
  const SourceText text("k.py", kernel_of("ClusterPersistentScheduler2D('s', 4, 4, 2, 0)",
                                          "4, 4, 1", {"s.m_idx", "s.n_idx", "0"}, 16, 2));
  RunRequest request;
  request.source.path = "k.py";
  request.source.text = &text;
  request.device = DeviceKind::Eval;
  const RunOutcome outcome = run_kernel(request);
  EXPECT_NE(outcome.errors.find("l2_group_size is 0, expected a number above 0"), std::string::npos)
      << outcome.errors;
}

}  // namespace
}  // namespace ww::driver::run_tile_schedulers_test
