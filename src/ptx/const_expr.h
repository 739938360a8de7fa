// SPDX-License-Identifier: Apache-2.0
// Constant expressions of integers, as they may stand wherever PTX wants an integer: `(1<<4)|3`,
// `WARP_SZ-1`. They are computed while reading; a module holds only their values. Used inside this
// folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/cursor.h"
#include "ptx/operand.h"

namespace ww::ptx {

/// A 64-bit value and which of PTX's two constant types it has: .s64, or .u64.
struct Constant {
  std::uint64_t bits = 0;
  bool is_unsigned = false;
};

/// Reads the longest expression at the cursor: the operators of C except assignment, with C's
/// precedence, the casts (.s64) and (.u64), and WARP_SZ. Nothing, with the error reported, when
/// there is none, when it divides by zero, or when it nests too deeply.
std::optional<Constant> read_constant(Cursor& cursor);

/// Whether the token at the cursor continues an expression after an operand. `%` does, `%3` is a
/// register.
inline bool at_operator(const Cursor& cursor) {
  // What follows nearly all integers.
  if (cursor.at(',') || cursor.at(';') || cursor.at(']') || cursor.at('}')) return false;
  return !cursor.at_end() && !cursor.at_name() &&
         std::string_view("|&^=!<>+-*/%?").contains(cursor.rest().front());
}

/// How a computed value is written: `-3`, `7`, `7U`.
Spelling spelling_of(const Constant& constant);

}  // namespace ww::ptx
