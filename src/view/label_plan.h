// SPDX-License-Identifier: Apache-2.0
// Which labels a picture with cells of a given size can carry. As cells shrink, labels thin out:
// all parts on lines of their own, then without the parts that never change, then without the
// register, then the most telling part alone, then that one in every n-th cell, then none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "view/labels.h"
#include "view/layout_view.h"

namespace ww::view {

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
