// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/name_moves.h"

#include <gtest/gtest.h>

namespace ww::lower::proof_name_moves_test {
namespace {

TEST(KeptNames, AreEachThreadsOwn) {
  KeptNames kept(9);
  EXPECT_TRUE(kept.put(3, 7, 42));
  EXPECT_EQ(kept.at(3, 7), 42);
  EXPECT_EQ(kept.at(3, 6), KeptNames::kUnwritten);
  EXPECT_EQ(kept.at(3, 8), KeptNames::kUnwritten);
  EXPECT_EQ(kept.at(2, 7), KeptNames::kUnwritten);
  EXPECT_EQ(kept.at(4, 7), KeptNames::kUnwritten);
  // What a register of the source holds beside its elements is written, too.
  EXPECT_TRUE(kept.put(3, 6, kNobody));
  EXPECT_EQ(kept.at(3, 6), kNobody);
  kept.clear();
  EXPECT_EQ(kept.at(3, 7), KeptNames::kUnwritten);
}

TEST(KeptNames, EndSomewhere) {
  KeptNames kept(8);
  EXPECT_TRUE(kept.put(0, 7, 42));
  EXPECT_FALSE(kept.put(0, 8, 42));
  EXPECT_FALSE(kept.put(0, -1, 42));
  EXPECT_FALSE(kept.put(0, std::int64_t{1} << 40, 42));
  EXPECT_EQ(kept.at(0, -1), KeptNames::kUnwritten);
  EXPECT_EQ(kept.at(0, std::int64_t{1} << 40), KeptNames::kUnwritten);
}

}  // namespace
}  // namespace ww::lower::proof_name_moves_test
