// SPDX-License-Identifier: Apache-2.0
// A report as text, table, JSON and picture.
#include <fmt/format.h>

#include <string>

#include "driver/layout/op_parts.h"
#include "driver/layout/tool.h"
#include "view/json.h"
#include "view/layout_view.h"
#include "view/svg.h"
#include "view/table.h"

namespace ww::driver {
namespace {

Result<view::LayoutView> view_of(const LayoutReport& report) {
  const LayoutState& state = report.state;
  return view::LayoutView::make(state.layout, state.shape, {.element_bits = state.bits});
}

// Refuses before anything is enumerated what a format would refuse afterwards.
Result<void> require_at_most(const LayoutReport& report, std::int64_t limit,
                             std::string_view format) {
  const layout::TileLayout& tile = report.state.layout.tile();
  if (tile.has_unknown_extent() || tile.size() <= limit) return {};
  return fail(DiagKind::TooLarge, "{} elements; {} holds at most {}", tile.size(), format, limit);
}

// Reasons why a good layout has no picture; anything else is an error.
bool is_unpicturable(DiagKind kind) {
  return kind == DiagKind::NeedsConstant || kind == DiagKind::TooLarge;
}

std::string answer_lines(const LayoutReport& report) {
  std::string out;
  for (const Answer& answer : report.state.answers)
    out += fmt::format("{}: {}\n", answer.op, answer.text);
  return out;
}

std::string notation_line(const LayoutReport& report) {
  return layout::to_text(report.state.layout) + "\n";
}

Result<std::string> as_table(const LayoutReport& report, std::int64_t width) {
  const std::string answers = answer_lines(report);
  const auto view = view_of(report);
  if (!view && !is_unpicturable(view.error().kind)) return fail(view.error());
  if (!view)
    return fmt::format("{}shape {}; no table: {}\n{}", notation_line(report),
                       layout::shape_text(report.state.shape), view.error().text, answers);
  return view::to_table(*view, {.width = width, .grid = report.grid}) +
         (answers.empty() ? "" : "\n" + answers);
}

// ---- JSON

std::string ops_json(const LayoutReport& report) {
  std::string out;
  for (const AppliedOp& op : report.ops)
    out += fmt::format("{}\n    {{\"op\": {}, \"layout\": {}}}", out.empty() ? "" : ",",
                       quoted_json(op.op), quoted_json(op.layout));
  return out.empty() ? "[]" : "[" + out + "\n  ]";
}

std::string answers_json(const LayoutReport& report) {
  std::string out;
  for (const Answer& answer : report.state.answers)
    out +=
        fmt::format("{}\n    {{\"op\": {}, \"answer\": {}, \"text\": {}}}", out.empty() ? "" : ",",
                    quoted_json(answer.op), answer.json, quoted_json(answer.text));
  return out.empty() ? "[]" : "[" + out + "\n  ]";
}

std::string shape_json(const layout::Shape& shape) {
  std::string out;
  for (const std::int64_t extent : shape) {
    const bool is_known = extent != layout::kUnknownExtent;
    out += (out.empty() ? "" : ",") + (is_known ? fmt::format("{}", extent) : std::string("null"));
  }
  return "[" + out + "]";
}

// The object that stands in for the view's when there is nothing to enumerate.
std::string without_map(const LayoutReport& report, const Diag& reason) {
  return fmt::format(
      "{{\n  \"layout\": {},\n  \"shape\": {},\n  \"map\": null,\n  \"map_omitted\": {}\n}}\n",
      quoted_json(layout::to_text(report.state.layout)), shape_json(report.state.shape),
      quoted_json(reason.text));
}

Result<std::string> view_json(const LayoutReport& report) {
  WW_TRY_VOID(require_at_most(report, view::kMaxJsonPlaces, "JSON"));
  const auto view = view_of(report);
  if (!view) return fail(view.error());
  return view::to_json(*view);
}

Result<std::string> as_json(const LayoutReport& report) {
  auto json = view_json(report);
  if (!json && !is_unpicturable(json.error().kind)) return json;
  std::string text = json ? std::move(*json) : without_map(report, json.error());
  text.resize(text.rfind("\n}"));  // the object stays open for two more keys
  return fmt::format(
      "{{\n  \"schema\": \"warpwright/layout/1\",{},\n  \"ops\": {},\n  "
      "\"answers\": {}\n}}\n",
      text.substr(text.find('\n')), ops_json(report), answers_json(report));
}

Result<std::string> as_svg(const LayoutReport& report) {
  WW_TRY_VOID(require_at_most(report, view::kMaxSvgElements, "a picture"));
  const auto view = view_of(report);
  if (!view) return fail(view.error());
  return view::to_svg(*view, report.grid);
}

}  // namespace

Result<std::string> render_report(const LayoutReport& report, LayoutFormat format,
                                  std::int64_t width) {
  const bool has_cells = format == LayoutFormat::Table || format == LayoutFormat::Svg;
  if (report.grid && !has_cells)
    return fail(DiagKind::BadArgument, "`--on` is for tables and pictures, but {} has neither",
                format == LayoutFormat::Json ? "JSON" : "text");
  switch (format) {
    case LayoutFormat::Text:
      return notation_line(report) + answer_lines(report);
    case LayoutFormat::Table:
      return as_table(report, width);
    case LayoutFormat::Json:
      return as_json(report);
    case LayoutFormat::Svg:
      return as_svg(report);
  }
  return std::string();
}

}  // namespace ww::driver
