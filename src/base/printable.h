// SPDX-License-Identifier: Apache-2.0
// Makes text from outside harmless: file names, source lines, output of kernels. A terminal acts on
// control characters, so a name could move the cursor, hide a line or reverse the direction of
// text; the program never prints these unescaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ww {

/// How to print line breaks and tabs. A name should have none, so there they are escaped.
enum class Breaks : std::uint8_t { Keep, Spell };

/// The text with everything spelled out that is not for showing: `\n`, `\t`, `\x1b` for other
/// control characters of ASCII and for bytes that are not UTF-8, `\u202e` for control characters
/// beyond ASCII and for those that change the direction of text.
std::string printable(std::string_view text, Breaks breaks);

/// A name in a message or a report.
inline std::string printable_name(std::string_view name) { return printable(name, Breaks::Spell); }

/// Its beginning where it is long, in whole characters: a token in a message.
std::string printable_excerpt(std::string_view text);

/// The same in as many characters as before: a space for a tab and its like, U+FFFD for the others.
/// For lines with carets below.
std::string printable_columns(std::string_view text);

/// JSON with what printable() would spell out as `\u202e`; its meaning stays. The text must be JSON
/// in UTF-8.
std::string printable_json(std::string_view text);

/// A path for strings and comments of generated code. PTX takes printable ASCII without quotes in a
/// string and knows no escapes there, so the rest becomes `\303\244`, as nvcc writes it.
std::string path_in_code(std::string_view path);
/// The path that was written so, or by nvcc.
std::string path_from_code(std::string_view text);

}  // namespace ww
