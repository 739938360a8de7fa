// SPDX-License-Identifier: Apache-2.0
#include "driver/run/eval_findings.h"

#include <string>

#include "ir/launch/launch.h"

namespace ww::driver {
namespace {

RunFinding::Place finding_place(const SourceText& source, Span span) {
  if (!span.known) return {};
  const auto at = source.position(span.begin);
  return {.line = at.line,
          .column = at.column,
          .source = std::string(source.line_of_file(at.file, at.line)),
          .file = at.file == 0 ? "" : source.file_name(at.file)};
}

}  // namespace

void add_eval_report(RunReport& report, const eval::Report& run, const ir::Function& tile,
                     const SourceText& source) {
  report.device = DeviceKind::Eval;
  report.grid = run.grid;
  if (const auto shape = ir::launch_shape(tile)) {
    report.block = shape->block;
    report.cluster = shape->cluster;
  }
  report.steps = run.steps;
  report.printed = run.printed;
  report.findings_left_out = run.dropped;
  for (const eval::Finding& finding : run.findings)
    report.findings.push_back({.check = std::string(eval::name_of(finding.check)),
                               .text = finding.text,
                               .count = finding.times,
                               .cause = report.findings.size(),
                               .at = finding_place(source, finding.span),
                               .note = finding.note,
                               .note_at = finding_place(source, finding.note_span)});
}

}  // namespace ww::driver
