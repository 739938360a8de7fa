// SPDX-License-Identifier: Apache-2.0
// The report of a run, for people and for programs.
#include "driver/run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/ascii.h"
#include "base/join.h"
#include "base/printable.h"
#include "driver/report_parts.h"
#include "driver/run/tool.h"
#include "driver/sim/report.h"
#include "ir/launch/launch.h"
#include "runtime/sim_device.h"
#include "sim/memory/memory.h"
#include "sim/timeline/history.h"

namespace ww::driver {

// --- the reports of runs -------------------------------------------------------------------------

namespace {

// Which of the source's files a `.file` names; the first if none is.
std::size_t file_of(const SourceText& source, std::string_view path) {
  for (std::size_t i = 1; i < source.file_count(); ++i)
    if (source.file_name(i) == path) return i;
  return 0;
}

// The source's place comes from `.loc`, which the emitter writes for every statement.
RunFinding::Place place_in(const SourceText& source, const sim::Program& program,
                           std::uint32_t op) {
  RunFinding::Place out;
  if (op >= program.infos.size()) return out;
  out.ptx_line = program.infos[op].line;
  out.instruction = program.line(program.infos[op].line);
  std::ranges::replace(out.instruction, '\t', ' ');
  if (const auto at = source_of(program, op)) {
    out.line = at->line;
    out.column = at->column;
    const std::size_t file = file_of(source, at->file);
    out.source = source.line_of_file(file, at->line);
    if (file > 0)
      out.file = source.file_name(file);
    else if (source.text().empty())
      out.file = at->file;
  }
  return out;
}

// By finding, the number of its cause.
std::vector<std::size_t> causes_of(const sim::Program& program,
                                   std::span<const sim::Finding> findings) {
  std::vector<std::size_t> out(findings.size());
  const std::vector<FindingGroup> groups = group_findings(program, findings);
  for (std::size_t cause = 0; cause < groups.size(); ++cause)
    for (const std::size_t i : groups[cause]) out[i] = cause;
  return out;
}

// When it was first found in the recorded cluster.
std::optional<std::uint64_t> moment_of(const sim::LaunchReport& run, const sim::Finding& finding) {
  const auto* const history = run.recording ? run.recording->history.get() : nullptr;
  if (history == nullptr) return std::nullopt;
  const auto at = std::ranges::find_if(history->findings, [&](const sim::FoundAt& each) {
    return each.check == finding.check && each.op == finding.who.op &&
           each.other == finding.other.op;
  });
  if (at == history->findings.end()) return std::nullopt;
  return at->moment;
}

// What would order a race of threads of one block in shared memory. A barrier does not wait for what an
// instruction leaves in flight.
std::string_view order_text(const sim::Finding& finding, const RunFinding& places) {
  const bool is_shared = finding.has_address && finding.address < sim::kLocalWindow;
  if (finding.check != sim::Check::Race || !is_shared || finding.who.block != finding.other.block)
    return "";
  for (const RunFinding::Place& place : {places.at, places.note_at})
    if (place.instruction.contains("async") || place.instruction.contains("tcgen05")) return "";
  return "; `T.cuda.cta_sync()` between the two orders them";
}

RunFinding::Place place_at(const SourceText& source, Span span) {
  if (!span.known) return {};
  const auto at = source.position(span.begin);
  return {.line = at.line,
          .column = at.column,
          .source = std::string(source.line_of_file(at.file, at.line)),
          .file = at.file == 0 ? "" : source.file_name(at.file)};
}

void add_sim_report(RunReport& report, const runtime::SimDevice& device,
                    const runtime::Launch& launch, const SourceText& source) {
  const sim::LaunchReport& run = *device.report();
  const sim::Program& program = *device.program();
  const sim::Dim3 grid{launch.grid[0], launch.grid[1], launch.grid[2]};
  report.outcome = run.outcome;
  report.outcome_text = outcome_text(run);
  report.steps = run.counters.instructions;
  report.arithmetic = arithmetic_text(program, run.matrix_mode);
  report.printed = run.printed;
  report.schedules = run.schedules;
  for (const std::string_view name : check_names(device.options().checks))
    report.checks.emplace_back(name);
  const std::vector<std::size_t> causes = causes_of(program, run.findings.list());
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const sim::Finding& finding = run.findings.list()[i];
    RunFinding out{.check = std::string(name_of(finding.check)),
                   .text = fmt::format("{}; {}{}", finding.text, party_text(grid, finding.who),
                                       address_text(finding)),
                   .count = finding.count,
                   .cause = causes[i],
                   .at = place_in(source, program, finding.who.op),
                   .block = finding.who.block,
                   .other_block = finding.other.block,
                   .moment = moment_of(run, finding)};
    if (finding.has_address) out.address = finding.address;
    if (finding.other.op != sim::kNoOp) {
      out.note_at = place_in(source, program, finding.other.op);
      out.note =
          fmt::format("the other: {}{}", party_text(grid, finding.other), order_text(finding, out));
    }
    if (!finding.origin.text.empty()) {
      out.note = fmt::format("origin: {}", finding.origin.text);
      if (const std::string way = way_text(program, finding.origin); !way.empty())
        out.note += fmt::format("; through {}", way);
      out.note_at = place_in(source, program, finding.origin.op);
    }
    report.findings.push_back(std::move(out));
  }
}

}  // namespace

RunReport launch_report(const std::string& kernel, const SourceText& source,
                        const target::Target& target, const runtime::Device& device,
                        const runtime::Launch& launch) {
  const auto* const sim = dynamic_cast<const runtime::SimDevice*>(&device);
  RunReport report;
  report.path = source.name();
  report.kernel = kernel;
  report.device = sim != nullptr ? DeviceKind::Sim : DeviceKind::Cuda;
  report.device_name = device.name();
  report.target = target;
  std::ranges::copy(launch.grid, report.grid.begin());
  std::ranges::copy(launch.block, report.block.begin());
  if (launch.cluster) std::ranges::copy(*launch.cluster, report.cluster.begin());
  report.dynamic_shared = launch.dynamic_shared;
  if (sim != nullptr) add_sim_report(report, *sim, launch, source);
  return report;
}

RunReport eval_report(const ir::Function& tile, const SourceText& source, const eval::Report& run) {
  RunReport report;
  report.path = source.name();
  report.kernel = tile.name;
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
                               .at = place_at(source, finding.span),
                               .note = finding.note,
                               .note_at = place_at(source, finding.note_span)});
  return report;
}

// --- for people and for programs -----------------------------------------------------------------

namespace {

std::string extents_text(const std::array<std::int64_t, 3>& dims) {
  if (dims[1] == 1 && dims[2] == 1) return fmt::format("{}", dims[0]);
  return fmt::format("{},{},{}", dims[0], dims[1], dims[2]);
}

std::string launch_text(const RunReport& report) {
  std::string out =
      fmt::format("grid {}, block {}", extents_text(report.grid), extents_text(report.block));
  if (report.cluster != std::array<std::int64_t, 3>{1, 1, 1})
    out += fmt::format(", cluster {}", extents_text(report.cluster));
  if (report.dynamic_shared > 0)
    out += fmt::format(", {} of dynamic shared memory",
                       plural(static_cast<std::uint64_t>(report.dynamic_shared), "byte"));
  return out;
}

std::string device_text(const RunReport& report) {
  if (report.device == DeviceKind::Eval)
    return "the reference evaluator, which does not lower the program";
  return report.remark.empty() ? report.device_name
                               : fmt::format("{}: {}", report.device_name, report.remark);
}

// By cause.
std::vector<FindingGroup> groups_of(const RunReport& report) {
  std::map<std::size_t, FindingGroup> causes;
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    causes[report.findings[i].cause].push_back(i);
  std::vector<FindingGroup> out;
  for (auto& [cause, group] : causes) out.push_back(std::move(group));
  return out;
}

std::string findings_text(const RunReport& report) {
  if (report.device == DeviceKind::Cuda) return "nothing was checked";
  if (report.device == DeviceKind::Sim && report.checks.empty()) return "nothing was checked";
  const std::string found =
      report.findings.empty()
          ? "none"
          : findings_count_text(report.findings.size() + report.findings_left_out,
                                groups_of(report));
  if (report.checks.empty()) return found;
  return fmt::format("{} (checked: {})", found, join(report.checks, ", "));
}

// "1.23 us"
std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string time_text(const runtime::Timing& timing) {
  return fmt::format("{}, the median of {} launches ({} to {})", seconds_text(timing.median),
                     timing.launches, seconds_text(timing.fastest), seconds_text(timing.slowest));
}

std::string_view without_indent(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  return line;
}

void add_place(std::string& out, const RunReport& report, const RunFinding::Place& at) {
  if (at.line == 0) return;
  const std::string& file = at.file.empty() ? report.path : at.file;
  append(out, "{}:{}:{}: ", printable_name(file), at.line, at.column);
}

void add_lines(std::string& out, const RunFinding::Place& at) {
  if (!at.source.empty()) append(out, "    {}\n", without_indent(at.source));
  if (!at.instruction.empty()) append(out, "    {}\n", at.instruction);
}

void add_finding(std::string& out, const RunReport& report, const RunFinding& finding) {
  append(out, "\n{}: ", finding.check);
  add_place(out, report, finding.at);
  out += finding.text;
  if (finding.count > 1) append(out, "; {} times", finding.count);
  out += '\n';
  add_lines(out, finding.at);
  if (finding.note.empty()) return;
  out += "  ";
  add_place(out, report, finding.note_at);
  append(out, "{}\n", finding.note);
  add_lines(out, finding.note_at);
}

// Cause by cause; where one has many findings, the first stands for them.
void add_findings(std::string& out, const RunReport& report) {
  for (const FindingGroup& group : groups_of(report)) {
    add_finding(out, report, report.findings[group[0]]);
    std::uint64_t times = 0;
    for (const std::size_t i : std::span(group).subspan(1)) {
      times += report.findings[i].count;
      if (!is_folded(group)) add_finding(out, report, report.findings[i]);
    }
    if (is_folded(group))
      append(out, "  and {} more of this cause, {}\n", group.size() - 1, plural(times, "time"));
  }
}

// What a program was lowered to, and what it did as such.
void add_lowered_facts(std::string& out, const RunReport& report) {
  if (report.device == DeviceKind::Eval) return;
  add_fact(out, "outcome", report.outcome_text);
  if (report.device == DeviceKind::Sim)
    add_fact(out, "executed",
             plural(report.steps, "warp instruction") +
                 (report.arithmetic.empty() ? "" : "; " + report.arithmetic));
  if (report.timing) add_fact(out, "time", time_text(*report.timing));
}

Json finding_place_json(const RunFinding::Place& at) {
  if (at.line == 0) return nullptr;
  Json out = {{"line", at.line}, {"column", at.column}};
  if (!at.file.empty()) out["file"] = at.file;
  return out;
}

Json run_finding_json(const RunFinding& finding) {
  return {{"check", finding.check},
          {"message", finding.text},
          {"cause", finding.cause},
          {"at", finding_place_json(finding.at)},
          {"instruction", text_or_null(finding.at.instruction)},
          {"note", text_or_null(finding.note)},
          {"note_at", finding_place_json(finding.note_at)},
          {"note_instruction", text_or_null(finding.note_at.instruction)},
          {"count", finding.count}};
}

Json primitive_json(const PrimitiveLine& line) {
  return {{"line", line.line},
          {"column", line.column},
          {"call", line.call},
          {"variant", line.variant},
          {"instructions", line.instructions}};
}

Json time_json(const std::optional<runtime::Timing>& timing) {
  if (!timing) return nullptr;
  return {{"launches", timing->launches},
          {"median_seconds", timing->median},
          {"fastest_seconds", timing->fastest},
          {"slowest_seconds", timing->slowest}};
}

}  // namespace

std::string run_text(const RunReport& report) {
  std::string out;
  add_fact(out, "kernel", fmt::format("{} in {}", report.kernel, printable_name(report.path)));
  add_fact(out, "device", device_text(report));
  if (report.target) add_fact(out, "target", target_text(*report.target));
  add_fact(out, "launch", launch_text(report));
  add_schedules(out, report.schedules);
  add_lowered_facts(out, report);
  add_fact(out, "findings", findings_text(report));
  if (!report.timeline.empty()) add_fact(out, "timeline", printable_name(report.timeline));
  if (!report.primitives.empty()) out += '\n' + to_text(report.primitives);
  add_findings(out, report);
  if (report.findings_left_out > 0)
    append(out, "\n... and {}\n", plural(report.findings_left_out, "more finding"));
  add_buffers(out, report.buffers, false);
  add_expectations(out, report.expectations);
  add_printed(out, report.printed);
  return out;
}

Json run_json(const RunReport& report) {
  Json out = with_schema(
      "run",
      {{"file", report.path}, {"kernel", report.kernel}, {"device", name_of(report.device)}});
  out["device_name"] = text_or_null(report.device_name);
  out["remark"] = text_or_null(report.remark);
  out["target"] = report.target ? Json(target::info(report.target->arch).name) : Json();
  out["ptx"] = report.target ? Json(target::ptx_version_text(report.target->ptx)) : Json();
  out["grid"] = report.grid;
  out["cluster"] = report.cluster;
  out["block"] = report.block;
  out["dynamic_shared"] = report.dynamic_shared;
  out["good"] = report.good();
  out["outcome"] = report.outcome_text;
  out["steps"] = report.steps;
  out["time"] = time_json(report.timing);
  out["primitives"] = json_list(report.primitives, primitive_json);
  out["checks"] = report.checks;
  out["schedules"] = schedules_json(report.schedules);
  out["findings"] = json_list(report.findings, run_finding_json);
  out["findings_left_out"] = report.findings_left_out;
  out["buffers"] = json_list(report.buffers, buffer_json);
  out["expectations"] = json_list(report.expectations, expectation_json);
  out["printed"] = report.printed;
  out["timeline"] = text_or_null(report.timeline);
  return out;
}

}  // namespace ww::driver
