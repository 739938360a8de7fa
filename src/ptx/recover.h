// SPDX-License-Identifier: Apache-2.0
// Where the reader goes on after an error. All of these stop at the end and at a word that can only
// begin an item of a module.
#pragma once

#include <string_view>

#include "ptx/cursor.h"

namespace ww::ptx {

/// Whether the token can only begin an item of a module.
bool at_item(const Cursor& cursor);
/// Inside a body: to after the next `;`, or to before the `}` that closes the block the cursor is
/// in. Blocks on the way are skipped whole, with what precedes them.
void skip_statement(Cursor& cursor);
/// At module level: to after the next `;` or `}`, with a `;` after that.
void skip_item(Cursor& cursor);
/// To the next of these punctuation characters.
void skip_to(Cursor& cursor, std::string_view any_of);

}  // namespace ww::ptx
