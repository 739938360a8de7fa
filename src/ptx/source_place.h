// SPDX-License-Identifier: Apache-2.0
// From a place in a PTX text to the source that it was made from, by `.loc` and `.file`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/diag.h"
#include "ptx/module.h"

namespace ww::ptx {

/// The function around a place, or nullptr.
const Function* function_at(const Module& module, Span place);

/// A line of the source.
struct SourceLine {
  std::string file = {};
  std::uint32_t line = 0, column = 0;
};
/// The last `.loc` before a place, if any.
std::optional<SourceLine> source_line(const Module& module, Span place);

/// "it comes from k.cu:18, by the `.loc` before it"; nothing where no `.loc` tells.
std::optional<Note> source_note(const Module& module, Span place);

}  // namespace ww::ptx
