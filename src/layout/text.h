// SPDX-License-Identifier: Apache-2.0
// Layout notation: reading and printing. What is printed reads back as the same value.
//
//   layout   := sum | 'ComposeLayout(' M ',' B ',' S ',' layout [',' 'swizzle_inner=' bool] ')'
//             | 'ComposeLayout(' 'SwizzleLayout(' M ',' B ',' S … ')' ',' layout ')'
//             | 'SwizzleLayout(' M ',' B ',' S … ')'                -- over one period, row-major
//             | 'TileLayout(' layout ')'
//   sum      := term (('+'|'-') term)*
//   term     := 'S[' spec ']' | 'R[' spec ']' | amount ['@' axis] | '(' sum of amounts ')'
//   spec     := extents [':' strides]          extents only: row-major on m
//   extents  := n | n, n, … | (n, n, …)         the first shard extent may be '?', known at run
//   time only strides  := s | (s, s, …)                   s := n ['@' axis] | "axis" | (n, "axis")
//   amount   := integer expression; declared variables may appear: (16*k + 8)@m
//
// A prefix `T.`, `Tx.` or `Axis.` is accepted wherever such a name may stand, so that printed
// TVMScript pastes. Several R terms add up; S may stand once.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"

namespace ww::layout {

/// The names a notation may use beyond the built-in axes.
struct Names {
  std::map<std::string, Axis, std::less<>> axes;
  std::map<std::string, Sym, std::less<>> symbols;
  /// Called for an axis name that is neither built in nor declared; the axis is then of unknown
  /// kind. When empty, such names are accepted silently.
  std::function<void(std::string_view name, Span span)> on_undeclared_axis;
};

/// Reads a layout. The Diag's span points into `text`.
Result<Layout> parse_layout(std::string_view text, const Names& names = {});

/// Reads "8,16", "(8, 16)", "?,64"; entries must be ≥ 1 (`?` only first).
Result<Shape> parse_shape(std::string_view text);

/// Reads an integer expression: + - * ( ) // % over integers and declared symbols, affine.
Result<Expr> parse_expr(std::string_view text, const Names& names = {});

/// The notation: `S[(8,4,2):(4@laneid,1@laneid,1)] + R[2:4@warpid] + 5@warpid`. No blanks but
/// around `+` and between the arguments of `ComposeLayout`; one-iter lists without parentheses;
/// strides always; `@m` never; offsets by axis name.
std::string to_text(const TileLayout& layout);
std::string to_text(const Layout& layout);
/// "(8,16)"
std::string shape_text(std::span<const std::int64_t> shape);
/// "4@laneid", "1"
std::string place_text(std::int64_t value, Axis axis);

}  // namespace ww::layout
