// SPDX-License-Identifier: Apache-2.0
// Diagnostics as data: the error, its location, and the facts that explain it. A `Diag` is
// returned, never printed, by the library; `render` (base/source.h) turns it into text with a
// caret, and only the command line decides where the text goes.
//
// Wording: lower case, what was seen before what was wanted, real values, code in backticks, no
// full stop.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww {

enum class DiagKind : std::uint8_t {
#define WW_DIAG(name, meaning) name,
#include "base/diag_kinds.def"
#undef WW_DIAG
};

/// The kind's name as printed in brackets, e.g. "NotGroupable".
std::string_view name_of(DiagKind kind);
/// One line that explains the kind.
std::string_view meaning_of(DiagKind kind);
/// The title above the kind in the list: "Layout operations".
std::string_view group_of(DiagKind kind);
/// All kinds in declaration order (for docs and coverage tests).
const std::vector<DiagKind>& all_diag_kinds();

/// A half-open range of bytes in a source text. An empty span at 0 with `known == false` means
/// "no place in the text".
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool known = false;

  static Span at(std::size_t begin, std::size_t end) { return {begin, end, true}; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// A remark attached to a diagnostic: more facts, or a way out.
struct Note {
  std::string text;
  Span span;
};

struct Diag {
  DiagKind kind = DiagKind::BadArgument;
  std::string text;
  Span span;
  std::vector<Note> notes;

  /// Adds a note; chains.
  Diag&& with_note(std::string note, Span where = {}) && {
    notes.push_back({std::move(note), where});
    return std::move(*this);
  }
  /// Gives the diagnostic a place unless it has one.
  Diag&& with_span(Span where) && {
    if (!span.known) span = where;
    return std::move(*this);
  }
};

Diag diag_with(DiagKind kind, fmt::string_view format, fmt::format_args args);

/// Builds a Diag from a format string.
template <typename... Args>
Diag diag(DiagKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return diag_with(kind, format, fmt::make_format_args(args...));
}

}  // namespace ww
