// SPDX-License-Identifier: Apache-2.0
// The report of a simulated run as JSON; docs/sim.md lists the keys. The text depends on the run
// alone: same program, same arguments, same bytes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "driver/sim_options.h"
#include "driver/sim_report.h"
#include "sim/lanes.h"

namespace ww::driver {
namespace {

using Json = nlohmann::ordered_json;

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

Json finding_json(const SimReport& report, const sim::Finding& finding) {
  return {{"check", name_of(finding.check)},        {"message", finding.text},
          {"who", party_json(report, finding.who)}, {"other", party_json(report, finding.other)},
          {"address", address_json(finding)},       {"count", finding.count}};
}

Json buffer_json(const BufferReport& buffer) {
  return {{"parameter", buffer.param},
          {"name", buffer.name},
          {"dtype", num::name_of(buffer.dtype)},
          {"shape", buffer.shape},
          {"output", buffer.is_output},
          {"undefined", buffer.undefined},
          {"first_undefined", buffer.undefined > 0 ? Json(buffer.first_undefined) : Json()},
          {"first", buffer.first},
          {"file", buffer.file.empty() ? Json() : Json(buffer.file)}};
}

Json expectation_json(const ExpectReport& each) {
  Json first = Json::array();
  for (const Mismatch& mismatch : each.result.first)
    first.push_back({{"index", mismatch.index},
                     {"seen", mismatch.seen},
                     {"wanted", mismatch.wanted},
                     {"error", mismatch.error}});
  return {{"expect", each.text},
          {"holds", each.result.holds},
          {"elements", each.result.elements},
          {"mismatches", each.result.mismatches},
          {"max_error", each.result.max_error},
          {"tolerance", each.result.tolerance},
          {"first", first}};
}

Json count_json(const sim::OpCount& count) {
  return {{"executed", count.executed},     {"lanes", count.lanes},
          {"wavefronts", count.wavefronts}, {"ideal_wavefronts", count.ideal_wavefronts},
          {"sectors", count.sectors},       {"ideal_sectors", count.ideal_sectors}};
}

Json counters_json(const SimReport& report) {
  Json families = Json::array();
  for (const auto& [family, count] : counts_by_family(report)) {
    families.push_back({{"family", family}});
    families.back().update(count_json(count));
  }
  Json lines = Json::array();
  for (const auto& [line, count] : counts_by_line(report)) {
    lines.push_back({{"line", line}, {"instruction", report.program->line(line)}});
    lines.back().update(count_json(count));
  }
  return {{"families", families}, {"lines", lines}};
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
  return schedule.is_random ? fmt::format("random:{}", schedule.seed) : "rr";
}

Json launch_json(const SimReport& report) {
  const sim::Launch& launch = report.launch;
  const sim::Program& program = *report.program;
  return {{"file", program.source.name()},
          {"kernel", report.kernel->name},
          {"target", info(program.target.arch).name},
          {"ptx", target::ptx_version_text(program.target.ptx)},
          {"grid", dims_json(launch.grid)},
          {"block", dims_json(launch.block)},
          {"cluster", launch.cluster ? dims_json(*launch.cluster) : Json()},
          {"dynamic_shared", launch.dynamic_shared},
          {"blocks", report.run.blocks},
          {"warps_per_block", report.run.warps_per_block},
          {"schedule", schedule_text(report.schedule)},
          {"arithmetic", report.run.matrix_mode},
          {"checks", check_names(report.checks)}};
}

template <typename List, typename Each>
Json array_json(const List& list, Each&& each) {
  Json out = Json::array();
  for (const auto& item : list) out.push_back(each(item));
  return out;
}

// --- the text

// What a kernel prints, and names of files, may be any bytes; JSON is UTF-8.
std::string plain_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What fits into a line of this length stands on one.
constexpr std::size_t kLongestLine = 140;

std::string one_line(const Json& value) {
  if (value.is_primitive()) return plain_text(value);
  std::string out;
  for (const auto& [key, item] : value.items()) {
    if (!out.empty()) out += ", ";
    if (value.is_object()) out += plain_text(key) + ": ";
    out += one_line(item);
  }
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

void write(std::string& out, const Json& value, std::size_t indent) {
  const std::string line = one_line(value);
  if (value.is_primitive() || line.size() + indent <= kLongestLine) return void(out += line);
  std::string_view separator = value.is_object() ? "{" : "[";
  for (const auto& [key, item] : value.items()) {
    fmt::format_to(std::back_inserter(out), "{}\n{:{}}", separator, "", indent + 2);
    separator = ",";
    if (value.is_object()) out += plain_text(key) + ": ";
    write(out, item, indent + 2);
  }
  fmt::format_to(std::back_inserter(out), "\n{:{}}{}", "", indent, value.is_object() ? "}" : "]");
}

}  // namespace

std::string sim_json(const SimReport& report) {
  Json out = launch_json(report);
  out["good"] = report.good();
  out["outcome"] = name_of(report.run.outcome);
  out["reason"] = report.run.reason;
  out["instructions"] = report.run.counters.instructions;
  out["findings"] = array_json(report.run.findings.list(), [&](const sim::Finding& finding) {
    return finding_json(report, finding);
  });
  out["buffers"] = array_json(report.buffers, buffer_json);
  out["expectations"] = array_json(report.expectations, expectation_json);
  out["printed"] = report.run.printed;
  out["shown"] = lines_json(report.shown);
  out["shown_left_out"] = report.shown_left_out;
  if (report.counted) out["counters"] = counters_json(report);
  std::string text;
  write(text, out, 0);
  return text + "\n";
}

}  // namespace ww::driver
