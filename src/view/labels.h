// SPDX-License-Identifier: Apache-2.0
// How a place is written in a cell. Each axis has a short prefix, widest unit first:
//
//   registers       w1 T5 r1      warp 1, lane 5, register 1
//   shared          72            the address
//   tensor memory   33,3          lane, column
//   generic         P3 F4         the axis names themselves
#pragma once

#include <cstddef>
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

/// What the prefixes stand for: "w warpid, T laneid, r register (m)".
std::string labels_key(const Labels& labels, const LayoutView& view);

}  // namespace ww::view
