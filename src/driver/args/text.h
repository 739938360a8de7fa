// SPDX-License-Identifier: Apache-2.0
// Arguments as text that remembers where it came from. Named layouts and layout operations are
// written as `name(a,b)` and `name:a,b`, with notations inside that have commas and slashes of
// their own; here such texts are cut at the separators that stand outside all brackets and quotes,
// and what goes wrong in a piece is reported at its place in the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "layout/layout.h"
#include "layout/text.h"

namespace ww::driver {

/// Part of a larger text; `offset` is where it begins there.
struct Piece {
  std::string_view text;
  std::size_t offset = 0;

  [[nodiscard]] bool empty() const { return text.empty(); }
  [[nodiscard]] Span span() const { return Span::at(offset, offset + text.size()); }
};

/// Without blanks at either end.
Piece trimmed(Piece piece);
/// Without a pair of quotes or (for `unwrapped`) of parentheses around all of it.
Piece unquoted(Piece piece);
Piece unwrapped(Piece piece);

/// The pieces between separators outside brackets and quotes, trimmed. An empty text has none; `//`
/// is an operator, not two slashes.
std::vector<Piece> split_top(Piece piece, char separator);
/// What stands before and after the first (last) such separator, if there is one.
std::optional<std::pair<Piece, Piece>> cut_first(Piece piece, char separator);
std::optional<std::pair<Piece, Piece>> cut_last(Piece piece, char separator);

/// An optionally signed decimal integer within ±kMaxPlace.
Result<std::int64_t> parse_int(Piece piece);
/// Integers separated by commas, in parentheses or not; at least one.
Result<layout::Shape> parse_ints(Piece piece);
/// A shape, by the rules of layout::parse_shape.
Result<layout::Shape> parse_shape_at(Piece piece);
/// An affine expression, by the rules of layout::parse_expr.
Result<layout::Expr> parse_expr_at(Piece piece, const layout::Names& names);

/// The axis of that name: one that `layout` uses, a declared or a built-in one. UnknownName
/// otherwise.
Result<layout::Axis> find_axis(Piece piece, const layout::Layout& layout,
                               const layout::Names& names);

/// The same, for axes of `layout` only; BadAxis, naming them, for any other.
Result<layout::Axis> find_own_axis(Piece piece, const layout::Layout& layout,
                                   const layout::Names& names);
/// The axis that a bare number is about: the only one there is, or `m`. BadAxis for others.
Result<layout::Axis> bare_axis(Piece number, const layout::Layout& layout);

/// A Diag about a piece, as a Diag about the whole: spans move, and a missing one becomes the
/// piece.
Diag located(Diag diag, Piece piece);
template <typename T>
Result<T> located(Result<T> result, Piece piece) {
  if (result) return result;
  return fail(located(std::move(result).error(), piece));
}

}  // namespace ww::driver
