// SPDX-License-Identifier: Apache-2.0
// The statements of a text, read through a cursor. Used inside this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "script/syntax/expr_parser.h"
#include "script/syntax/parse_cursor.h"

namespace ww::script {

/// An `if` has no more `elif` than this. Each is a statement inside the one before it.
inline constexpr int kMaxElifs = 1000;

/// All statements up to the end of the text.
Result<ListOf<StmtId>> parse_statements(ParseCursor& cursor);

// stmt_parser.cpp
/// One statement, or several on a line.
Result<void> parse_statement(ParseCursor& cursor, ListBuilder<StmtId>& out);
/// Statements without blocks, up to the end of the line.
Result<void> parse_line(ParseCursor& cursor, ListBuilder<StmtId>& out);

// block_parser.cpp
/// A statement with blocks.
Result<StmtId> parse_compound(ParseCursor& cursor);
/// A statement that is not modelled, `word` long: its lines and block are skipped.
Result<StmtId> parse_unsupported(ParseCursor& cursor, std::uint32_t begin, const Token& word);
[[nodiscard]] bool at_match(const ParseCursor& cursor);
[[nodiscard]] bool at_type(const ParseCursor& cursor);

}  // namespace ww::script
