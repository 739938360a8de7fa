// SPDX-License-Identifier: Apache-2.0
#include "view/paint.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ww::view::palette_test {
namespace {

constexpr double kReadable = 4.5;  // WCAG AA for text

TEST(Palette, ColoursAreDifferent) {
  std::set<std::string> seen;
  for (std::int64_t k = 0; k < kPaletteSize; ++k) seen.insert(hex_of(palette_colour(k)));
  EXPECT_EQ(seen.size(), 32U);
}

TEST(Palette, ValuesWrapAround) {
  EXPECT_EQ(palette_colour(37), palette_colour(5));
  EXPECT_EQ(palette_colour(-1), palette_colour(31));
  EXPECT_EQ(quarter_colour(-1, 0.5), quarter_colour(3, 0.5));
}

TEST(Palette, LabelsAreReadableOnEveryColour) {
  for (std::int64_t k = 0; k < kPaletteSize; ++k) {
    const Rgb colour = palette_colour(k);
    EXPECT_GE(contrast(colour, label_colour(colour)), kReadable) << k;
  }
  for (std::int64_t quarter = 0; quarter < kQuarters; ++quarter) {
    for (int step = 0; step <= 16; ++step) {
      const Rgb colour = quarter_colour(quarter, step / 16.0);
      EXPECT_GE(contrast(colour, label_colour(colour)), kReadable) << quarter << " " << step;
    }
  }
}

TEST(Palette, LabelsAreDarkOnLightAndWhiteOnDark) {
  EXPECT_EQ(label_colour(palette_colour(0)), kInk);
  EXPECT_EQ(label_colour(palette_colour(3)), kPaper);
}

TEST(Palette, ContrastOfBlackAndWhite) {
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21.0, 1e-9);
  EXPECT_NEAR(contrast(kInk, kInk), 1.0, 1e-9);
}

TEST(Palette, RampsDarken) {
  EXPECT_GT(contrast(quarter_colour(0, 0.0), kInk), contrast(quarter_colour(0, 1.0), kInk));
}

TEST(Palette, Hex) { EXPECT_EQ(hex_of({0x0a, 0xff, 0x10}), "#0aff10"); }

}  // namespace
}  // namespace ww::view::palette_test
