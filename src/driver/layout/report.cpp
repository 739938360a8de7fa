// SPDX-License-Identifier: Apache-2.0
// A report as text, table, JSON and picture.
#include <fmt/format.h>

#include <string>

#include "driver/layout/tool.h"
#include "driver/report_json.h"
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

Json ops_json(const LayoutReport& report) {
  Json out = Json::array();
  for (const AppliedOp& op : report.ops) out.push_back({{"op", op.op}, {"layout", op.layout}});
  return out;
}

Json answers_json(const LayoutReport& report) {
  Json out = Json::array();
  for (const Answer& answer : report.state.answers)
    out.push_back({{"op", answer.op}, {"answer", answer.json}, {"text", answer.text}});
  return out;
}

// Stands in for the view's where there is nothing to enumerate.
Json without_map(const LayoutReport& report, const Diag& reason) {
  Json shape = Json::array();
  for (const std::int64_t extent : report.state.shape)
    shape.push_back(extent != layout::kUnknownExtent ? Json(extent) : Json());
  return {{"layout", layout::to_text(report.state.layout)},
          {"shape", std::move(shape)},
          {"map", nullptr},
          {"map_omitted", reason.text}};
}

Result<Json> view_json(const LayoutReport& report) {
  WW_TRY_VOID(require_at_most(report, view::kMaxJsonPlaces, "JSON"));
  const auto view = view_of(report);
  if (!view) return fail(view.error());
  return view::to_json(*view);
}

Result<std::string> as_svg(const LayoutReport& report) {
  WW_TRY_VOID(require_at_most(report, view::kMaxSvgElements, "a picture"));
  const auto view = view_of(report);
  if (!view) return fail(view.error());
  return view::to_svg(*view, report.grid);
}

}  // namespace

Result<Json> report_json(const LayoutReport& report) {
  Result<Json> view = view_json(report);
  if (!view && !is_unpicturable(view.error().kind)) return fail(view.error());
  Json out = with_schema("layout", view ? *view : without_map(report, view.error()));
  out["ops"] = ops_json(report);
  out["answers"] = answers_json(report);
  return out;
}

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
      return json_text(WW_TRY(report_json(report)));
    case LayoutFormat::Svg:
      return as_svg(report);
  }
  return std::string();
}

}  // namespace ww::driver
