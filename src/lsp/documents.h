// SPDX-License-Identifier: Apache-2.0
// The documents that a client has open: their texts, versions and changes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "lsp/json.h"
#include "lsp/text.h"

namespace ww::lsp {

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
