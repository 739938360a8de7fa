// SPDX-License-Identifier: Apache-2.0
#include "driver/layout/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/suggest.h"
#include "driver/layout/declarations.h"
#include "driver/layout/named_layouts.h"
#include "driver/layout/op_parts.h"
#include "layout/apply.h"
#include "num/dtype.h"
#include "view/layout_view.h"
#include "view/memory_grid.h"

namespace ww::driver {
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
  return std::all_of(state.answers.begin(), state.answers.end(),
                     [](const Answer& answer) { return answer.holds; });
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
