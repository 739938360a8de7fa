// SPDX-License-Identifier: Apache-2.0
// Parses PTX text. The parser knows the whole grammar but no instructions: it accepts any dotted
// opcode with well-formed operands, and leaves the meaning to the catalogue (isa/). It does not
// look up names either.
//
// Time and memory are linear in the text. Nothing in a text can make the reader fail otherwise than
// with a located error: nesting, counts and the number of errors are bounded.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/diag.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

namespace ww::ptx {

// --- recover -------------------------------------------------------------------------------------
//
// Where the reader goes on after an error. All of these stop at the end and at a word that can only
// begin an item of a module.

/// Whether the token can only begin an item of a module.
bool at_item(const Cursor& cursor);
/// Inside a body: to after the next `;`, or to before the `}` that closes the block the cursor is
/// in. Blocks on the way are skipped whole, with what precedes them.
void skip_statement(Cursor& cursor);
/// At module level: to after the next `;` or `}`, with a `;` after that.
void skip_item(Cursor& cursor);
/// To the next of these punctuation characters.
void skip_to(Cursor& cursor, std::string_view any_of);

struct ParseOptions {
  /// Keep comments on their own line, as statements and items.
  bool keep_comments = false;
  /// After this many errors the rest of the text is not read.
  std::size_t max_errors = 100;
};

struct ParseResult {
  Module module;             // what could be read; whole only when there are no errors
  std::vector<Diag> errors;  // in source order, each with a span of the text

  [[nodiscard]] bool ok() const { return errors.empty(); }
};

/// Reads a module. After an error the reader goes on with the next statement or item, so that one
/// run reports all of them. Texts of 4 GiB and more are refused.
ParseResult parse(std::string_view text, const ParseOptions& options = {});

}  // namespace ww::ptx
