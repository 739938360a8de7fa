// SPDX-License-Identifier: Apache-2.0
#include "lower/copy_async/box_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace ww::lower::tile_digits_test {
namespace {

using testing::ElementsAre;

OperandPlaces places(std::int64_t rows, std::int64_t columns,
                     const std::function<std::int64_t(std::int64_t, std::int64_t)>& place) {
  OperandPlaces out;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) out.linear.push_back(place(r, c));
  return out;
}

std::optional<std::vector<Digit>> digits(
    std::int64_t rows, std::int64_t columns,
    const std::function<std::int64_t(std::int64_t, std::int64_t)>& place) {
  const std::int64_t counts[] = {rows, columns};
  return tile_digits(places(rows, columns, place), counts);
}

TEST(TileDigits, AreThoseOfTheLayout) {
  EXPECT_THAT(*digits(4, 8, [](auto r, auto c) { return r * 8 + c; }),
              ElementsAre(Digit{1, 1, 8, 1}, Digit{0, 1, 4, 8}));
  // Columns first, rows with gaps, and a start other than 0.
  EXPECT_THAT(*digits(4, 8, [](auto r, auto c) { return 7 + r + c * 5; }),
              ElementsAre(Digit{0, 1, 4, 1}, Digit{1, 1, 8, 5}));
  // Two columns of 64 elements, of 32 rows each.
  EXPECT_THAT(*digits(32, 128, [](auto r, auto c) { return r * 64 + c % 64 + c / 64 * 2048; }),
              ElementsAre(Digit{1, 1, 64, 1}, Digit{0, 1, 32, 64}, Digit{1, 64, 2, 2048}));
  // One element in a dimension has no digit.
  EXPECT_THAT(*digits(1, 6, [](auto, auto c) { return c; }), ElementsAre(Digit{1, 1, 6, 1}));
}

TEST(TileDigits, NeedOneDistanceEach) {
  EXPECT_FALSE(digits(4, 4, [](auto r, auto c) { return r * 4 + (c ^ r); }));
  EXPECT_FALSE(digits(1, 3, [](auto, auto c) { return c * c; }));
  EXPECT_FALSE(digits(1, 8, [](auto, auto c) { return c < 6 ? c : c + 1; }));
}

TEST(TileDigits, AreCutWhereABoxEnds) {
  EXPECT_THAT(cut_digits({{0, 1, 128, 1}, {1, 1, 1024, 128}}, 64),
              ElementsAre(Digit{0, 1, 64, 1}, Digit{0, 64, 2, 64}, Digit{1, 1, 256, 128},
                          Digit{1, 256, 4, 256 * 128}));
  EXPECT_THAT(cut_digits({{0, 1, 300, 1}}, 256),
              ElementsAre(Digit{0, 1, 150, 1}, Digit{0, 150, 2, 150}));
}

}  // namespace
}  // namespace ww::lower::tile_digits_test
