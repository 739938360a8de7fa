// SPDX-License-Identifier: Apache-2.0
// The colours of elements, the thick lines between them, and the legend that explains both:
//
//   registers       colour: lane (thread id modulo 32)          thick lines: between warps
//   shared          colour: bank                                none
//   tensor memory   hue: quarter of the lanes, light to dark:   thick lines: between quarters
//                   column
//   generic         colour: the first axis that varies          none
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/layout_view.h"

namespace ww::view {

// --- palette -------------------------------------------------------------------------------------
//
// Colours, as data. Thirty-two lanes and thirty-two banks share one palette of eight hues in four
// steps from light to dark: value 4·h + s has hue h and step s. A quad of lanes, or the four banks
// of a 16-byte chunk, thus reads as one family. In OKLCH the steps have lightness 0.93, 0.84, 0.73,
// 0.535, the hues lie at 25°, 60°, 95°, 140°, 190°, 240°, 285°, 340°. Dark or white text is
// readable (contrast 4.5) on all.

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

struct Swatch {
  Rgb colour;
  std::string label;
};

struct LegendRow {
  std::string name;  // may be empty
  std::vector<Swatch> swatches;
};

struct Legend {
  std::string title;
  std::vector<LegendRow> rows;  // only those with a value that occurs
  std::string region_note;      // what thick lines mean; empty when there are none
};

/// Refers to the view it was made from, which must outlive it.
class Paint {
 public:
  explicit Paint(const LayoutView& view);

  [[nodiscard]] Rgb colour(const PlaceValues& place) const;
  /// Name of the region a place belongs to ("warp 1", "quarter 1"); "" when there are no regions.
  [[nodiscard]] std::string region(const PlaceValues& place) const;
  [[nodiscard]] Legend legend() const;

 private:
  /// The palette index of a place (all kinds but tensor memory).
  [[nodiscard]] std::int64_t key(const PlaceValues& place) const;
  [[nodiscard]] std::int64_t thread_id(const PlaceValues& place) const;
  [[nodiscard]] std::string warp_region(const PlaceValues& place) const;
  [[nodiscard]] std::int64_t value(std::optional<std::size_t> axis, const PlaceValues& place) const;
  [[nodiscard]] double column_position(std::int64_t column) const;
  [[nodiscard]] std::string key_title() const;
  [[nodiscard]] std::string region_note() const;
  [[nodiscard]] std::vector<LegendRow> palette_rows() const;
  [[nodiscard]] std::vector<LegendRow> quarter_rows() const;

  const LayoutView* view_;
  std::vector<std::size_t> cta_axes_;    // thread axes that read the CTA's linear thread id
  std::vector<std::size_t> other_axes_;  // thread axes that do not
  bool has_lanes_ = false;               // some CTA axis tells lanes apart
  bool has_warps_ = false;               // some CTA axis tells warps apart
  std::optional<std::size_t> key_axis_;  // where neither lane nor bank gives the colour
  std::optional<std::size_t> lane_axis_, column_axis_;  // tensor memory
};

}  // namespace ww::view
