// SPDX-License-Identifier: Apache-2.0
// The documents that a client has open: their texts, versions and changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "base/result.h"
#include "lsp/protocol.h"

namespace ww::lsp {

// --- text ----------------------------------------------------------------------------------------
//
// A text as an editor counts it: lines end in `\n`, `\r\n` or `\r`, and a place in a line counts
// bytes or 16-bit units of UTF-16. Everything else here counts bytes.

/// What `character` of a position counts.
enum class Encoding : std::uint8_t { Utf8, Utf16 };
std::string_view name_of(Encoding encoding);  // "utf-8", "utf-16"

struct Position {
  std::int64_t line = 0;  // from 0
  std::int64_t character = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

class Text {
 public:
  explicit Text(std::string bytes);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t line_count() const { return starts_.size(); }
  /// Without its end; "" past the last one.
  [[nodiscard]] std::string_view line(std::size_t number) const;
  [[nodiscard]] std::size_t line_of(std::size_t offset) const;
  [[nodiscard]] std::size_t line_begin(std::size_t number) const { return starts_[number]; }

  /// What lies behind the end of a line means its end, behind the text the end of the text, inside
  /// a character its begin; negative numbers count as 0.
  [[nodiscard]] std::size_t offset(Position position, Encoding encoding) const;
  [[nodiscard]] Position position(std::size_t offset, Encoding encoding) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> starts_;
};

inline constexpr std::size_t kMaxDocuments = 1000;

struct Document {
  std::string uri;
  std::string path;  // of a file; another document has its URI here
  std::int64_t version = 0;
  std::shared_ptr<const Text> text;
};

/// `file:///a%20b.py` → "/a b.py". Others come back as they are.
std::string path_of(std::string_view uri);
/// The other way round, for an absolute path.
std::string uri_of(std::string_view path);

/// A position of a message: BadArgument where it is none.
Result<Position> read_position(const Json& json, std::string_view path);
Json position_json(Position position);
Json range_json(const Text& text, Span span, Encoding encoding);

class Documents {
 public:
  /// Parameters of didOpen, didChange, didClose; each gives the document's URI. BadArgument where
  /// fields are missing, a document is not open or open already, or its text is too large: the
  /// document then stays as it was.
  Result<std::string> open(const Json& params);
  Result<std::string> change(const Json& params, Encoding encoding);
  Result<std::string> close(const Json& params);

  /// Null when it is not open.
  [[nodiscard]] const Document* find(std::string_view uri) const;
  [[nodiscard]] const Document* find_path(std::string_view path) const;

 private:
  std::map<std::string, Document, std::less<>> open_;
};

}  // namespace ww::lsp
