// SPDX-License-Identifier: Apache-2.0
#include "ptx/source_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

namespace ww::ptx {

const Function* function_at(const Module& module, Span place) {
  if (!place.known) return nullptr;
  const auto found = std::ranges::find_if(module.functions, [&](const Function& function) {
    return function.offset <= place.begin && place.begin <= function.end_offset;
  });
  return found == module.functions.end() ? nullptr : &*found;
}

std::optional<SourceLine> source_line(const Module& module, Span place) {
  const Function* const function = function_at(module, place);
  if (function == nullptr) return std::nullopt;
  const Loc* last = nullptr;
  for (const Statement& statement : function->statements) {
    if (statement.offset > place.begin) break;
    if (statement.kind == StatementKind::Loc) last = &function->locs[statement.index];
  }
  if (last == nullptr || last->at.line == 0) return std::nullopt;
  // The last one of a number counts.
  const auto file = std::find_if(module.files.rbegin(), module.files.rend(),
                                 [&](const File& each) { return each.index == last->at.file; });
  if (file == module.files.rend()) return std::nullopt;
  return SourceLine{path_from_code(module.text(file->path)), last->at.line, last->at.column};
}

std::optional<Note> source_note(const Module& module, Span place) {
  const auto from = source_line(module, place);
  if (!from) return std::nullopt;
  return Note{fmt::format("it comes from {}:{}, by the `.loc` before it", from->file, from->line),
              {}};
}

}  // namespace ww::ptx
