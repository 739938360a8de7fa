// SPDX-License-Identifier: Apache-2.0
#include "ir/scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ww::ir::scan_test {
namespace {

using Numbers = std::vector<std::int64_t>;

// Every element has a register of its own, in a thread that there is; a thread's elements of a row
// follow each other, in registers that do, too.
TEST(Scan, SharesAreRuns) {
  for (const Numbers& extents : {Numbers{4096}, Numbers{3, 1000}, Numbers{128, 64},
                                 Numbers{6, 20, 10}, Numbers{7, 77}, Numbers{1, 31, 1}})
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      for (const std::int64_t threads : {1, 32, 40, 96, 128, 256}) {
        const ScanShare share = scan_share(extents, axis, threads);
        std::set<std::pair<std::int64_t, std::int64_t>> seen;
        std::size_t stride = 1;
        for (std::size_t d = axis + 1; d < extents.size(); ++d)
          stride *= static_cast<std::size_t>(extents[d]);
        for (std::size_t x = 0; x < share.thread.size(); ++x) {
          EXPECT_TRUE(seen.emplace(share.thread[x], share.slot[x]).second);
          EXPECT_LT(share.thread[x], threads);
          if (x / stride % static_cast<std::size_t>(extents[axis]) == 0) continue;
          const std::size_t before = x - stride;
          EXPECT_GE(share.thread[x], share.thread[before]);
          if (share.thread[x] == share.thread[before]) {
            EXPECT_EQ(share.slot[x], share.slot[before] + 1);
          }
        }
      }
}

TEST(Scan, SharesOfRowsAndColumns) {
  ScanShare share = scan_share(Numbers{8, 64}, 1, 128);
  EXPECT_EQ(share.thread[5], 2);
  EXPECT_EQ(share.thread[64 + 5], 32 + 2);
  share = scan_share(Numbers{512}, 0, 128);
  EXPECT_EQ(share.thread[129], 32);
  share = scan_share(Numbers{8, 64}, 0, 128);
  EXPECT_EQ(share.thread[3 * 64 + 5], 5);
  EXPECT_EQ(share.thread[4 * 64 + 5], 64 + 5);
}

TEST(Scan, Identities) {
  EXPECT_EQ(scan_identity(ExprOp::Mul, num::DType::Int8).integer, 1);
  EXPECT_EQ(scan_identity(ExprOp::Max, num::DType::Int8).integer, -128);
  EXPECT_EQ(scan_identity(ExprOp::Min, num::DType::Uint16).integer, 65535);
  EXPECT_EQ(scan_identity(ExprOp::Min, num::DType::Uint64).integer, -1);
  EXPECT_EQ(scan_identity(ExprOp::Max, num::DType::Float16).real, -INFINITY);
  EXPECT_EQ(scan_identity(ExprOp::Add, num::DType::Float16).dtype, num::DType::Float32);
}

}  // namespace
}  // namespace ww::ir::scan_test
