// SPDX-License-Identifier: Apache-2.0
// Parts that several operations of driver/layout/ops.h are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/layout/named_layouts.h"
#include "driver/layout/ops.h"
#include "layout/apply.h"
#include "layout/image.h"

namespace ww::driver {

/// A notation and the shape it is read over.
struct ShapedLayout {
  layout::Layout layout;
  layout::Shape shape;
};

/// Reads `NOTATION/SHAPE`. Without `/SHAPE` the notation's own shape is taken (written_shape).
Result<ShapedLayout> parse_shaped(Piece piece, const layout::Names& names);

/// Sets layout and shape; a shape that does not fit the layout becomes `reading_shape`.
void set_layout(LayoutState& state, layout::Layout layout, layout::Shape shape);

void add_answer(LayoutState& state, std::string text, Json json, bool holds = true);
void add_number(LayoutState& state, std::int64_t number);
void add_claim(LayoutState& state, bool is_true, const std::string& why_not = {});

/// "laneid=5, m=1"
std::string place_words(const layout::Place& place);

/// Element-wise product, and exact quotient (Indivisible otherwise), of shapes of equal rank.
layout::Shape product(const layout::Shape& a, const layout::Shape& b);
Result<layout::Shape> quotient(const layout::Shape& whole, const layout::Shape& part);

}  // namespace ww::driver
