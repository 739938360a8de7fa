// SPDX-License-Identifier: Apache-2.0
// What the server answers about a document: hover.cpp (and definitions), lens.cpp (and inlay hints),
// completion.cpp (and signatures). Each gives the `result` of a response.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lsp/connection.h"

namespace ww::lsp {

/// A buffer, a primitive or a name of the language at a place; null for others.
Json hover(const Question& about, std::size_t offset);

/// Behind each primitive of a range what it became: `ldmatrix.x4 × 4, no conflicts`.
Json inlay_hints(const Question& about, Span range);
/// "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" → "ldmatrix.x4.trans".
std::string short_opcode(std::string_view opcode);

/// The commands of code lenses; their arguments are the URI and the kernel's expression.
inline constexpr std::string_view kRunCommand = "warpwright.run";
inline constexpr std::string_view kExploreCommand = "warpwright.explore";
/// Above each kernel: run on the virtual GPU, open in the explorer.
Json code_lenses(const Question& about);

/// Kernels and builders.
Json document_symbols(const Question& about);

/// Completion and signatures are of a text that may be newer than the analysis.
Json completion(const Question& about, const Text& text, std::size_t offset);
Json signature_help(const Question& about, const Text& text, std::size_t offset);

/// The text of a file by its path, as the client has it or from the disk; null if there is none.
using ReadText = std::function<std::shared_ptr<const Text>(const std::string& path)>;
/// Where the name at a place is bound, in this file or one that it imports; null for others.
Json definition(const Question& about, std::size_t offset, const ReadText& read);

}  // namespace ww::lsp
