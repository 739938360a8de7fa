// SPDX-License-Identifier: Apache-2.0
// The error of a text, for tests of the parser.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/source.h"
#include "script/syntax/parser.h"

namespace ww::script {

/// "2:3: found ..., expected ... [Syntax]", then the notes; "" when the text parses.
inline std::string error_of(std::string_view text) {
  SymbolTable symbols;
  const auto ast = parse_file(text, symbols);
  if (ast) return "";
  const SourceText source("", std::string(text));
  const auto at = [&](Span span) {
    const auto position = source.position(span.begin);
    return fmt::format("{}:{}: ", position.line, position.column);
  };
  const Diag& error = ast.error();
  std::string out = fmt::format("{}{} [{}]", at(error.span), error.text, name_of(error.kind));
  for (const Note& note : error.notes)
    out += fmt::format(" | {}{}", note.span.known ? at(note.span) : "", note.text);
  return out;
}

}  // namespace ww::script
