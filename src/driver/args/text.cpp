// SPDX-License-Identifier: Apache-2.0
#include "driver/args/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "base/suggest.h"
#include "num/float_format.h"

namespace ww::driver {

// --- typed text ----------------------------------------------------------------------------------

namespace {

using num::DType;
using num::DTypeKind;

Diag beyond_range(DType type, std::string_view text, const std::string& min,
                  const std::string& max) {
  return diag(DiagKind::BadArgument, "`{}` is out of range for `{}`, which goes from {} to {}",
              text, num::name_of(type), min, max);
}

Result<std::uint64_t> int_bits_of(DType type, std::string_view text) {
  const Wide value = WW_TRY(parse_wide(text));
  const IntRange range = int_range(type);
  if (value < range.min || value > range.max)
    return fail(
        beyond_range(type, text, fmt::format("{}", range.min), fmt::format("{}", range.max)));
  return bits_from_int(type, static_cast<std::int64_t>(static_cast<std::uint64_t>(value)));
}

Result<std::uint64_t> bool_bits_of(std::string_view text) {
  if (text == "true" || text == "True" || text == "1") return 1U;
  if (text == "false" || text == "False" || text == "0") return 0U;
  return fail(DiagKind::BadArgument, "`{}` is not a bool; expected true, false, 1 or 0", text);
}

Diag lacks(DType type, std::string_view what) {
  return diag(DiagKind::BadArgument, "`{}` has no {}", num::name_of(type), what);
}

Result<std::uint64_t> float_bits_of(DType type, std::string_view text) {
  const double value = WW_TRY(parse_real(text));
  const num::FloatFormat& format = num::format_of(type);
  if (std::isnan(value) && format.specials == num::Specials::None) return fail(lacks(type, "NaN"));
  if (std::isinf(value) && format.specials != num::Specials::Ieee)
    return fail(lacks(type, "infinity"));
  if (!format.has_sign && value < 0) return fail(lacks(type, "negative numbers"));
  if (!format.has_sign && value == 0) return fail(lacks(type, "zero"));
  const double most = num::largest(type);
  if (std::isfinite(value) && std::fabs(value) > most) {
    const std::string shown = element_text(type, bits_from(type, most));
    return fail(beyond_range(type, text, format.has_sign ? "-" + shown : "0", shown));
  }
  return bits_from(type, value);
}

Result<std::uint64_t> bits_of_text(DType type, std::string_view text) {
  switch (num::kind_of(type)) {
    case DTypeKind::Bool:
      return bool_bits_of(text);
    case DTypeKind::Int:
    case DTypeKind::Uint:
      return int_bits_of(type, text);
    case DTypeKind::Float:
      break;
  }
  return float_bits_of(type, text);
}

struct Signed {
  bool is_negative;
  std::string_view rest;
};
Signed without_sign(std::string_view text) {
  const bool has_sign = !text.empty() && (text.front() == '-' || text.front() == '+');
  return {has_sign && text.front() == '-', text.substr(has_sign ? 1 : 0)};
}

Result<std::int64_t> parse_extent(Piece piece) {
  const std::int64_t extent = WW_TRY(parse_int(piece));
  if (extent >= 1) return extent;
  return fail_at(piece.span(), DiagKind::BadExtent, "the extent is {}; it must be at least 1",
                 extent);
}

}  // namespace

Result<Wide> parse_wide(std::string_view text) {
  const auto refused = [&](DiagKind kind, std::string_view why) {
    return fail_at(Span::at(0, text.size()), kind, "`{}` {}", text, why);
  };
  Signed number = without_sign(text);
  const bool is_hex = number.rest.starts_with("0x") || number.rest.starts_with("0X");
  if (is_hex) number.rest.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const char* const end = number.rest.data() + number.rest.size();
  const auto [stop, error] = std::from_chars(number.rest.data(), end, magnitude, is_hex ? 16 : 10);
  if (error == std::errc::invalid_argument || stop != end)
    return refused(DiagKind::Syntax, "is not an integer");
  const bool is_too_low = number.is_negative && magnitude > std::uint64_t{1} << 63U;
  if (error != std::errc() || is_too_low) return refused(DiagKind::Overflow, "is beyond 64 bits");
  const Wide value{magnitude};
  return number.is_negative ? -value : value;
}

Result<double> parse_real(std::string_view text) {
  const auto refused = [&](DiagKind kind, std::string_view why) {
    return fail_at(Span::at(0, text.size()), kind, "`{}` {}", text, why);
  };
  const Signed number = without_sign(text);
  double magnitude = 0;
  const char* const end = number.rest.data() + number.rest.size();
  const auto [stop, error] = std::from_chars(number.rest.data(), end, magnitude);
  // from_chars takes a sign of its own, and words such as nan(ind).
  const bool is_plain = !number.rest.starts_with('-') && !number.rest.ends_with(')');
  if (error == std::errc::invalid_argument || stop != end || !is_plain)
    return refused(DiagKind::Syntax, "is not a number");
  if (error != std::errc())
    return refused(DiagKind::Overflow, "is beyond what a 64-bit float holds");
  return number.is_negative ? -magnitude : magnitude;
}

Result<ShapedType> parse_shaped_type(std::string_view text) {
  const Piece whole = trimmed({text, 0});
  const std::size_t open = whole.text.find('[');
  if (open == std::string_view::npos || !whole.text.ends_with(']'))
    return fail_at(whole.span(), DiagKind::Syntax,
                   "expected a type with a shape, such as `float16[8,16]`, "
                   "found `{}`",
                   whole.text);
  const Piece name = trimmed({whole.text.substr(0, open), whole.offset});
  const Piece extents{whole.text.substr(open + 1, whole.text.size() - open - 2),
                      whole.offset + open + 1};
  ShapedType out{WW_TRY(located(num::parse_dtype(name.text), name)), {}};
  for (const Piece& piece : split_top(extents, ','))
    out.shape.push_back(WW_TRY(parse_extent(piece)));
  if (out.shape.empty())
    return fail_at(extents.span(), DiagKind::Syntax,
                   "expected extents between the brackets, found nothing");
  const auto bytes = byte_size(out.dtype, out.shape);
  if (!bytes) return fail(located(bytes.error(), whole));
  return out;
}

Result<Array> parse_scalar(DType type, std::string_view text) {
  const Piece piece = trimmed({text, 0});
  const std::uint64_t bits = WW_TRY(located(bits_of_text(type, piece.text), piece));
  Array out = WW_TRY(Array::zeros(type, {}));
  out.set_bits(0, bits);
  return out;
}

Result<Array> parse_scalar(std::string_view type, std::string_view text) {
  return parse_scalar(WW_TRY(num::parse_dtype(type)), text);
}

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

Piece sub_piece(Piece whole, std::size_t begin, std::size_t end) {
  return {whole.text.substr(begin, end - begin), whole.offset + begin};
}

// Walks a text and knows how deep in brackets, and whether in quotes, the walker stands.
class Depth {
 public:
  /// Is `c` itself outside everything? Brackets and quotes are not.
  bool is_outside(char c) {
    if (quote_ != '\0') {
      if (c == quote_) quote_ = '\0';
      return false;
    }
    if (c == '"' || c == '\'') {
      quote_ = c;
      return false;
    }
    if (c == '(' || c == '[' || c == '{') return ++depth_, false;
    if (c == ')' || c == ']' || c == '}') return depth_ -= depth_ > 0 ? 1 : 0, false;
    return depth_ == 0;
  }
  [[nodiscard]] bool stands_outside() const { return depth_ == 0 && quote_ == '\0'; }

 private:
  int depth_ = 0;
  char quote_ = '\0';
};

bool is_doubled(std::string_view text, std::size_t at) {
  const char c = text[at];
  return c == '/' && ((at > 0 && text[at - 1] == c) || (at + 1 < text.size() && text[at + 1] == c));
}

std::vector<std::size_t> separators(std::string_view text, char separator) {
  std::vector<std::size_t> found;
  Depth depth;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (depth.is_outside(text[i]) && text[i] == separator && !is_doubled(text, i))
      found.push_back(i);
  return found;
}

std::pair<Piece, Piece> cut_at(Piece piece, std::size_t at) {
  return {trimmed(sub_piece(piece, 0, at)), trimmed(sub_piece(piece, at + 1, piece.text.size()))};
}

bool is_enclosed(std::string_view text, char open, char close) {
  return text.size() >= 2 && text.front() == open && text.back() == close;
}

// "(1,2),(3)" begins and ends with a parenthesis, but not with a pair: after the first group the
// walker stands outside again.
bool is_one_group(std::string_view text) {
  Depth depth;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    (void)depth.is_outside(text[i]);
    if (depth.stands_outside()) return false;
  }
  return true;
}

}  // namespace

Piece trimmed(Piece piece) {
  const std::size_t begin = piece.text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return sub_piece(piece, 0, 0);
  return sub_piece(piece, begin, piece.text.find_last_not_of(kBlanks) + 1);
}

Piece unquoted(Piece piece) {
  if (!is_enclosed(piece.text, '"', '"') && !is_enclosed(piece.text, '\'', '\'')) return piece;
  return sub_piece(piece, 1, piece.text.size() - 1);
}

Piece unwrapped(Piece piece) {
  if (!is_enclosed(piece.text, '(', ')') || !is_one_group(piece.text)) return piece;
  return trimmed(sub_piece(piece, 1, piece.text.size() - 1));
}

std::vector<Piece> split_top(Piece piece, char separator) {
  std::vector<Piece> pieces;
  if (trimmed(piece).empty()) return pieces;
  std::size_t begin = 0;
  for (const std::size_t at : separators(piece.text, separator)) {
    pieces.push_back(trimmed(sub_piece(piece, begin, at)));
    begin = at + 1;
  }
  pieces.push_back(trimmed(sub_piece(piece, begin, piece.text.size())));
  return pieces;
}

std::optional<std::pair<Piece, Piece>> cut_first(Piece piece, char separator) {
  const auto found = separators(piece.text, separator);
  if (found.empty()) return std::nullopt;
  return cut_at(piece, found.front());
}

std::optional<std::pair<Piece, Piece>> cut_last(Piece piece, char separator) {
  const auto found = separators(piece.text, separator);
  if (found.empty()) return std::nullopt;
  return cut_at(piece, found.back());
}

Result<std::int64_t> parse_int(Piece piece) {
  std::int64_t value = 0;
  const char* begin = piece.text.data();
  const char* end = begin + piece.text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  const bool is_small = value >= -layout::kMaxPlace && value <= layout::kMaxPlace;
  if (error == std::errc::result_out_of_range || !is_small)
    return fail_at(piece.span(), DiagKind::Overflow, "`{}` is beyond the largest number, 2^60",
                   piece.text);
  if (error != std::errc() || stop != end)
    return fail_at(piece.span(), DiagKind::Syntax, "`{}` is not an integer", piece.text);
  return value;
}

Result<layout::Shape> parse_ints(Piece piece) {
  layout::Shape values;
  for (const Piece& part : split_top(unwrapped(piece), ','))
    values.push_back(WW_TRY(parse_int(part)));
  if (values.empty())
    return fail_at(piece.span(), DiagKind::Syntax,
                   "expected integers separated by commas, found nothing");
  return values;
}

Result<layout::Shape> parse_shape_at(Piece piece) {
  return located(layout::parse_shape(piece.text), piece);
}

Result<layout::Expr> parse_expr_at(Piece piece, const layout::Names& names) {
  return located(layout::parse_expr(piece.text, names), piece);
}

Result<layout::Axis> find_axis(Piece piece, const layout::Layout& layout,
                               const layout::Names& names) {
  for (const layout::Axis axis : layout.tile().axes())
    if (axis.name() == piece.text) return axis;
  if (const auto declared = names.axes.find(piece.text); declared != names.axes.end())
    return declared->second;
  if (const auto known = layout::Axis::builtin(piece.text)) return *known;
  std::vector<std::string_view> candidates;
  for (const layout::Axis axis : layout.tile().axes()) candidates.push_back(axis.name());
  for (const auto& [name, axis] : names.axes) candidates.emplace_back(name);
  for (const layout::Axis axis : layout::builtin_axes()) candidates.push_back(axis.name());
  return fail_at(piece.span(), DiagKind::UnknownName, "no axis is called `{}`{}", piece.text,
                 did_you_mean(piece.text, candidates));
}

namespace {

// "`laneid`, `m`"
std::string axes_text(const layout::Layout& layout) {
  std::string out;
  for (const layout::Axis axis : layout.tile().axes())
    out += fmt::format("{}`{}`", out.empty() ? "" : ", ", axis.name());
  return out.empty() ? "none" : out;
}

bool is_used(const layout::Layout& layout, layout::Axis wanted) {
  const auto axes = layout.tile().axes();
  return std::ranges::find(axes, wanted) != axes.end();
}

}  // namespace

Result<layout::Axis> find_own_axis(Piece piece, const layout::Layout& layout,
                                   const layout::Names& names) {
  const layout::Axis axis = WW_TRY(find_axis(piece, layout, names));
  if (is_used(layout, axis)) return axis;
  return fail_at(piece.span(), DiagKind::BadAxis, "the layout does not use axis `{}`; its axes: {}",
                 axis.name(), axes_text(layout));
}

Result<layout::Axis> bare_axis(Piece number, const layout::Layout& layout) {
  const auto axes = layout.tile().axes();
  if (axes.size() == 1) return axes.front();
  if (axes.empty() || is_used(layout, layout::axes::m())) return layout::axes::m();
  return fail(diag_at(number.span(), DiagKind::BadAxis,
                      "`{}` names no axis, and the layout does not use `m`; its axes: {}",
                      number.text, axes_text(layout))
                  .with_note(fmt::format("write `{}={}`", axes.front().name(), number.text)));
}

Diag located(Diag diag, Piece piece) {
  if (diag.span.known)
    diag.span = Span::at(diag.span.begin + piece.offset, diag.span.end + piece.offset);
  else
    diag.span = piece.span();
  for (Note& note : diag.notes)
    if (note.span.known)
      note.span = Span::at(note.span.begin + piece.offset, note.span.end + piece.offset);
  return diag;
}

}  // namespace ww::driver
