// SPDX-License-Identifier: Apache-2.0
#include "sim/checks/copied_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace ww::sim {
namespace {

// Against an array with the number of the tile of each byte.
TEST(CopiedTiles, AreThoseOfAnArrayOfBytes) {
  constexpr std::uint32_t kBytes = 64;
  CopiedTiles tiles;
  std::array<std::uint32_t, kBytes> owner{};  // 0: none
  std::mt19937 random(25);
  for (std::uint32_t number = 1; number <= 500; ++number) {
    const auto from = static_cast<std::uint32_t>(random() % kBytes);
    const auto more = static_cast<std::uint32_t>(random() % std::min(16U, kBytes - from));
    const std::uint32_t end = from + 1 + more;
    std::array<bool, 501> is_hit{};
    for (std::uint32_t at = from; at < end; ++at) is_hit.at(owner.at(at)) = true;
    is_hit[0] = false;
    for (std::uint32_t& each : owner)
      if (is_hit.at(each)) each = 0;
    if (random() % 3 == 0) {
      tiles.forget(from, end);
    } else {
      tiles.add({.from = from, .end = end, .op = number});
      std::fill(owner.begin() + from, owner.begin() + end, number);
    }
    for (std::uint32_t at = 0; at < kBytes; ++at) {
      const CopiedTile* found = tiles.find(at);
      ASSERT_EQ(found == nullptr ? 0 : found->op, owner.at(at)) << number << ' ' << at;
    }
  }
  tiles.clear();
  EXPECT_TRUE(tiles.empty());
}

}  // namespace
}  // namespace ww::sim
