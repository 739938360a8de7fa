// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "driver/args/text.h"
#include "driver/layout/named_layouts.h"
#include "driver/layout/ops.h"
#include "driver/report_parts.h"
#include "layout/apply.h"
#include "num/dtype.h"
#include "view/json.h"
#include "view/layout_view.h"
#include "view/svg.h"
#include "view/table.h"

namespace ww::driver {

// --- declarations --------------------------------------------------------------------------------

namespace {

using layout::Axis;
using layout::AxisKind;

struct Declaration {
  Piece name;
  std::vector<Piece> parts;
};

// NAME=PART:PART:…
Result<Declaration> parse_declaration(std::string_view text, std::string_view expected) {
  const Piece whole = trimmed({text, 0});
  const auto sides = cut_first(whole, '=');
  if (!sides || sides->first.empty() || sides->second.empty())
    return fail_at(whole.span(), DiagKind::Syntax, "expected {}, found `{}`", expected, whole.text);
  return Declaration{sides->first, split_top(sides->second, ':')};
}

struct KindName {
  std::string_view name;
  AxisKind kind;
};
constexpr std::array kAxisKinds = {KindName{"thread", AxisKind::Thread},
                                   KindName{"memory", AxisKind::Memory},
                                   KindName{"device", AxisKind::Device}};

Result<AxisKind> parse_kind(Piece piece) {
  std::vector<std::string_view> names;
  for (const KindName& row : kAxisKinds) {
    if (row.name == piece.text) return row.kind;
    names.push_back(row.name);
  }
  return fail_at(piece.span(), DiagKind::UnknownName,
                 "`{}` is not a kind of axis; accepted: thread, memory, device{}", piece.text,
                 did_you_mean(piece.text, names));
}

Result<Axis> make_axis(const Declaration& declaration, AxisKind kind) {
  const std::vector<Piece>& parts = declaration.parts;
  if (parts.size() == 1)
    return located(Axis::declare(declaration.name.text, kind), declaration.name);
  const std::int64_t divisor = WW_TRY(parse_int(parts[1]));
  const std::int64_t modulus = parts.size() > 2 ? WW_TRY(parse_int(parts[2])) : 0;
  return located(Axis::declare_cta_thread(declaration.name.text, divisor, modulus),
                 declaration.name);
}

Result<std::int64_t> parse_positive(Piece piece) {
  const std::int64_t value = WW_TRY(parse_int(piece));
  if (value >= 1) return value;
  return fail_at(piece.span(), DiagKind::BadArgument, "the divisor is {}; it must be at least 1",
                 value);
}

std::int64_t round_down(std::int64_t value, std::int64_t step) {
  const std::int64_t rest = value % step;
  return value - (rest < 0 ? rest + step : rest);
}

// The smallest and largest multiple of `step` in [begin, end); max < min when there is none.
layout::Range multiples_in(std::int64_t begin, std::int64_t end, std::int64_t step) {
  return {-round_down(-begin, step), round_down(end - 1, step)};
}

Diag declared_twice(Piece name) {
  return diag_at(name.span(), DiagKind::BadArgument, "`{}` is declared twice", name.text);
}

}  // namespace

Result<void> declare_axis(std::string_view text, layout::Names& names) {
  const Declaration declaration =
      WW_TRY(parse_declaration(text, "NAME=KIND, as in `reg=memory` or `quad=thread:4:8`"));
  const std::vector<Piece>& parts = declaration.parts;
  const AxisKind kind = WW_TRY(parse_kind(parts[0]));
  if (parts.size() > 3 || (parts.size() > 1 && kind != AxisKind::Thread))
    return fail_at(parts[kind == AxisKind::Thread ? 3 : 1].span(), DiagKind::BadArgument,
                   "only thread axes take numbers, a divisor and a modulus");
  const Axis axis = WW_TRY(make_axis(declaration, kind));
  if (!names.axes.emplace(declaration.name.text, axis).second)
    return fail(declared_twice(declaration.name));
  return {};
}

Result<void> declare_variable(std::string_view text, layout::Names& names) {
  const Declaration declaration =
      WW_TRY(parse_declaration(text, "NAME=BEGIN:END[:MULTIPLE], as in `k=0:8`"));
  const std::vector<Piece>& parts = declaration.parts;
  if (parts.size() < 2 || parts.size() > 3)
    return fail_at(parts[0].span(), DiagKind::Syntax,
                   "expected BEGIN:END or BEGIN:END:MULTIPLE, found {} number{}", parts.size(),
                   parts.size() == 1 ? "" : "s");
  const std::int64_t begin = WW_TRY(parse_int(parts[0]));
  const std::int64_t end = WW_TRY(parse_int(parts[1]));
  const std::int64_t multiple = parts.size() == 3 ? WW_TRY(parse_positive(parts[2])) : 1;
  const layout::Range range = multiples_in(begin, end, multiple);
  if (range.max < range.min)
    return fail_at(parts[0].span(), DiagKind::BadArgument,
                   "no multiple of {} is in the range {}:{}", multiple, begin, end);
  const layout::Sym symbol =
      WW_TRY(located(layout::Sym::make(declaration.name.text, range, multiple), declaration.name));
  if (!names.symbols.emplace(declaration.name.text, symbol).second)
    return fail(declared_twice(declaration.name));
  return {};
}

// --- listing -------------------------------------------------------------------------------------

namespace {

std::string syntax_of(const LayoutOp& op) {
  if (op.arguments.empty()) return std::string(op.name);
  if (op.arguments.starts_with('['))
    return fmt::format("{}[:{}]", op.name, op.arguments.substr(1, op.arguments.size() - 2));
  return fmt::format("{}:{}", op.name, op.arguments);
}

std::string op_block(const LayoutOp& op) {
  const std::string alias = op.alias.empty() ? "" : fmt::format(" (also `{}`)", op.alias);
  return fmt::format("{}\n    {}{}\n    warpwright layout '{}' --op '{}'\n", syntax_of(op), op.help,
                     alias, op.example_layout, op.example);
}

std::string layout_block(const NamedLayout& row) {
  std::string aliases;
  for (const Piece& alias : split_top({row.aliases, 0}, ' '))
    aliases += fmt::format("{}`{}`", aliases.empty() ? " (also " : ", ", alias.text);
  if (!aliases.empty()) aliases += ")";
  return fmt::format("{}({})\n    {}{}\n    warpwright layout '{}'\n", row.name,
                     signature_of(row.params), row.help, aliases, row.example);
}

}  // namespace

std::string ops_listing() {
  std::string out;
  for (const LayoutOp& op : layout_ops()) out += op_block(op);
  return out;
}

std::string named_layouts_listing() {
  std::string out;
  for (const NamedLayout& row : named_layouts()) out += layout_block(row);
  return out;
}

// --- report --------------------------------------------------------------------------------------
//
// A report as text, table, JSON and picture.

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

namespace {

// The text being read is kept beside the work, so that a refusal knows what its Diag points into.
class Reader {
 public:
  explicit Reader(std::vector<std::string>& remarks) : remarks_(remarks) {}

  Result<LayoutReport> read(const LayoutRequest& request) {
    LayoutReport report;
    report.state.machine = request.machine;
    WW_TRY_VOID(read_names(report.state, request));
    WW_TRY_VOID(read_layout(report.state, request));
    for (const std::string& op : request.ops) {
      at("--op", op);
      WW_TRY_VOID(run_op(report.state, op));
      report.ops.push_back({op, layout::to_text(report.state.layout)});
    }
    if (!request.on.empty()) WW_TRY_VOID(read_grid(report, request.on));
    return report;
  }

  [[nodiscard]] const SourceText& source() const { return source_; }

 private:
  void at(std::string_view name, const std::string& text) { source_ = {std::string(name), text}; }

  Result<void> read_names(LayoutState& state, const LayoutRequest& request) {
    for (const std::string& text : request.axes) {
      at("--axis", text);
      WW_TRY_VOID(declare_axis(text, state.names));
    }
    for (const std::string& text : request.vars) {
      at("--var", text);
      WW_TRY_VOID(declare_variable(text, state.names));
    }
    state.names.on_undeclared_axis = [this](std::string_view name, Span) { remark(name); };
    return {};
  }

  Result<void> read_layout(LayoutState& state, const LayoutRequest& request) {
    at("layout", request.notation);
    NotatedLayout notated = WW_TRY(parse_notation(request.notation, state.names));
    state.shape = written_shape(notated);
    state.bits = notated.bits;
    state.layout = std::move(notated.layout);
    if (!request.shape.empty()) {
      at("--shape", request.shape);
      state.shape = WW_TRY(parse_shape_at({request.shape, 0}));
      const Piece whole = {request.shape, 0};
      WW_TRY_VOID(located(layout::require_admitted(state.layout.tile(), state.shape), whole));
    }
    if (!request.dtype.empty()) {
      at("--dtype", request.dtype);
      state.bits = num::bits_of(WW_TRY(num::parse_dtype(request.dtype)));
    }
    return {};
  }

  Result<void> read_grid(LayoutReport& report, const std::string& text) {
    at("--on", text);
    const Piece whole = {text, 0};
    const ShapedLayout on = WW_TRY(parse_shaped(whole, report.state.names));
    const layout::Layout& own = report.state.layout;
    if (!own.tile().has_unknown_extent() && on.layout.size() != own.size())
      return fail(located(diag(DiagKind::NotAdmitted, "{} elements are here, the layout has {}",
                               on.layout.size(), own.size()),
                          whole));
    const auto places = WW_TRY(located(view::LayoutView::make(on.layout, on.shape), whole));
    report.grid = WW_TRY(located(view::memory_grid(places), whole));
    return {};
  }

  void remark(std::string_view name) {
    if (!remarked_.emplace(name).second) return;
    std::vector<std::string_view> known;
    for (const layout::Axis axis : layout::builtin_axes()) known.push_back(axis.name());
    remarks_.push_back(fmt::format("note: axis `{}` is not declared, so its kind is unknown{}",
                                   name, did_you_mean(name, known)));
  }

  std::vector<std::string>& remarks_;
  std::set<std::string, std::less<>> remarked_;
  SourceText source_{"layout", ""};
};

}  // namespace

bool LayoutReport::holds() const {
  return std::ranges::all_of(state.answers, [](const Answer& answer) { return answer.holds; });
}

LayoutOutcome run_layout(const LayoutRequest& request) {
  LayoutOutcome outcome;
  Reader reader(outcome.remarks);
  auto report = reader.read(request);
  if (!report) {
    outcome.refusal = Refusal{std::move(report).error(), reader.source()};
    return outcome;
  }
  report->state.names.on_undeclared_axis = {};  // it belongs to the reader
  outcome.report = std::move(*report);
  return outcome;
}

}  // namespace ww::driver
