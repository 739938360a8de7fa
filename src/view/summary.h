// SPDX-License-Identifier: Apache-2.0
// The sentences above a picture: size, ranges, injectivity, coverage, replicas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/layout_view.h"

namespace ww::view {

/// "shape (8,8), 64 elements; laneid 0..31, m 0..1". An axis that skips values says how many it
/// takes.
std::string size_sentence(const LayoutView& view);
/// "injective; 64 places fill their box", or the two elements that share a place, and the share of
/// the box that is covered.
std::string image_sentence(const LayoutView& view);
/// "each element is held at 2 places: the one shown and +4@warpid"; empty without replicas.
std::string replica_sentence(const LayoutView& view);

/// How the copies of an element lie relative to its first place (without that first one), if this
/// is the same for all elements. Only a swizzle or an inverted order can make it differ.
std::optional<std::vector<PlaceValues>> replica_steps(const LayoutView& view);

}  // namespace ww::view
