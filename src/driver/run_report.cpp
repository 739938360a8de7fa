// SPDX-License-Identifier: Apache-2.0
// The report of a run, for people and for programs.
#include <fmt/format.h>

#include <iterator>

#include "base/ascii.h"
#include "driver/report_json.h"
#include "driver/run_tool.h"

namespace ww::driver {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string dims_text(const std::array<std::int64_t, 3>& dims) {
  if (dims[1] == 1 && dims[2] == 1) return fmt::format("{}", dims[0]);
  return fmt::format("{},{},{}", dims[0], dims[1], dims[2]);
}

std::string launch_text(const RunReport& report) {
  std::string out =
      fmt::format("grid {}, block {}", dims_text(report.grid), dims_text(report.block));
  if (report.cluster != std::array<std::int64_t, 3>{1, 1, 1})
    out += fmt::format(", cluster {}", dims_text(report.cluster));
  return out;
}

std::string device_text(const std::string& device) {
  return device == "eval" ? "the reference evaluator: the program by its meaning, not lowered"
                          : device;
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  return line;
}

void add_finding(std::string& out, const RunReport& report, const RunFinding& finding) {
  fmt::format_to(Out(out), "\n{}: ", finding.check);
  if (finding.line != 0)
    fmt::format_to(Out(out), "{}:{}:{}: ", report.path, finding.line, finding.column);
  out += finding.text;
  if (finding.count > 1) fmt::format_to(Out(out), "; {} times", finding.count);
  out += '\n';
  if (!finding.source.empty()) fmt::format_to(Out(out), "    {}\n", trimmed(finding.source));
  if (finding.note.empty()) return;
  out += "  ";
  if (finding.note_line != 0)
    fmt::format_to(Out(out), "{}:{}:{}: ", report.path, finding.note_line, finding.note_column);
  fmt::format_to(Out(out), "{}\n", finding.note);
  if (!finding.note_source.empty())
    fmt::format_to(Out(out), "    {}\n", trimmed(finding.note_source));
}

Json place_json(std::size_t line, std::size_t column) {
  if (line == 0) return nullptr;
  return {{"line", line}, {"column", column}};
}

Json finding_json(const RunFinding& finding) {
  return {{"check", finding.check},
          {"message", finding.text},
          {"at", place_json(finding.line, finding.column)},
          {"note", finding.note.empty() ? Json() : Json(finding.note)},
          {"note_at", place_json(finding.note_line, finding.note_column)},
          {"count", finding.count}};
}

}  // namespace

std::string run_text(const RunReport& report) {
  std::string out;
  add_fact(out, "kernel", fmt::format("{} in {}", report.kernel, report.path));
  add_fact(out, "device", device_text(report.device));
  add_fact(out, "launch", launch_text(report));
  add_fact(out, "findings",
           report.findings.empty()
               ? "none"
               : fmt::format("{}", report.findings.size() + report.findings_left_out));
  for (const RunFinding& finding : report.findings) add_finding(out, report, finding);
  if (report.findings_left_out > 0)
    fmt::format_to(Out(out), "\n... and {}\n", plural(report.findings_left_out, "more finding"));
  add_buffers(out, report.buffers, false);
  add_expectations(out, report.expectations);
  add_printed(out, report.printed);
  return out;
}

std::string run_json(const RunReport& report) {
  Json out = {{"file", report.path},   {"kernel", report.kernel},   {"device", report.device},
              {"grid", report.grid},   {"cluster", report.cluster}, {"block", report.block},
              {"good", report.good()}, {"steps", report.steps}};
  out["findings"] = Json::array();
  for (const RunFinding& finding : report.findings)
    out["findings"].push_back(finding_json(finding));
  out["findings_left_out"] = report.findings_left_out;
  out["buffers"] = Json::array();
  for (const BufferReport& buffer : report.buffers) out["buffers"].push_back(buffer_json(buffer));
  out["expectations"] = Json::array();
  for (const ExpectReport& each : report.expectations)
    out["expectations"].push_back(expectation_json(each));
  out["printed"] = report.printed;
  return json_text(out);
}

}  // namespace ww::driver
