// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "base/append.h"
#include "base/ascii.h"
#include "base/join.h"
#include "base/printable.h"
#include "driver/sim/finding_groups.h"
#include "driver/sim/options.h"
#include "isa/catalogue.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"

namespace ww::driver {

// --- shared with the JSON -----------------------------------------------------------------------

std::optional<SourcePlace> source_of(const sim::Program& program, std::uint32_t op) {
  if (op >= program.infos.size() || program.infos[op].loc == 0) return std::nullopt;
  const std::size_t index = program.infos[op].loc - 1;
  if (index >= program.locs.size()) return std::nullopt;
  const sim::SourceLoc& loc = program.locs[index];
  const bool has_file = loc.file < program.files.size();
  return SourcePlace{has_file ? std::string_view(program.files[loc.file]) : "", loc.line,
                     loc.column};
}

AddressPlace place_of(std::uint64_t generic) {
  if (generic >= sim::kGlobalStart || generic < sim::kSharedWindow) return {"global", generic};
  if (generic >= sim::kCodeWindow) return {"code", generic - sim::kCodeWindow};
  if (generic >= sim::kParamWindow) return {"param", generic - sim::kParamWindow};
  if (generic >= sim::kLocalWindow) return {"local", generic - sim::kLocalWindow};
  return {"shared", sim::shared_offset(generic)};  // without the rank of the block in its cluster
}

std::vector<std::string_view> check_names(const sim::CheckSet& checks) {
  std::vector<std::string_view> names;
  for (const sim::Check check : sim::all_checks()) {
    if (checks.has(check)) names.push_back(checks.written_name(check));
  }
  return names;
}

std::string party_text(const sim::Dim3& grid, const sim::Party& party) {
  std::string out = fmt::format("block {} warp {}", block_text(grid, party.block), party.warp);
  if (party.lanes != 0) {
    const bool is_one = sim::count_lanes(party.lanes) == 1;
    out += fmt::format(" lane{} {}", is_one ? "" : "s", sim::lanes_text(party.lanes));
  }
  return out;
}

namespace {

// Whether the text has this hexadecimal number, and not just a longer one that begins so.
bool contains_number(std::string_view text, std::string_view number) {
  for (std::size_t at = text.find(number); at != std::string_view::npos;
       at = text.find(number, at + 1)) {
    const std::size_t end = at + number.size();
    if (end == text.size() || !is_name_char(text[end])) return true;
  }
  return false;
}

}  // namespace

std::string address_text(const sim::Finding& finding) {
  if (!finding.has_address) return "";
  const AddressPlace place = place_of(finding.address);
  const std::string number = fmt::format("0x{:x}", place.address);
  if (contains_number(finding.text, number)) return "";
  const std::string space = place.space == "global" ? "" : fmt::format("{} ", place.space);
  return fmt::format("; {}address {}", space, number);
}

std::string way_text(const sim::Program& program, const sim::FoundOrigin& origin) {
  constexpr std::size_t kShown = 2;  // at each end
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < origin.way.size(); ++i) {
    const std::size_t left = origin.way.size() - i;
    if (i == kShown && left > kShown + 1) {
      steps.emplace_back("…");
      i += left - kShown;
    }
    const sim::OpInfo& info = program.infos[origin.way[i]];
    steps.push_back(fmt::format("`{}` in line {}", program.module.text(info.opcode), info.line));
  }
  return join(steps, ", ");
}

std::string arithmetic_text(const sim::Program& program, const std::string& mode) {
  const auto uses = [&](isa::FamilyId family) {
    return std::ranges::any_of(program.infos,
                               [&](const sim::OpInfo& info) { return info.family == family; });
  };
  const bool has_tcgen05 = uses(isa::FamilyId::tcgen05_mma_rows);
  if (!has_tcgen05 && !uses(isa::FamilyId::mma_rows) && !uses(isa::FamilyId::wmma_rows) &&
      !uses(isa::FamilyId::wgmma_rows))
    return "";
  if (mode == "plain") return "matrix products as plain sums";
  return fmt::format("matrix products as on {}{}", mode,
                     has_tcgen05 ? ", by publications; no such GPU was at hand" : "");
}

std::string outcome_text(const sim::LaunchReport& run) {
  const std::string_view name = name_of(run.outcome);
  return run.reason.empty() ? std::string(name) : fmt::format("{}: {}", name, run.reason);
}

std::vector<std::string> awaited_names(const SimReport& report) {
  std::vector<std::string> names;
  for (const std::uint64_t address : report.launch.awaits) {
    const auto param = std::ranges::find_if(report.kernel->params, [&](const sim::Param& each) {
      std::uint64_t value = 0;
      if (each.bytes == sizeof value)
        std::memcpy(&value, report.launch.params.data() + each.offset, sizeof value);
      return value == address;
    });
    if (param != report.kernel->params.end()) names.push_back(param->name);
  }
  return names;
}

bool touches_memory(const sim::OpCount& count) { return count.wavefronts + count.sectors > 0; }

double mean_lanes(const sim::OpCount& count) {
  if (count.executed == 0) return 0;
  return static_cast<double>(count.lanes) / static_cast<double>(count.executed);
}

namespace {

// Sums of what was counted, by what `key` says of an op.
template <typename Key>
std::map<std::uint32_t, sim::OpCount> sums(const sim::Program& program,
                                           const sim::Counters& counters, Key&& key) {
  std::map<std::uint32_t, sim::OpCount> out;
  for (std::size_t op = 0; op < std::min(counters.ops.size(), program.infos.size()); ++op)
    if (counters.ops[op].executed > 0) out[key(program.infos[op])] += counters.ops[op];
  return out;
}

}  // namespace

std::vector<FamilyCount> counts_by_family(const sim::Program& program,
                                          const sim::Counters& counters) {
  std::vector<FamilyCount> out;
  const auto number = [](const sim::OpInfo& info) {
    return static_cast<std::uint32_t>(info.family);
  };
  for (const auto& [family, count] : sums(program, counters, number))
    out.push_back({isa::families()[family].name, count});
  return out;
}

std::vector<LineCount> counts_by_line(const sim::Program& program, const sim::Counters& counters) {
  std::vector<LineCount> out;
  const auto line_of = [](const sim::OpInfo& info) { return info.line; };
  for (const auto& [line, count] : sums(program, counters, line_of)) out.push_back({line, count});
  return out;
}

// --- the text -----------------------------------------------------------------------------------

namespace {

std::string launch_text(const SimReport& report) {
  const sim::Launch& launch = report.launch;
  std::string out =
      report.count > 0 ? fmt::format("{} of {}: ", report.number, report.count) : std::string();
  out += fmt::format("grid {}, block {}", dims_text(launch.grid), dims_text(launch.block));
  if (launch.cluster) out += fmt::format(", cluster {}", dims_text(*launch.cluster));
  if (launch.dynamic_shared > 0)
    out += fmt::format(", {} of dynamic shared memory", plural(launch.dynamic_shared, "byte"));
  if (report.program->has_grid_barrier) out += ", cooperative";
  if (report.is_programmatic) out += ", programmatic";
  return out + fmt::format("; {} of {}", plural(report.run.blocks, "block"),
                           plural(report.run.warps_per_block, "warp"));
}

// The names of the arrays that an earlier grid still writes.
std::string awaits_text(const SimReport& report) {
  std::vector<std::string> names = awaited_names(report);
  return fmt::format("{} of an earlier grid, behind `griddepcontrol.wait`", join(names, ", "));
}

std::string findings_text(const SimReport& report) {
  const auto& found = report.run.findings.list();
  const auto names = check_names(report.checks);
  if (names.empty()) return "nothing was checked";
  const std::string count =
      found.empty() ? "none"
                    : findings_count_text(found.size(), group_findings(*report.program, found));
  return fmt::format("{} (checked: {})", count, join(names, ", "));
}

std::string schedules_text(const SchedulesReport& schedules) {
  if (schedules.differs.empty())
    return fmt::format("{}: no findings, same results", join(schedules.run, ", "));
  return fmt::format("`--schedule {}` {}", schedules.run.back(), schedules.differs);
}

std::string gpu_text(const SimReport& report) {
  if (!report.simulated) return report.gpu;
  if (report.gpu_differs.empty())
    return report.gpu + ": the same bits as on the virtual GPU, in every buffer";
  return fmt::format("{} differs: {}", report.gpu, report.gpu_differs);
}

void add_facts(std::string& out, const SimReport& report) {
  const sim::Program& program = *report.program;
  add_fact(out, "kernel",
           fmt::format("{} in {}, {}, PTX {}", report.kernel->name,
                       printable_name(program.source.name()), info(program.target.arch).name,
                       target::ptx_version_text(program.target.ptx)));
  for (const std::string& note : report.notes) add_fact(out, "note", note);
  add_fact(out, "launch", launch_text(report));
  if (!report.launch.awaits.empty()) add_fact(out, "awaits", awaits_text(report));
  if (!report.gpu.empty()) add_fact(out, "device", gpu_text(report));
  if (!report.simulated) return;
  if (report.in_step) add_fact(out, "lanes", "in step, as before sm_70");
  if (report.late_tensor_loads)
    add_fact(out, "registers", "those of `tcgen05.ld` change at `tcgen05.wait::ld`");
  if (report.schedule.is_random)
    add_fact(out, "schedule", fmt::format("random, seed {}", report.schedule.seed));
  if (report.schedule.is_backward) add_fact(out, "schedule", "from the last warp to the first");
  if (report.schedule.is_stepwise) add_fact(out, "schedule", "all warps, step by step");
  if (report.schedules && report.schedules->run.size() > 1)
    add_fact(out, "schedules", schedules_text(*report.schedules));
  if (const std::string text = arithmetic_text(program, report.run.matrix_mode); !text.empty())
    add_fact(out, "arithmetic", text);
  add_fact(out, "outcome", outcome_text(report.run));
  add_fact(out, "executed", plural(report.run.counters.instructions, "warp instruction"));
  add_fact(out, "findings", findings_text(report));
  if (!report.timeline.empty()) add_fact(out, "timeline", printable_name(report.timeline));
}

// --- findings

// "line 12 (kernel.cu:7)"
std::string place_text(const sim::Program& program, std::uint32_t op) {
  if (op >= program.infos.size()) return "no line";
  std::string out = fmt::format("line {}", program.infos[op].line);
  const auto source = source_of(program, op);
  if (!source || source->file.empty()) return out;
  const std::string file = printable_name(std::filesystem::path(source->file).filename().string());
  return out + fmt::format(" ({}:{})", file, source->line);
}

void add_ptx_line(std::string& out, const sim::Program& program, std::uint32_t op) {
  if (op >= program.infos.size()) return;
  append(out, "    {}\n", program.line(program.infos[op].line));
}

void add_origin(std::string& out, const sim::Program& program, const sim::FoundOrigin& origin) {
  if (origin.text.empty()) return;
  out += "  origin: ";
  if (origin.op != sim::kNoOp) append(out, "{}: ", place_text(program, origin.op));
  append(out, "{}\n", origin.text);
  add_ptx_line(out, program, origin.op);
  if (const std::string way = way_text(program, origin); !way.empty())
    append(out, "  through: {}\n", way);
}

void add_finding(std::string& out, const SimReport& report, const sim::Finding& finding) {
  const sim::Program& program = *report.program;
  append(out, "{}: {}: {}; {}{}", name_of(finding.check), place_text(program, finding.who.op),
         finding.text, party_text(report.launch.grid, finding.who), address_text(finding));
  if (finding.count > 1) append(out, "; {} times", finding.count);
  out += '\n';
  add_ptx_line(out, program, finding.who.op);
  add_origin(out, program, finding.origin);
  if (finding.other.op == sim::kNoOp) return;
  append(out, "  other: {}: {}\n", place_text(program, finding.other.op),
         party_text(report.launch.grid, finding.other));
  add_ptx_line(out, program, finding.other.op);
}

void add_findings(std::string& out, const SimReport& report) {
  const auto& findings = report.run.findings.list();
  for (const FindingGroup& group : group_findings(*report.program, findings)) {
    for (const std::size_t i : group) {
      out += '\n';
      add_finding(out, report, findings[i]);
      if (is_folded(group)) break;
    }
    if (is_folded(group)) append(out, "  and {}\n", rest_text(*report.program, findings, group));
  }
}

// What the machine code says of a line counts; the PTX alone does not tell whether it is in a loop.
bool is_in_sass(const SimReport& report, const Advice& each) {
  return report.sass && std::ranges::any_of(report.sass->notes, [&](const SassNote& note) {
           return note.remark.line == each.line &&
                  ((each.kind == Slow::RemoteRelease &&
                    note.remark.kind == runtime::SassKind::Fence) ||
                   (each.kind == Slow::LocalMemory &&
                    note.remark.kind == runtime::SassKind::LocalMemory));
         });
}

// Lines of one reason are listed once.
void add_advice(std::string& out, const SimReport& report) {
  std::vector<Advice> advice = advise(report);
  std::erase_if(advice, [&](const Advice& each) { return is_in_sass(report, each); });
  if (advice.empty() && !report.sass) return;
  out += "\nslow:\n";
  while (!advice.empty()) {
    const Advice first = advice.front();
    std::vector<std::uint32_t> lines;
    std::erase_if(advice, [&](const Advice& each) {
      const bool is_same = each.text == first.text;
      if (is_same && (lines.empty() || lines.back() != each.line)) lines.push_back(each.line);
      return is_same;
    });
    append(out, "  line{} {}: {}\n    {}\n", lines.size() == 1 ? "" : "s", join(lines, ", "),
           first.text, report.program->line(first.line));
  }
  if (report.sass) out += sass_text(*report.sass, SassPlaces::Ptx);
}

// --- counters

// Columns padded to their widest cell: numbers to the right, the last column to the left.
void add_table(std::string& out, const std::vector<TableRow>& rows) {
  const std::vector<std::size_t> widths = column_widths(rows);
  for (const TableRow& row : rows) {
    out += ' ';
    for (std::size_t i = 0; i + 1 < row.size(); ++i) append(out, " {:>{}}", row[i], widths[i]);
    append(out, "  {}\n", row.back());
  }
}

std::string number(std::uint64_t value) { return value == 0 ? "-" : fmt::format("{}", value); }

void add_counters(std::string& out, const SimReport& report) {
  std::vector<TableRow> families{{"executed", "lanes", "family"}};
  for (const auto& [family, count] : counts_by_family(*report.program, report.run.counters)) {
    families.push_back({fmt::format("{}", count.executed), fmt::format("{:.1f}", mean_lanes(count)),
                        std::string(family)});
  }
  out += "\nwarp instructions by family, with the lanes that took part on average:\n";
  add_table(out, families);
  std::vector<TableRow> lines{
      {"line", "executed", "lanes", "wavefronts", "ideal", "sectors", "ideal", "instruction"}};
  for (const auto& [line, count] : counts_by_line(*report.program, report.run.counters)) {
    if (!touches_memory(count)) continue;
    lines.push_back({fmt::format("{}", line), fmt::format("{}", count.executed),
                     fmt::format("{:.1f}", mean_lanes(count)), number(count.wavefronts),
                     number(count.ideal_wavefronts), number(count.sectors),
                     number(count.ideal_sectors), std::string(report.program->line(line))});
  }
  if (lines.size() == 1) return;
  out += "\naccesses by line: wavefronts of shared memory, 32-byte sectors of global memory:\n";
  add_table(out, lines);
}

}  // namespace

namespace {

void add_shown(std::string& out, const std::string& shown, std::uint64_t left_out) {
  out += shown;
  if (left_out > 0) append(out, "... and {}\n", plural(left_out, "more line"));
  if (!out.empty()) out += '\n';
}

}  // namespace

std::string sim_text(const SequenceReport& report) {
  std::string out;
  add_shown(out, report.shown, report.shown_left_out);
  for (const std::string& note : report.notes) add_fact(out, "note", note);
  for (const SimReport& each : report.launches) {
    if (each.number > 1) out += '\n';
    add_facts(out, each);
    add_findings(out, each);
    add_printed(out, each.run.printed);
    if (each.counted) add_counters(out, each);
    add_advice(out, each);
  }
  const std::size_t left = report.launches.front().count - report.launches.size();
  if (left > 0)
    append(out, "\nnot run: {} behind it\n",
           left == 1 ? "the launch" : fmt::format("{} launches", left));
  add_buffers(out, report.buffers, true);
  add_expectations(out, report.expectations);
  return out;
}

std::string sim_text(const SimReport& report) {
  std::string out;
  add_shown(out, report.shown, report.shown_left_out);
  add_facts(out, report);
  add_findings(out, report);
  add_buffers(out, report.buffers, true);
  add_expectations(out, report.expectations);
  add_printed(out, report.run.printed);
  if (report.counted) add_counters(out, report);
  add_advice(out, report);
  return out;
}

bool SimReport::good() const {
  const bool agrees = gpu_differs.empty() && (!schedules || schedules->differs.empty());
  return run.ok() && agrees && all_hold(expectations);
}

bool SequenceReport::good() const {
  return all_hold(expectations) &&
         std::ranges::all_of(launches, [](const SimReport& each) { return each.run.ok(); });
}

// --- advice --------------------------------------------------------------------------------------

namespace {

// So many times the ideal is worth a word.
constexpr std::uint64_t kMinFactor = 2;

bool has_word(std::string_view opcode, std::string_view word) {
  for (std::size_t at = opcode.find(word); at != std::string_view::npos;
       at = opcode.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.'))
      return true;
  }
  return false;
}

// The opcode of a line: its first word behind labels and a guard.
std::string_view opcode_in(const sim::Program& program, const sim::OpInfo& info) {
  const std::string_view text = program.source.text().substr(info.offset);
  return text.substr(0, std::min(text.find_first_of(" \t\n;{"), text.size()));
}

std::string remote_release() {
  return "the release of cluster scope waits for all writes of the thread (MEMBAR.ALL.GPU in "
         "SASS); if the arrival only says that a slot is free, "
         "`mbarrier.arrive.shared::cluster.b64` is enough";
}

void add_by_opcode(const SimReport& report, std::vector<Advice>& out) {
  const sim::Program& program = *report.program;
  for (const sim::OpInfo& info : program.infos) {
    if (info.line == 0) continue;
    const std::string_view opcode = opcode_in(program, info);
    if (opcode.starts_with("mbarrier.arrive") && has_word(opcode, "release") &&
        has_word(opcode, "cluster") && has_word(opcode, "shared::cluster"))
      out.push_back({Slow::RemoteRelease, info.line, remote_release()});
    if ((opcode.starts_with("ld.") || opcode.starts_with("st.")) && has_word(opcode, "local"))
      out.push_back({Slow::LocalMemory, info.line,
                     "local memory, which is global memory of a thread: an array indexed at run "
                     "time, or registers that were spilled"});
  }
}

void add_by_counts(const SimReport& report, std::vector<Advice>& out) {
  for (const auto& [line, count] : counts_by_line(*report.program, report.run.counters)) {
    if (count.wavefronts >= kMinFactor * count.ideal_wavefronts && count.ideal_wavefronts > 0)
      out.push_back({Slow::BankConflict, line,
                     fmt::format("{} wavefronts of shared memory, {} at best: bank conflicts",
                                 count.wavefronts, count.ideal_wavefronts)});
    if (count.sectors >= kMinFactor * count.ideal_sectors && count.ideal_sectors > 0)
      out.push_back({Slow::Uncoalesced, line,
                     fmt::format("{} sectors of global memory, {} at best: lanes do not access "
                                 "neighbouring bytes",
                                 count.sectors, count.ideal_sectors)});
  }
}

}  // namespace

std::string_view name_of(Slow kind) {
  switch (kind) {
    case Slow::RemoteRelease:
      return "remote release";
    case Slow::LocalMemory:
      return "local memory";
    case Slow::BankConflict:
      return "bank conflict";
    case Slow::Uncoalesced:
      return "uncoalesced";
  }
  return "";
}

std::vector<Advice> advise(const SimReport& report) {
  std::vector<Advice> out;
  if (!report.simulated) return out;
  add_by_opcode(report, out);
  if (report.counted) add_by_counts(report, out);
  std::ranges::stable_sort(out, {}, &Advice::line);
  return out;
}

}  // namespace ww::driver
