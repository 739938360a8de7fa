// SPDX-License-Identifier: Apache-2.0
// For this folder's tests: texts in, modules and readable errors out.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "ptx/module.h"
#include "ptx/parser.h"

namespace ww::ptx {

inline std::string with_header(std::string_view text) {
  return ".version 8.8\n.target sm_90a\n.address_size 64\n" + std::string(text);
}

/// A module with one kernel `k`; the body begins on line 6.
inline std::string in_kernel(std::string_view body) {
  return with_header(".entry k()\n{\n" + std::string(body) + "\n}\n");
}

/// "6:3: found `;`, expected an operand [Syntax]", and the notes on lines of their own.
inline std::vector<std::string> errors_of(std::string_view text, const ParseOptions& options = {}) {
  const SourceText source("", std::string(text));
  std::vector<std::string> lines;
  for (const Diag& diag : parse(text, options).errors) {
    const auto at = source.position(diag.span.begin);
    lines.push_back(
        fmt::format("{}:{}: {} [{}]", at.line, at.column, diag.text, name_of(diag.kind)));
    for (const Note& note : diag.notes) lines.push_back("note: " + note.text);
  }
  return lines;
}

/// The module; a failure of the test when the text has errors.
inline Module read(std::string_view text, const ParseOptions& options = {}) {
  ParseResult result = parse(text, options);
  for (const Diag& diag : result.errors) ADD_FAILURE() << diag.text << "\nin\n" << text;
  return std::move(result.module);
}

}  // namespace ww::ptx
