// SPDX-License-Identifier: Apache-2.0
// For the tests of this folder: a view in one line. Wrong input throws, which fails the test.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "layout/text.h"
#include "view/layout_view.h"

namespace ww::view {

inline Result<LayoutView> try_view(std::string_view notation, std::vector<std::int64_t> shape,
                                   std::optional<int> element_bits = {}) {
  const layout::Layout layout = WW_TRY(layout::parse_layout(notation));
  return LayoutView::make(layout, shape, {element_bits});
}

inline LayoutView make_view(std::string_view notation, std::vector<std::int64_t> shape,
                            std::optional<int> element_bits = {}) {
  Result<LayoutView> view = try_view(notation, std::move(shape), element_bits);
  if (!view) throw std::runtime_error(view.error().text);
  return *std::move(view);
}

/// The kind of diagnostic with which a view is refused.
inline DiagKind view_error(std::string_view notation, std::vector<std::int64_t> shape,
                           std::optional<int> element_bits = {}) {
  const Result<LayoutView> view = try_view(notation, std::move(shape), element_bits);
  if (view) throw std::runtime_error("the view was not refused");
  return view.error().kind;
}

}  // namespace ww::view
