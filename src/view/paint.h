// SPDX-License-Identifier: Apache-2.0
// What colour an element gets, which elements a thick line keeps apart, and the legend that
// explains it:
//
//   registers       colour: lane (thread id modulo 32)          thick lines: between warps
//   shared          colour: bank                                none
//   tensor memory   hue: quarter of the lanes, light to dark:   thick lines: between quarters
//                   column
//   generic         colour: the first axis that varies          none
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "view/layout_view.h"
#include "view/palette.h"

namespace ww::view {

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
