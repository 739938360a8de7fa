// SPDX-License-Identifier: Apache-2.0
// `warpwright layout` on any text: each line is an option (layout, shape, op, axis, var, dtype,
// on).
#include <string>

#include "driver/layout/tool.h"
#include "hostile/targets.h"
#include "layout/canonical.h"
#include "layout/text.h"

namespace ww::fuzz {
namespace {

constexpr std::size_t kMaxOps = 6;
// Comparing more of them place by place only takes longer.
constexpr std::int64_t kMaxElements = 4096;

driver::LayoutRequest request_of(std::string_view bytes) {
  driver::LayoutRequest request;
  for (const auto& [key, value] : read_lines(bytes)) {
    const std::string text(value);
    if (key == "layout") request.notation = text;
    if (key == "shape") request.shape = text;
    if (key == "op" && request.ops.size() < kMaxOps) request.ops.push_back(text);
    if (key == "axis") request.axes.push_back(text);
    if (key == "var") request.vars.push_back(text);
    if (key == "dtype") request.dtype = text;
    if (key == "on") request.on = text;
  }
  return request;
}

// What is printed reads back as the same value, and one spelling is enough.
std::string broken_text(const layout::Layout& layout, const layout::Names& names) {
  const std::string text = layout::to_text(layout);
  const auto again = layout::parse_layout(text, names);
  if (!again) return "what is printed does not read: " + text + ": " + again.error().text;
  if (layout::to_text(*again) != text) return "printing twice gives two texts: " + text;
  const layout::Layout canonical = layout::canonicalize(layout);
  if (layout::to_text(layout::canonicalize(canonical)) != layout::to_text(canonical))
    return "the shortest spelling has a shorter one: " + text;
  if (layout.tile().has_unknown_extent() || layout.size() > kMaxElements) return "";
  if (const auto is_same = layout::same_places(layout, canonical); is_same && !*is_same)
    return "the shortest spelling has other places: " + text;
  return "";
}

std::string broken_refusal(const driver::Refusal& refusal) {
  const Span span = refusal.diag.span;
  if (refusal.diag.text.empty()) return "a refusal says nothing";
  if (span.known && (span.begin > span.end || span.end > refusal.source.text().size()))
    return "a refusal is not inside its text: " + refusal.diag.text;
  return render(refusal.diag, refusal.source).empty() ? "a refusal renders to nothing" : "";
}

}  // namespace

std::string layout_law(std::string_view bytes) {
  const driver::LayoutOutcome outcome = driver::run_layout(request_of(bytes));
  if (outcome.report.has_value() == outcome.refusal.has_value())
    return "neither a report nor a refusal, or both";
  if (outcome.refusal) return broken_refusal(*outcome.refusal);
  using driver::LayoutFormat;
  for (const auto format :
       {LayoutFormat::Text, LayoutFormat::Table, LayoutFormat::Json, LayoutFormat::Svg}) {
    const auto text = driver::render_report(*outcome.report, format, 100);
    if (text ? text->empty() : text.error().text.empty()) return "a report says nothing";
  }
  return broken_text(outcome.report->state.layout, outcome.report->state.names);
}

}  // namespace ww::fuzz
