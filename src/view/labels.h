// SPDX-License-Identifier: Apache-2.0
// How a place is written in a cell. Each axis has a short prefix, widest unit first:
//
//   registers       w1 T5 r1      warp 1, lane 5, register 1
//   shared          72            the address
//   tensor memory   33,3          lane, column
//   generic         P3 F4         the axis names themselves
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "view/layout_view.h"

namespace ww::view {

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
