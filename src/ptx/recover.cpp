// SPDX-License-Identifier: Apache-2.0
#include "ptx/recover.h"

#include <algorithm>
#include <iterator>

namespace ww::ptx {
namespace {

void skip_braces(Cursor& cursor) {
  std::size_t depth = 0;
  do {
    const char first = cursor.here();
    cursor.take();
    if (first == '{') ++depth;
    if (first == '}') --depth;
  } while (depth > 0 && !cursor.at_end());
}

}  // namespace

bool at_item(const Cursor& cursor) {
  static constexpr std::string_view kWords[] = {".visible", ".weak",    ".entry", ".func",
                                                ".version", ".section", ".alias"};
  constexpr std::string_view kLetters = "vwefsa";
  if (cursor.here() != '.') return false;
  const std::string_view rest = cursor.rest();
  return rest.size() > 1 && kLetters.contains(rest[1]) &&
         std::ranges::find(kWords, cursor.text()) != std::end(kWords);
}

// Braces are a list of operands or a block; what stands before the `{` and after the `}` tells. The
// list that the cursor is in when the error is found was opened before.
void skip_statement(Cursor& cursor) {
  const auto precedes_operand = [](char c) {
    return c == ',' || c == '|' || c == '{' || c == '[' || c == '(';
  };
  std::size_t blocks = 0;
  std::size_t lists = 0;
  bool expects_operand = precedes_operand(cursor.last_char());
  while (!cursor.at_end() && !at_item(cursor)) {
    const std::uint32_t place = cursor.offset();
    const char first = cursor.here();
    const bool is_name = cursor.at_name();
    cursor.take();
    if (first == ';') lists = 0;
    if (first == ';' && blocks == 0) return;
    if (first == '{') ++(expects_operand ? lists : blocks);
    if (first == '}' && lists > 0) {
      --lists;
    } else if (first == '}' && !cursor.at(',') && !cursor.at(';') && !cursor.at('|')) {
      if (blocks == 0) return cursor.go_back_to(place);
      if (--blocks == 0) return;
    }
    expects_operand = is_name || precedes_operand(first);
  }
}

void skip_item(Cursor& cursor) {
  while (!cursor.at_end() && !at_item(cursor)) {
    const char first = cursor.here();
    if (first == '{')
      skip_braces(cursor);
    else
      cursor.take();
    if (first == ';') return;
    if (first == '{' || (first == '}' && !cursor.at(',') && !cursor.at('}'))) {
      cursor.accept(';');
      return;
    }
  }
}

void skip_to(Cursor& cursor, std::string_view any_of) {
  while (!cursor.at_end() && !any_of.contains(cursor.here()) && !at_item(cursor)) cursor.take();
}

}  // namespace ww::ptx
