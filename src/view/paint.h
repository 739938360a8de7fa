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
#include <cstddef>
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

// --- labels --------------------------------------------------------------------------------------
//
// How a place is written in a cell. Each axis has a short prefix, widest unit first:
//
//   registers       w1 T5 r1      warp 1, lane 5, register 1
//   shared          72            the address
//   tensor memory   33,3          lane, column
//   generic         P3 F4         the axis names themselves

struct LabelPart {
  std::size_t axis = 0;  // in LayoutView::axes()
  std::string prefix;
};

/// The spelling of a view's places.
struct Labels {
  std::vector<LabelPart> parts;  // in writing order
  std::string separator;
  std::size_t key = 0;  // the part to keep when there is room for one only

  /// One text per part: {"w1", "T5", "r1"}.
  [[nodiscard]] std::vector<std::string> texts(const PlaceValues& place) const;
  /// The parts joined: "w1 T5 r1".
  [[nodiscard]] std::string text(const PlaceValues& place) const;
};

Labels labels_of(const LayoutView& view);

/// The longest text each part can have, in characters.
std::vector<std::size_t> longest_parts(const Labels& labels, const LayoutView& view);

/// The meaning of the prefixes: "w warpid, T laneid, r register (m)".
std::string labels_key(const Labels& labels, const LayoutView& view);

// --- label plan ----------------------------------------------------------------------------------
//
// Which labels a picture with cells of a given size can carry. As cells shrink, labels thin out:
// all parts on lines of their own, then without the parts that never change, then without the
// register, then the most telling part alone, then that one in every n-th cell, then none.

struct LabelPlan {
  std::vector<std::size_t> parts;  // which of Labels::parts to write; none: no labels at all
  bool is_joined = false;          // on one line, with the separator, rather than a line each
  double font = 0;                 // pixels
  std::int64_t every_row = 1;      // label rows 0, n, 2n, …
  std::int64_t every_col = 1;
};

/// Width of a character as a share of the font size; generous, since fonts differ.
inline constexpr double kCharWidth = 0.62;
/// Distance of two lines of text as a share of the font size.
inline constexpr double kLineHeight = 1.18;

/// The richest plan that stays readable in square cells of `cell` pixels.
LabelPlan plan_labels(const LayoutView& view, const Labels& labels, double cell);

/// The lines to write for a place.
std::vector<std::string> label_lines(const Labels& labels, const LabelPlan& plan,
                                     const PlaceValues& place);

/// The smallest power of two n with n · step ≥ needed.
std::int64_t thin_to(double step, double needed);

}  // namespace ww::view
