// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/number_map.h"

#include <gtest/gtest.h>

namespace ww::lower::number_map_test {
namespace {

TEST(NumberMap, HoldsWhatWasPut) {
  NumberMap<int> map;
  EXPECT_EQ(map.find(0), nullptr);
  for (int i = 0; i < 5000; ++i) map.put(mixed(static_cast<Number>(i)), i);
  for (int i = 0; i < 5000; i += 3) map.put(mixed(static_cast<Number>(i)), -i);
  for (int i = 0; i < 5000; ++i) {
    const int* found = map.find(mixed(static_cast<Number>(i)));
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(*found, i % 3 == 0 ? -i : i);
  }
  EXPECT_EQ(map.find(mixed(5000)), nullptr);
}

TEST(NumberMap, RoomMadeBeforeKeepsWhatIsThere) {
  NumberMap<int> map;
  map.put(7, 1);
  for (const std::size_t room : {10U, 3000U, 5U}) {
    map.reserve(room);
    ASSERT_NE(map.find(7), nullptr);
    EXPECT_EQ(*map.find(7), 1);
    EXPECT_EQ(map.find(8), nullptr);
  }
}

// Keys that all belong in one place.
TEST(NumberMap, KeysMayMeet) {
  NumberMap<int> map;
  for (Number i = 0; i < 300; ++i) map.put(i << 32U, static_cast<int>(i));
  for (Number i = 0; i < 300; ++i) EXPECT_EQ(*map.find(i << 32U), static_cast<int>(i));
  EXPECT_EQ(map.find(Number{300} << 32U), nullptr);
}

}  // namespace
}  // namespace ww::lower::number_map_test
