// SPDX-License-Identifier: Apache-2.0
// Source text with line and column look-up, and the one function that renders a Diag for people:
// location, message, the line itself and a caret under the span.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"

namespace ww {

/// A text and the name it is shown under (a path, or `layout` for a command-line notation). Other
/// files may follow the first: offsets go on, and positions have the file and its own lines.
class SourceText {
 public:
  SourceText(std::string name, std::string text);
  /// Appends a file after the last one, separated by a line break.
  void add_file(std::string name, const std::string& text);

  /// Of the first file.
  [[nodiscard]] const std::string& name() const { return files_[0].name; }
  /// Of all files.
  [[nodiscard]] std::string_view text() const { return text_; }

  [[nodiscard]] std::size_t file_count() const { return files_.size(); }
  [[nodiscard]] const std::string& file_name(std::size_t file) const { return files_[file].name; }
  [[nodiscard]] std::size_t file_begin(std::size_t file) const { return files_[file].begin; }
  [[nodiscard]] std::string_view file_text(std::size_t file) const;

  struct Position {
    std::size_t line = 1;    // 1-based
    std::size_t column = 1;  // 1-based, in characters (UTF-8 sequences count once)
    std::size_t file = 0;    // that the line is of

    bool operator==(const Position&) const = default;
  };
  /// Position of a byte offset; offsets past the end give the end.
  [[nodiscard]] Position position(std::size_t offset) const;
  /// The line (1-based) of a byte offset, counted from the first line of the first file.
  [[nodiscard]] std::size_t line_number(std::size_t offset) const;
  /// That line without its line break; "" if there is no such line.
  [[nodiscard]] std::string_view line(std::size_t number) const;
  /// A line (1-based) of a file, the same way.
  [[nodiscard]] std::string_view line_of_file(std::size_t file, std::size_t number) const;

 private:
  struct File {
    std::string name;
    std::size_t begin = 0;       // offset
    std::size_t first_line = 1;  // among all lines
  };

  std::vector<File> files_;
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
