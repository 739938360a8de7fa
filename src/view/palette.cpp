// SPDX-License-Identifier: Apache-2.0
#include "view/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ww::view {
namespace {

// clang-format off
constexpr std::array<Rgb, 32> kPalette{{
    {0xff, 0xdf, 0xdc}, {0xfd, 0xb5, 0xaf}, {0xe7, 0x8a, 0x83}, {0xac, 0x4a, 0x45},
    {0xfe, 0xe2, 0xcc}, {0xf4, 0xbe, 0x92}, {0xdc, 0x96, 0x59}, {0xa0, 0x59, 0x04},
    {0xf1, 0xe8, 0xc7}, {0xdc, 0xcb, 0x8a}, {0xbe, 0xa7, 0x4b}, {0x81, 0x6c, 0x06},
    {0xd9, 0xf0, 0xd3}, {0xae, 0xd9, 0xa4}, {0x80, 0xb9, 0x73}, {0x3f, 0x7f, 0x30},
    {0xc7, 0xf2, 0xee}, {0x85, 0xdd, 0xd7}, {0x32, 0xbe, 0xb8}, {0x02, 0x7e, 0x79},
    {0xd3, 0xec, 0xff}, {0x97, 0xd3, 0xfd}, {0x5d, 0xb1, 0xe9}, {0x02, 0x75, 0xac},
    {0xe5, 0xe5, 0xfe}, {0xc4, 0xc4, 0xfe}, {0xa0, 0x9d, 0xed}, {0x67, 0x60, 0xb5},
    {0xfe, 0xdd, 0xf1}, {0xf1, 0xb5, 0xdc}, {0xd8, 0x8a, 0xbe}, {0x9d, 0x4b, 0x85},
}};

struct Ramp {
  Rgb light, dark;
};
constexpr std::array<Ramp, 4> kQuarterRamps{{
    {{0xe5, 0xf2, 0xff}, {0x44, 0x95, 0xe0}},
    {{0xff, 0xec, 0xe0}, {0xd0, 0x78, 0x30}},
    {{0xe3, 0xf6, 0xe6}, {0x45, 0xa6, 0x60}},
    {{0xf8, 0xeb, 0xfe}, {0xb2, 0x78, 0xcb}},
}};
// clang-format on

std::size_t wrapped(std::int64_t value, std::int64_t modulus) {
  const std::int64_t rest = value % modulus;
  return static_cast<std::size_t>(rest < 0 ? rest + modulus : rest);
}

std::uint8_t mix(std::uint8_t from, std::uint8_t to, double position) {
  return static_cast<std::uint8_t>(std::lround(from + (to - from) * position));
}

double linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(Rgb c) {
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

}  // namespace

std::string hex_of(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b);
}

Rgb palette_colour(std::int64_t value) { return kPalette[wrapped(value, kPaletteSize)]; }

Rgb quarter_colour(std::int64_t quarter, double position) {
  const Ramp& ramp = kQuarterRamps[wrapped(quarter, kQuarters)];
  const double at = std::clamp(position, 0.0, 1.0);
  return {mix(ramp.light.r, ramp.dark.r, at), mix(ramp.light.g, ramp.dark.g, at),
          mix(ramp.light.b, ramp.dark.b, at)};
}

double contrast(Rgb a, Rgb b) {
  const double x = luminance(a) + 0.05;
  const double y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

Rgb label_colour(Rgb background) {
  return contrast(background, kInk) >= contrast(background, kPaper) ? kInk : kPaper;
}

}  // namespace ww::view
