// SPDX-License-Identifier: Apache-2.0
// Problems as the protocol has them.
#pragma once

#include <span>

#include "driver/run/tool.h"
#include "lsp/connection.h"

namespace ww::lsp {

/// Parameters of textDocument/publishDiagnostics.
Json diagnostics_json(const Question& about, std::span<const Problem> more);

/// What a run on the virtual GPU found, at lines of the text.
std::vector<Problem> problems_of_run(const driver::RunReport& report, const Text& text,
                                     Span kernel);

/// Quick fixes and rewrites for a range of the document: answers textDocument/codeAction.
Json code_actions(const Question& about, Span range);

}  // namespace ww::lsp
