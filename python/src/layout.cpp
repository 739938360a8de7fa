// SPDX-License-Identifier: Apache-2.0
// The layout algebra: `warpwright layout` as a function.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <utility>

#include "base/source.h"
#include "bindings.h"
#include "driver/layout/tool.h"
#include "layout/text.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

constexpr std::int64_t kTableWidth = 160;

driver::LayoutReport layout_report(const std::string& notation, const std::string& shape,
                                   const std::vector<std::string>& ops,
                                   const std::vector<std::string>& axes, const std::string& dtype) {
  driver::LayoutOutcome outcome;
  {
    const nb::gil_scoped_release release;
    outcome = driver::run_layout(
        {.notation = notation, .shape = shape, .ops = ops, .axes = axes, .dtype = dtype});
  }
  if (outcome.refusal)
    raise(outcome.refusal->diag.kind, render(outcome.refusal->diag, outcome.refusal->source));
  return *std::move(outcome.report);
}

// The layout after the operations in one of the formats.
std::string layout(const std::string& notation, const std::string& shape,
                   const std::vector<std::string>& ops, const std::vector<std::string>& axes,
                   const std::string& dtype, const std::string& format) {
  const driver::LayoutReport report = layout_report(notation, shape, ops, axes, dtype);
  if (format == "notation") return layout::to_text(report.state.layout);
  const driver::LayoutFormat form = format == "svg"     ? driver::LayoutFormat::Svg
                                    : format == "json"  ? driver::LayoutFormat::Json
                                    : format == "table" ? driver::LayoutFormat::Table
                                                        : driver::LayoutFormat::Text;
  const Result<std::string> text = driver::render_report(report, form, kTableWidth);
  if (!text) raise(text.error());
  return *text;
}

// Operations with their syntax and a line of help.
nb::list layout_ops() {
  nb::list out;
  const auto text = [](std::string_view view) { return nb::str(view.data(), view.size()); };
  for (const driver::LayoutOp& op : driver::layout_ops())
    out.append(nb::make_tuple(text(op.name), text(op.arguments), text(op.help)));
  return out;
}

}  // namespace

void add_layout(nb::module_& module) {
  module.def("layout", layout, "notation"_a, "shape"_a, "ops"_a, "axes"_a, "dtype"_a, "format"_a);
  module.def("layout_ops", layout_ops);
}

}  // namespace ww::python
