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

#include "base/fail_at.h"
#include "driver/args/array.h"
#include "layout/layout.h"
#include "layout/text.h"
#include "num/dtype.h"

namespace ww::driver {

// --- typed text ----------------------------------------------------------------------------------
//
// Element types with shapes, and single values of an element type, from text: `float16[8,16]`, and
// `42` as an int32. Types go by any name of num/dtypes.def: float16, f16, half, i32, bf16, ...

struct ShapedType {
  num::DType dtype{};
  std::vector<std::int64_t> shape;

  friend bool operator==(const ShapedType&, const ShapedType&) = default;
};

/// `TYPE[EXTENT,...]` with at least one extent, each at least 1. The Diag's span points into
/// `text`: Syntax, UnknownName (with the nearest type), BadExtent, or TooLarge as in byte_size.
Result<ShapedType> parse_shaped_type(std::string_view text);

/// A value of that type, as an array of no dimensions. Integers are decimal or `0x...`, and bools
/// also true and false; floats are decimal numbers, rounded to nearest, inf and nan. BadArgument
/// for what the type does not have: a number beyond its range, a fraction, an infinity, a zero in
/// ue8m0. The Diag's span points into `text`.
Result<Array> parse_scalar(num::DType type, std::string_view text);
/// The same with the type's name. An unknown type is an UnknownName whose span points into `type`.
Result<Array> parse_scalar(std::string_view type, std::string_view text);

/// An integer between -2^63 and 2^64 - 1, decimal or `0x...`. Syntax, or Overflow beyond that.
Result<Wide> parse_wide(std::string_view text);
/// A decimal number, inf or nan, with or without a sign, as a double. Syntax, or Overflow when a
/// finite number is beyond it.
Result<double> parse_real(std::string_view text);

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
