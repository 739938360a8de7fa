// SPDX-License-Identifier: Apache-2.0
// SVG 1.1 elements as text: escaping, numbers of fixed precision, the few shapes our pictures need.
// Only presentation attributes are used, no style sheet and no script, so that every converter
// reads it alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "view/paint.h"

namespace ww::view {

/// Text with & < > " ' replaced by entities and control characters by blanks.
std::string escape_xml(std::string_view text);

/// Is this a later byte of a UTF-8 sequence?
bool is_continuation_byte(char c);
/// Characters of a UTF-8 text.
std::size_t count_characters(std::string_view text);

/// A coordinate: at most two decimals, no trailing zeros, no "-0".
std::string svg_number(double value);

enum class Anchor : std::uint8_t { Start, Middle, End };
enum class Font : std::uint8_t { Sans, Mono };

/// How a run of text elements looks; shared by a group so that each element stays short.
struct TextStyle {
  double size = 11;
  Anchor anchor = Anchor::Start;
  Font font = Font::Sans;
  Rgb fill = kInk;
  bool is_bold = false;
};

class SvgWriter {
 public:
  void rect(double x, double y, double width, double height, Rgb fill);
  /// The same with a text that shows when a pointer rests on it.
  void rect(double x, double y, double width, double height, Rgb fill, std::string_view hover);
  void path(std::string_view data, Rgb stroke, double stroke_width);

  /// Texts between open_text and close share the style.
  void open_text(const TextStyle& style);
  void text(double x, double y, std::string_view content);
  void text(double x, double y, std::string_view content, Rgb fill);
  /// Cells between open_cells and close get a thin outline (none at 0).
  void open_cells(double stroke_width);
  void close();

  /// The whole document of this size, on a white ground, with a title for screen readers.
  [[nodiscard]] std::string finish(double width, double height, std::string_view title) &&;

 private:
  std::string body_;
};

}  // namespace ww::view
