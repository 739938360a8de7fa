// SPDX-License-Identifier: Apache-2.0
// Operations on a layout by name, as `warpwright layout --op` takes them: `slice:0:4,2:6`,
// `compose:S[(4,8):(8,1)]`. An operation changes the state, or adds an answer to it, or refuses
// with a Diag that points into its own text. One row per operation; the rows are the help text,
// too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/args/text.h"
#include "json/json.h"
#include "layout/layout.h"
#include "layout/text.h"
#include "layout/threads.h"

namespace ww::driver {

/// What an operation that asks a question found out.
struct Answer {
  std::string op = {};    // as it was written
  std::string text = {};  // for people, one line
  Json json = {};         // for programs
  bool holds = true;      // false: an expectation was not met
};

/// What operations work on. The shape says how the elements are numbered: slice, tile, permute and
/// all coordinates refer to it, and every operation leaves one that fits its result.
struct LayoutState {
  layout::Layout layout = {};
  layout::Shape shape = {};
  std::optional<int> bits = {};  // width of an element, where known
  layout::Machine machine = layout::Machine::Cuda;
  layout::Names names = {};
  std::vector<Answer> answers = {};
};

struct LayoutOp {
  std::string_view name;
  std::string_view alias;
  /// Syntax behind `name:`; empty when there are no arguments, in brackets when they are optional.
  std::string_view arguments;
  std::string_view help;
  /// A notation, and the operation on it: a command that works, shown in help and run by a test.
  std::string_view example_layout;
  std::string_view example;
  Result<void> (*run)(LayoutState& state, Piece arguments);
};

/// All operations, in the order of the help text.
std::span<const LayoutOp> layout_ops();

/// Runs one operation. On failure the state is as it was, and the Diag points into `text`.
Result<void> run_op(LayoutState& state, std::string_view text);

}  // namespace ww::driver
