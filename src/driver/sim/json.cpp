// SPDX-License-Identifier: Apache-2.0
// The report of a simulated run as JSON; docs/reference/sim.md lists the keys. The text depends on the run
// alone: same program, same arguments, same bytes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "driver/report_json.h"
#include "driver/sim/finding_groups.h"
#include "driver/sim/options.h"
#include "driver/sim/report.h"
#include "sim/lanes.h"

namespace ww::driver {
namespace {

Json dims_json(const sim::Dim3& dims) { return Json::array({dims.x, dims.y, dims.z}); }

Json lanes_json(sim::Mask lanes) {
  Json out = Json::array();
  sim::for_each_lane(lanes, [&](unsigned lane) { out.push_back(lane); });
  return out;
}

Json source_json(const sim::Program& program, std::uint32_t op) {
  const auto source = source_of(program, op);
  if (!source) return nullptr;
  return {{"file", source->file}, {"line", source->line}, {"column", source->column}};
}

Json party_json(const SimReport& report, const sim::Party& party) {
  if (party.op == sim::kNoOp) return nullptr;
  const sim::Program& program = *report.program;
  const bool is_known = party.op < program.infos.size();
  const std::uint32_t line = is_known ? program.infos[party.op].line : 0;
  return {{"line", line},
          {"instruction", program.line(line)},
          {"source", source_json(program, party.op)},
          {"block", dims_json(block_coordinates(report.launch.grid, party.block))},
          {"warp", party.warp},
          {"lanes", lanes_json(party.lanes)}};
}

Json address_json(const sim::Finding& finding) {
  if (!finding.has_address) return nullptr;
  const AddressPlace place = place_of(finding.address);
  return {{"space", place.space}, {"value", fmt::format("0x{:x}", place.address)}};
}

Json origin_json(const SimReport& report, const sim::FoundOrigin& origin) {
  if (origin.text.empty()) return nullptr;
  const sim::Program& program = *report.program;
  Json out = {{"message", origin.text},
              {"line", nullptr},
              {"instruction", nullptr},
              {"source", source_json(program, origin.op)}};
  if (origin.op < program.infos.size()) {
    out["line"] = program.infos[origin.op].line;
    out["instruction"] = program.line(program.infos[origin.op].line);
  }
  Json way = json_list(origin.way, [&](const std::uint32_t op) { return program.infos[op].line; });
  out["through"] = std::move(way);
  return out;
}

Json finding_json(const SimReport& report, const sim::Finding& finding, std::size_t cause) {
  return {{"check", name_of(finding.check)},
          {"message", finding.text},
          {"who", party_json(report, finding.who)},
          {"other", party_json(report, finding.other)},
          {"origin", origin_json(report, finding.origin)},
          {"address", address_json(finding)},
          {"count", finding.count},
          {"cause", cause}};
}

// Cause by cause, each with its root first.
Json findings_json(const SimReport& report) {
  const auto& findings = report.run.findings.list();
  const std::vector<FindingGroup> groups = group_findings(*report.program, findings);
  Json out = Json::array();
  for (std::size_t cause = 0; cause < groups.size(); ++cause)
    for (const std::size_t i : groups[cause])
      out.push_back(finding_json(report, findings[i], cause));
  return out;
}

Json slow_json(const SimReport& report) {
  return json_list(advise(report), [&](const Advice& each) -> Json {
    return {{"kind", name_of(each.kind)},
            {"line", each.line},
            {"instruction", report.program->line(each.line)},
            {"message", each.text}};
  });
}

Json schedules_json(const SimReport& report) {
  if (!report.schedules) return nullptr;
  const bool differs = !report.schedules->differs.empty();
  return {{"run", report.schedules->run},
          {"differs", differs ? Json(report.schedules->differs) : Json()}};
}

Json gpu_json(const SimReport& report) {
  if (report.gpu.empty()) return nullptr;
  return {{"name", report.gpu},
          {"compared", report.simulated},
          {"differs", report.gpu_differs.empty() ? Json() : Json(report.gpu_differs)}};
}

Json counters_json(const SimReport& report) {
  Json lines = Json::array();
  for (const auto& [line, count] : counts_by_line(*report.program, report.run.counters)) {
    Json row = {{"line", line}, {"instruction", report.program->line(line)}};
    row.update(count_json(count));
    lines.push_back(std::move(row));
  }
  return {{"families", driver::families_json(*report.program, report.run.counters)},
          {"lines", lines}};
}

Json lines_json(std::string_view text) {
  Json out = Json::array();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string schedule_text(const sim::Schedule& schedule) {
  if (schedule.is_backward) return "reverse";
  if (schedule.is_stepwise) return "step";
  return schedule.is_random ? fmt::format("random:{}", schedule.seed) : "rr";
}

Json launch_json(const SimReport& report) {
  const sim::Launch& launch = report.launch;
  const sim::Program& program = *report.program;
  return {{"file", program.source.name()},
          {"kernel", report.kernel->name},
          {"target", info(program.target.arch).name},
          {"ptx", target::ptx_version_text(program.target.ptx)},
          {"notes", report.notes},
          {"grid", dims_json(launch.grid)},
          {"block", dims_json(launch.block)},
          {"cluster", launch.cluster ? dims_json(*launch.cluster) : Json()},
          {"cooperative", program.has_grid_barrier},
          {"dynamic_shared", launch.dynamic_shared},
          {"awaits", awaited_names(report)},
          {"blocks", report.run.blocks},
          {"warps_per_block", report.run.warps_per_block},
          {"schedule", schedule_text(report.schedule)},
          {"lanes", report.in_step ? "in-step" : "apart"},
          {"tensor_loads", report.late_tensor_loads ? "late" : "early"},
          {"arithmetic", report.run.matrix_mode},
          {"checks", check_names(report.checks)}};
}

// What came of a launch.
void add_run(Json& out, const SimReport& report) {
  out["outcome"] = name_of(report.run.outcome);
  out["reason"] = report.run.reason;
  out["instructions"] = report.run.counters.instructions;
  out["findings"] = findings_json(report);
  out["slow"] = slow_json(report);
}

Json step_json(const SimReport& report) {
  Json out = launch_json(report);
  for (const char* const common : {"file", "target", "ptx", "notes", "awaits"})
    std::erase_if(out.members(), [&](const JsonMember& each) { return each.first == common; });
  out["programmatic"] = report.is_programmatic;
  add_run(out, report);
  out["printed"] = report.run.printed;
  if (report.counted) out["counters"] = counters_json(report);
  return out;
}

}  // namespace

Json count_json(const sim::OpCount& count) {
  return {{"executed", count.executed},     {"lanes", count.lanes},
          {"wavefronts", count.wavefronts}, {"ideal_wavefronts", count.ideal_wavefronts},
          {"sectors", count.sectors},       {"ideal_sectors", count.ideal_sectors}};
}

Json families_json(const sim::Program& program, const sim::Counters& counters) {
  Json out = Json::array();
  for (const auto& [family, count] : counts_by_family(program, counters)) {
    Json row = {{"family", family}};
    row.update(count_json(count));
    out.push_back(std::move(row));
  }
  return out;
}

Json sim_json(const SequenceReport& report) {
  const sim::Program& program = *report.launches.front().program;
  Json out = with_schema("sim-launches", {{"file", program.source.name()},
                                          {"target", info(program.target.arch).name},
                                          {"ptx", target::ptx_version_text(program.target.ptx)},
                                          {"notes", report.notes}});
  out["good"] = report.good();
  out["asked"] = report.launches.front().count;
  out["launches"] = json_list(report.launches, step_json);
  out["buffers"] = json_list(report.buffers, buffer_json);
  out["expectations"] = json_list(report.expectations, expectation_json);
  out["shown"] = lines_json(report.shown);
  out["shown_left_out"] = report.shown_left_out;
  return out;
}

Json sim_json(const SimReport& report) {
  Json out = with_schema("sim", launch_json(report));
  out["good"] = report.good();
  add_run(out, report);
  if (report.sass) out["sass"] = sass_json(*report.sass);
  out["schedules"] = schedules_json(report);
  out["gpu"] = gpu_json(report);
  out["buffers"] = json_list(report.buffers, buffer_json);
  out["expectations"] = json_list(report.expectations, expectation_json);
  out["printed"] = report.run.printed;
  out["timeline"] = text_or_null(report.timeline);
  out["shown"] = lines_json(report.shown);
  out["shown_left_out"] = report.shown_left_out;
  if (report.counted) out["counters"] = counters_json(report);
  return out;
}

}  // namespace ww::driver
