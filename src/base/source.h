// SPDX-License-Identifier: Apache-2.0
// Source text with line and column look-up, and the one function that turns a Diag into what a
// person reads: place, message, the line itself and a caret under the span.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"

namespace ww {

/// A text and the name it is shown under (a path, or `layout` for a command-line notation).
class SourceText {
 public:
  SourceText(std::string name, std::string text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view text() const { return text_; }

  struct Position {
    std::size_t line = 1;    // 1-based
    std::size_t column = 1;  // 1-based, in characters (UTF-8 sequences count once)
  };
  /// Position of a byte offset; offsets past the end give the end.
  [[nodiscard]] Position position(std::size_t offset) const;
  /// The line (1-based) of a byte offset.
  [[nodiscard]] std::size_t line_number(std::size_t offset) const;
  /// The line (1-based) without its line break; "" where there is none.
  [[nodiscard]] std::string_view line(std::size_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::size_t> line_starts_;
};

/// "name:line:col: error: text [Kind]", the line, a caret line, then the notes. Without a span only
/// the name and the message. Ends with a line break.
std::string render(const Diag& diag, const SourceText& source);
/// The same where the places of a second text follow those of the first: `continued` begins one
/// past the end of `source`.
std::string render(const Diag& diag, const SourceText& source, const SourceText& continued);
/// The same for a diagnostic that has no text to point into.
std::string render(const Diag& diag);

}  // namespace ww
