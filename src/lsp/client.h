// SPDX-License-Identifier: Apache-2.0
// What the client said it can do, and a question about a place of a document.
#pragma once

#include <cstddef>
#include <string>

#include "lsp/analysis.h"
#include "lsp/json.h"
#include "lsp/text.h"

namespace ww::lsp {

struct ClientFeatures {
  Encoding encoding = Encoding::Utf16;
  bool has_markdown = false;  // in hovers
  bool has_pictures = false;  // in Markdown: it says how it renders that, or asked for pictures
  bool has_related_places = false;        // of diagnostics
  bool shows_documents = false;           // window/showDocument
  std::vector<std::string> folders = {};  // of the workspace, where modules are looked for

  /// From the parameters of `initialize`.
  static ClientFeatures of(const Json& params);
};

/// A question about a document that has been analysed.
struct Question {
  const std::string& uri;
  const Analysis& analysis;
  const ClientFeatures& client;

  [[nodiscard]] Json range(Span span) const {
    return range_json(*analysis.text, span, client.encoding);
  }
};

}  // namespace ww::lsp
