// SPDX-License-Identifier: Apache-2.0
#include "ir/reduction.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace ww::ir::reduction_test {
namespace {

using Numbers = std::vector<std::int64_t>;

// Every CTA has an equal part, every element a place of its own there.
TEST(Reduction, ClusterShares) {
  struct Row {
    Numbers extents;
    std::vector<bool> is_folded;
    std::int64_t ctas;
    std::size_t dimension;
  };
  for (const Row& row : std::vector<Row>{{{512}, {true}, 4, 0},
                                         {{8, 64}, {false, true}, 4, 1},
                                         {{8, 63}, {false, true}, 4, 0},
                                         {{6, 4, 10}, {true, false, true}, 2, 0},
                                         {{3, 4, 10}, {true, false, true}, 5, 2}}) {
    const auto share = cluster_share(row.extents, row.is_folded, row.ctas, 64);
    ASSERT_TRUE(share);
    EXPECT_EQ(share->dimension, row.dimension);
    std::int64_t count = 1;
    for (const std::int64_t extent : row.extents) count *= extent;
    ASSERT_EQ(std::ssize(share->cta), count);
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (std::size_t x = 0; x < share->cta.size(); ++x) {
      EXPECT_LT(share->cta[x], row.ctas);
      EXPECT_LT(share->index[x], count / row.ctas);
      seen.emplace(share->cta[x], share->index[x]);
    }
    EXPECT_EQ(std::ssize(seen), count);
  }
  EXPECT_EQ(cluster_share(Numbers{4, 6}, {false, true}, 4, 32)->cta,
            (Numbers{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3}));
  EXPECT_FALSE(cluster_share(Numbers{3, 6}, {false, true}, 4, 32));
}

TEST(Reduction, FoldMap) {
  const FoldMap map = fold_map(Numbers{2, 3, 2}, {false, true, false});
  EXPECT_EQ(map.results, 4);
  EXPECT_EQ(map.folded, 3);
  EXPECT_EQ(map.into, (Numbers{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}));
  EXPECT_EQ(map.index, (Numbers{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(fold_map(Numbers{2, 2}, {true, true}).index, (Numbers{0, 1, 2, 3}));
}

// Every element has a register of its own, in a thread that there is.
TEST(Reduction, SharesAreApart) {
  for (const Numbers& extents :
       {Numbers{4096}, Numbers{3, 1000}, Numbers{128, 64}, Numbers{6, 20, 10}, Numbers{7, 77},
        Numbers{1, 31, 1}, Numbers{64, 3, 5}})
    for (std::size_t which = 1; which < std::size_t{1} << extents.size(); ++which) {
      std::vector<bool> is_folded;
      for (std::size_t d = 0; d < extents.size(); ++d) is_folded.push_back((which >> d & 1U) != 0);
      for (const std::int64_t threads : {1, 32, 40, 96, 128, 256}) {
        const MemoryShare share = memory_share(extents, is_folded, threads);
        const FoldMap map = fold_map(extents, is_folded);
        std::set<std::pair<std::int64_t, std::int64_t>> seen;
        for (std::size_t x = 0; x < share.thread.size(); ++x) {
          EXPECT_TRUE(seen.emplace(share.thread[x], share.slot[x]).second);
          EXPECT_LT(share.thread[x], threads);
          EXPECT_GE(share.thread[x], 0);
          // The first element of a result is in the thread that gets it.
          if (map.index[x] == 0) {
            EXPECT_EQ(share.thread[x], share.result_thread[static_cast<std::size_t>(map.into[x])]);
          }
        }
      }
    }
}

TEST(Reduction, SharesOfRowsAndColumns) {
  // 32 lanes side by side for a row of 64; all 128 threads for a single one.
  MemoryShare share = memory_share(Numbers{8, 64}, {false, true}, 128);
  EXPECT_EQ(share.thread[33], 1);
  EXPECT_EQ(share.thread[64 + 5], 32 + 5);
  share = memory_share(Numbers{512}, {true}, 128);
  EXPECT_EQ(share.thread[129], 1);
  // Of 64 columns, threads 0 to 63 have the rows 0, 2, … and threads 64 to 127 the others.
  share = memory_share(Numbers{8, 64}, {true, false}, 128);
  EXPECT_EQ(share.thread[5], 5);
  EXPECT_EQ(share.thread[64 + 5], 64 + 5);
  EXPECT_EQ(share.thread[128 + 5], 5);
  // 50 elements in 25 lanes, beside seven that hold nothing.
  share = memory_share(Numbers{4, 50}, {false, true}, 128);
  EXPECT_EQ(share.thread[25], 0);
  EXPECT_EQ(share.thread[50], 32);
}

}  // namespace
}  // namespace ww::ir::reduction_test
