// SPDX-License-Identifier: Apache-2.0
// The promise of the PTX reader about any text, in one function: for the property tests, and for
// the fuzzer.
#pragma once

#include <string>
#include <string_view>

#include "ptx/module.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace ww::ptx {

/// What is wrong with how `text` is read, or "" when all is well: either there are errors, each
/// with a place inside the text, or what is read prints to a text that reads back equal and prints
/// to itself.
inline std::string broken_law(std::string_view text, const ParseOptions& options) {
  const ParseResult result = parse(text, options);
  for (const Diag& diag : result.errors) {
    if (!diag.span.known || diag.span.begin > diag.span.end || diag.span.end > text.size())
      return "an error is not inside the text: " + diag.text;
    if (diag.text.empty()) return "an error says nothing";
  }
  // What could be read in spite of errors prints as well, if only so that someone can look at it.
  const std::string printed = print(result.module);
  if (!result.ok()) return "";
  const ParseResult again = parse(printed, options);
  if (!again.ok()) return "what is printed does not read: " + again.errors.front().text;
  if (!equal(result.module, again.module)) return "what is printed reads as another module";
  if (print(again.module) != printed) return "printing twice gives two texts";
  return "";
}

/// The same with and without comments.
inline std::string broken_law(std::string_view text) {
  const std::string without = broken_law(text, {});
  if (!without.empty()) return without;
  return broken_law(text, {.keep_comments = true});
}

}  // namespace ww::ptx
