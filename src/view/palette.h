// SPDX-License-Identifier: Apache-2.0
// Colours, as data. Thirty-two lanes and thirty-two banks share one palette of eight hues in four
// steps from light to dark: value 4·h + s has hue h and step s. A quad of lanes, or the four banks
// of a 16-byte chunk, thus reads as one family. In OKLCH the steps have lightness 0.93, 0.84, 0.73,
// 0.535, the hues lie at 25°, 60°, 95°, 140°, 190°, 240°, 285°, 340°. Dark or white text is
// readable (contrast 4.5) on all.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace ww::view {

struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// "#1a2b3c".
std::string hex_of(Rgb colour);

inline constexpr std::int64_t kPaletteSize = 32;
/// The palette's colour for a value, which is taken modulo 32 (never negative).
Rgb palette_colour(std::int64_t value);

/// The four quarters of tensor memory's lanes, each a ramp from light (position 0) to dark (1).
inline constexpr std::int64_t kQuarters = 4;
Rgb quarter_colour(std::int64_t quarter, double position);

/// Dark grey or white, whichever contrasts more with the background (WCAG relative luminance).
Rgb label_colour(Rgb background);
/// WCAG contrast ratio of two colours, 1 to 21.
double contrast(Rgb a, Rgb b);

inline constexpr Rgb kInk{0x1f, 0x23, 0x28};       // text and thick lines
inline constexpr Rgb kFaintInk{0x57, 0x60, 0x6a};  // ticks and facts
inline constexpr Rgb kPaper{0xff, 0xff, 0xff};

}  // namespace ww::view
