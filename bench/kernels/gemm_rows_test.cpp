// SPDX-License-Identifier: Apache-2.0
#include "gemm_rows.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file_io.h"
#include "gpu.h"

namespace ww::bench::gemm_rows_test {
namespace {

TEST(GemmRows, HaveNamesOfTheirOwnAndTilesThatDivide) {
  std::set<std::string> names;
  for (const GemmRow& row : gemm_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.tiles.empty()) << row.name;
    for (const Tile& tile : row.tiles) {
      if (tile.is_of_warps()) {
        EXPECT_EQ(tile.bm % tile.wm + tile.bn % tile.wn, 0) << row.name;
        EXPECT_LE(tile.bm / tile.wm * (tile.bn / tile.wn), 8) << row.name;
      }
      // What fits into the shared memory of an SM of Hopper.
      if (tile.stages == 0) continue;  // the kernel's own choice
      const std::size_t elements = static_cast<std::size_t>((tile.bm + tile.bn) * tile.bk);
      EXPECT_LE(bytes_of(row.problem.dtype, elements * static_cast<std::size_t>(tile.stages)),
                227U * 1024)
          << row.name;
    }
  }
}

TEST(GemmRows, AreChosenByExpression) {
  EXPECT_EQ(gemm_rows("").size(), gemm_rows().size());
  EXPECT_EQ(gemm_rows("^kernels/.*(gemm)").size(), gemm_rows().size());
  EXPECT_EQ(gemm_rows("^kernels/.*(mma/bfloat16)").size(), 2U);
  EXPECT_EQ(gemm_rows("^kernels/.*(mma/float16/.*_at)").size(), 2U);
  EXPECT_EQ(gemm_rows("^kernels/.*(gemm_hopper)").size(), 35U);
  EXPECT_TRUE(gemm_rows("^layout/.*()").empty());
  EXPECT_TRUE(gemm_rows("(").empty());
}

TEST(GemmRows, NameTheirKernels) {
  const GemmRow row = gemm_rows("float16/4096_at_bt").at(0);
  EXPECT_EQ(kernel_name(row), "gemm_mma");
  EXPECT_EQ(tile_text(row.tiles[0]), "128x256x64 64x64 s4 g16");
  EXPECT_EQ(expression_of(row, row.tiles[0]),
            "build(M=4096, N=4096, K=4096, BM=128, BN=256, BK=64, WM=64, WN=64, stages=4, "
            "group=16, dtype=\"float16\", out=\"float16\", trans_a=True, trans_b=True)");
  const GemmRow batched = gemm_rows("batched").at(0);
  EXPECT_EQ(expression_of(batched, batched.tiles[0]),
            "build(batch=16, M=1024, N=1024, K=1024, dtype=\"bfloat16\")");
  const GemmRow few = gemm_rows("gemm_hopper/float16/16x").at(0);
  EXPECT_EQ(tile_text(few.tiles[0]), "64x16x256 s5 g8 c1");
  EXPECT_EQ(
      expression_of(few, few.tiles[0]),
      "build(M=16, N=8192, K=8192, BM=64, BN=16, BK=256, stages=5, group=8, ctas=132, cluster=1, "
      "dtype=\"float16\", out=\"float16\", trans_a=False, trans_b=True, swap=True)");
}

// The table fits the examples.
TEST(GemmRows, Compile) {
  const target::Target target{.arch = target::Arch::Sm90a, .ptx = 80};
  for (const GemmRow& row : gemm_rows()) {
    const auto text = read_file(fmt::format("{}/examples/{}", WW_SOURCE_DIR, row.file), 1U << 20U);
    ASSERT_TRUE(text) << row.file;
    for (const Tile& tile : row.tiles) {
      const auto built = build_for(target, SourceText(row.file, *text), expression_of(row, tile));
      EXPECT_TRUE(built) << row.name << " " << tile_text(tile) << "\n" << built.error().text;
    }
  }
}

}  // namespace
}  // namespace ww::bench::gemm_rows_test
