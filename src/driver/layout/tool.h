// SPDX-License-Identifier: Apache-2.0
// `warpwright layout` as a library: a notation and operations in, the resulting layout with all
// answers out, and the report as text, table, JSON or picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "driver/layout/ops.h"
#include "layout/text.h"
#include "layout/threads.h"
#include "view/layout_view.h"

namespace ww::driver {

// --- declarations --------------------------------------------------------------------------------
//
// Names that a user declares for a notation: axes of their own and runtime variables.

/// `NAME=KIND` with KIND thread, memory or device; `NAME=thread:DIVISOR:MODULUS` is the CTA thread
/// axis (t / DIVISOR) % MODULUS, MODULUS 0 or left out for none. Spans point into `text`.
Result<void> declare_axis(std::string_view text, layout::Names& names);

/// `NAME=BEGIN:END[:MULTIPLE]`: a variable in [BEGIN, END) that is always a multiple of MULTIPLE.
Result<void> declare_variable(std::string_view text, layout::Names& names);

// --- listing -------------------------------------------------------------------------------------
//
// The tables of operations and named layouts as text for people.

/// One block per operation: syntax, help, and an example command.
std::string ops_listing();
/// One block per named layout: call, help, aliases, and an example.
std::string named_layouts_listing();

struct LayoutRequest {
  std::string notation = {};  // a notation or a named layout (driver/layout/named_layouts.h)
  std::string shape = {};     // "8,16"; empty: the layout's own (written_shape)
  std::vector<std::string> ops = {};  // driver/layout/ops.h, applied in order
  std::vector<std::string> axes =
      {};  // "quad=thread:4:8", "lane2=thread", "reg=memory", "gpu=device"
  std::vector<std::string> vars =
      {};                  // "k=0:8" or "k=0:64:16": range without its end, and a divisor
  std::string dtype = {};  // element type; empty: the named layout's, if known
  std::string on = {};     // notation[/shape] in tensor memory: where tables show the elements
  layout::Machine machine = layout::Machine::Cuda;
};

/// An operation that was applied, and the layout after it.
struct AppliedOp {
  std::string op;
  std::string layout;
};

struct LayoutReport {
  LayoutState state;
  std::vector<AppliedOp> ops;
  std::optional<view::Grid> grid = {};  // of LayoutRequest::on

  /// Did every expectation among the operations hold?
  [[nodiscard]] bool holds() const;
};

/// A Diag together with the text it points into.
struct Refusal {
  Diag diag;
  SourceText source;
};

/// What came of a request: a report or a refusal, never both, and remarks either way.
struct LayoutOutcome {
  std::optional<LayoutReport> report;
  std::optional<Refusal> refusal;
  std::vector<std::string> remarks;  // one line each: undeclared axes
};

LayoutOutcome run_layout(const LayoutRequest& request);

enum class LayoutFormat : std::uint8_t {
  Text,   // the notation, then one line per answer
  Table,  // the notation, the table, then one line per answer
  Json,   // view/json.h with "ops" and "answers"
  Svg,
};

/// The report as text. A layout that cannot be enumerated (a symbolic offset, too many elements)
/// gets a sentence instead of its table, and no map in its JSON; only a picture is refused.
Result<std::string> render_report(const LayoutReport& report, LayoutFormat format,
                                  std::int64_t width);
/// The JSON of it, as a value.
Result<Json> report_json(const LayoutReport& report);

}  // namespace ww::driver
