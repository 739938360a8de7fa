// SPDX-License-Identifier: Apache-2.0
// The promise of the front end about any text, in one function: for the tests with changed
// programs, and for the fuzzer.
#pragma once

#include <string>
#include <string_view>

#include "ir/equal.h"
#include "ir/print/print.h"
#include "script/compile.h"

namespace ww::script {

inline std::string broken_place(Span span, std::size_t end) {
  const bool is_inside = !span.known || (span.begin <= span.end && span.end <= end);
  return is_inside ? "" : "a place is outside of the texts";
}

/// What is wrong with how `text` compiles, or "" when all is well: either there are errors, each
/// with a place inside the texts, or there is a function that prints to a text that compiles to an
/// equal function and prints to itself.
inline std::string broken_law(std::string_view text, const Options& options) {
  const Compiled compiled = compile(SourceText("fuzz", std::string(text)), options);
  const std::size_t end = compiled.source.text().size() + 1 + compiled.expression.text().size();
  for (const Diag& error : compiled.errors) {
    if (error.text.empty()) return "an error says nothing";
    std::string broken = broken_place(error.span, end);
    for (const Note& note : error.notes) broken += broken_place(note.span, end);
    if (!broken.empty()) return broken + ": " + error.text;
    if (compiled.render(error).empty()) return "an error renders to nothing";
  }
  if (compiled.function.has_value() != compiled.errors.empty()) return "a function beside errors";
  if (!compiled.function) return "";
  const std::string printed = ir::print(*compiled.function);
  const Compiled again = compile(SourceText("printed", printed));
  if (!again.function)
    return "what is printed does not compile: " + again.render(again.errors.front()) + printed;
  if (const auto difference = ir::difference(*compiled.function, *again.function))
    return "what is printed is another function: " + *difference + "\n" + printed;
  if (ir::print(*again.function) != printed) return "printing twice gives two texts: " + printed;
  return "";
}

/// The kernel expression of a golden program: behind `#: kernel = ` on its first line.
inline std::string kernel_of(std::string_view program) {
  constexpr std::string_view kKey = "#: kernel = ";
  if (!program.starts_with(kKey)) return "";
  program.remove_prefix(kKey.size());
  program = program.substr(0, std::min(program.find("  "), program.find('\n')));
  return std::string(program);
}

}  // namespace ww::script
