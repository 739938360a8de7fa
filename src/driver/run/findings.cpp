// SPDX-License-Identifier: Apache-2.0
#include "driver/run/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "driver/sim/finding_groups.h"
#include "driver/sim/report.h"
#include "ir/launch/launch.h"
#include "runtime/sim_device.h"
#include "sim/memory/memory.h"
#include "sim/timeline/history.h"

namespace ww::driver {
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

}  // namespace ww::driver
