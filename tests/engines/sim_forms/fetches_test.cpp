// SPDX-License-Identifier: Apache-2.0
// The random fetches of tests/hardware/textures, on the virtual GPU alone: every kernel is legal, every
// launch runs without findings, every row of the table occurs, and the comparison sees a changed bit.
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "hardware/textures/compare.h"
#include "hardware/textures/fetch.h"

namespace ww::device::fetches_test {
namespace {

TEST(Fetches, RunOnTheVirtualGpu) {
  Random random(1);
  std::set<std::string_view> rows;
  for (int i = 0; i < 200; ++i) {
    const TextureCase each = random_case(random, 64);
    const auto left = run_virtually(each, kernel_of(each));
    ASSERT_TRUE(left) << left.error().text << "\n" << kernel_of(each);
    EXPECT_EQ(left->out.size(), each.count() * 16);
    rows.insert(row_of(each).name);
  }
  EXPECT_EQ(rows.size(), 8U);
}

TEST(Fetches, TheSameSeedGivesTheSameCases) {
  Random one(7), other(7);
  for (int i = 0; i < 20; ++i) {
    const TextureCase a = random_case(one, 8), b = random_case(other, 8);
    EXPECT_EQ(a.texels, b.texels);
    EXPECT_EQ(a.places, b.places);
    EXPECT_EQ(kernel_of(a), kernel_of(b));
  }
}

TEST(Fetches, AChangedBitIsADifference) {
  Random random(3);
  const TextureCase each = random_case(random, 64);
  const Left ours = run_virtually(each, kernel_of(each)).value();
  Tally tally;
  compare(each, ours, ours, 0, tally);
  EXPECT_EQ(tally.fetches, each.count());
  EXPECT_EQ(tally.different, 0U);
  Left theirs = ours;
  theirs.out[17] ^= std::byte{1};
  compare(each, ours, theirs, 5, tally);
  EXPECT_EQ(tally.different, 1U);
  EXPECT_EQ(tally.first.substr(0, 10), "texture 5,");
  theirs = ours;
  theirs.texels[0] ^= std::byte{1};
  compare(each, ours, theirs, 6, tally);
  EXPECT_EQ(tally.different, 2U);
}

}  // namespace
}  // namespace ww::device::fetches_test
