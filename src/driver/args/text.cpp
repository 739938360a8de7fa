// SPDX-License-Identifier: Apache-2.0
#include "driver/args/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/suggest.h"

namespace ww::driver {
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
    return fail(diag(DiagKind::Overflow, "`{}` is beyond the largest number, 2^60", piece.text)
                    .with_span(piece.span()));
  if (error != std::errc() || stop != end)
    return fail(
        diag(DiagKind::Syntax, "`{}` is not an integer", piece.text).with_span(piece.span()));
  return value;
}

Result<layout::Shape> parse_ints(Piece piece) {
  layout::Shape values;
  for (const Piece& part : split_top(unwrapped(piece), ','))
    values.push_back(WW_TRY(parse_int(part)));
  if (values.empty())
    return fail(diag(DiagKind::Syntax, "expected integers separated by commas, found nothing")
                    .with_span(piece.span()));
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
  return fail(diag(DiagKind::UnknownName, "no axis is called `{}`{}", piece.text,
                   did_you_mean(piece.text, candidates))
                  .with_span(piece.span()));
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
  return std::find(axes.begin(), axes.end(), wanted) != axes.end();
}

}  // namespace

Result<layout::Axis> find_own_axis(Piece piece, const layout::Layout& layout,
                                   const layout::Names& names) {
  const layout::Axis axis = WW_TRY(find_axis(piece, layout, names));
  if (is_used(layout, axis)) return axis;
  return fail(diag(DiagKind::BadAxis, "the layout does not use axis `{}`; its axes: {}",
                   axis.name(), axes_text(layout))
                  .with_span(piece.span()));
}

Result<layout::Axis> bare_axis(Piece number, const layout::Layout& layout) {
  const auto axes = layout.tile().axes();
  if (axes.size() == 1) return axes.front();
  if (axes.empty() || is_used(layout, layout::axes::m())) return layout::axes::m();
  return fail(diag(DiagKind::BadAxis,
                   "`{}` names no axis, and the layout does not use `m`; its axes: {}", number.text,
                   axes_text(layout))
                  .with_span(number.span())
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
