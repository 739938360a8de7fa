// SPDX-License-Identifier: Apache-2.0
// The requests about an open document, a row each: what it has to wait for, and the function that
// reads its parameters and asks a feature (lsp/features.h, lsp/diagnostics.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "lsp/client.h"
#include "lsp/documents.h"

namespace ww::lsp {

/// A request's parameters, and what they are about.
struct Asked {
  const Question& about;
  const Document& document;    // its text may be newer than the analysis in `about`
  const Documents& documents;  // all that are open
  const Json& params;

  /// `position` and `range` of the parameters, in bytes of the document. BadArgument where they are
  /// missing.
  [[nodiscard]] Result<std::size_t> offset() const;
  [[nodiscard]] Result<Span> range() const;
};

struct RequestMethod {
  enum class Wants : std::uint8_t { Anything, Analysis };  // of the newest text

  std::string_view name;  // "textDocument/hover"
  Wants wants;
  /// The `result` of the response, or what is wrong with the parameters.
  Result<Json> (*answer)(const Asked& asked);
};

/// Null when there is none of that name.
const RequestMethod* find_request_method(std::string_view name);

}  // namespace ww::lsp
