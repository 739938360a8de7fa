// SPDX-License-Identifier: Apache-2.0
#include "driver/sim/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/append.h"
#include "base/ascii.h"
#include "base/join.h"
#include "base/printable.h"
#include "driver/report_parts.h"
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

// In words; empty: the usual one.
std::string schedule_text(const sim::Schedule& schedule) {
  switch (schedule.turns) {
    case sim::Turns::InOrder:
      return "";
    case sim::Turns::Backward:
      return "from the last warp to the first";
    case sim::Turns::Stepwise:
      return "all warps, step by step";
    case sim::Turns::Random:
      return fmt::format("random, seed {}", schedule.seed);
    case sim::Turns::Ranked:
      return fmt::format("by ranks, seed {}", schedule.seed);
    case sim::Turns::Delayed:
      break;
  }
  return fmt::format("warps {} go on when no other can", text_of(schedule).substr(6));
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
  if (const std::string text = schedule_text(report.schedule); !text.empty())
    add_fact(out, "schedule", text);
  add_schedules(out, report.run.schedules);
  if (const std::string text = arithmetic_text(program, report.run.matrix_mode); !text.empty())
    add_fact(out, "arithmetic", text);
  add_fact(out, "outcome", outcome_text(report.run));
  add_fact(out, "executed", plural(report.run.counters.instructions, "warp instruction"));
  add_fact(out, "findings", findings_text(report));
  if (!report.timeline.empty()) add_fact(out, "timeline", printable_name(report.timeline));
}

// --- findings

void add_ptx_line(std::string& out, const sim::Program& program, std::uint32_t op) {
  if (op >= program.infos.size()) return;
  append(out, "    {}\n", program.line(program.infos[op].line));
}

void add_origin(std::string& out, const sim::Program& program, const sim::FoundOrigin& origin) {
  if (origin.text.empty()) return;
  out += "  origin: ";
  if (origin.op != sim::kNoOp) append(out, "{}: ", program.place_text(origin.op));
  append(out, "{}\n", origin.text);
  add_ptx_line(out, program, origin.op);
  if (const std::string way = way_text(program, origin); !way.empty())
    append(out, "  through: {}\n", way);
}

void add_finding(std::string& out, const SimReport& report, const sim::Finding& finding) {
  const sim::Program& program = *report.program;
  append(out, "{}: {}: {}; {}{}", name_of(finding.check), program.place_text(finding.who.op),
         finding.text, party_text(report.launch.grid, finding.who), address_text(finding));
  if (finding.count > 1) append(out, "; {} times", finding.count);
  out += '\n';
  add_ptx_line(out, program, finding.who.op);
  add_origin(out, program, finding.origin);
  if (finding.other.op == sim::kNoOp) return;
  append(out, "  other: {}: {}\n", program.place_text(finding.other.op),
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
  const bool agrees = gpu_differs.empty();
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
  static constexpr std::string_view kTexts[] = {"remote release", "local memory", "bank conflict",
                                                "uncoalesced"};
  return kTexts[std::to_underlying(kind)];
}

std::vector<Advice> advise(const SimReport& report) {
  std::vector<Advice> out;
  if (!report.simulated) return out;
  add_by_opcode(report, out);
  if (report.counted) add_by_counts(report, out);
  std::ranges::stable_sort(out, {}, &Advice::line);
  return out;
}

// --- findings by cause ---------------------------------------------------------------------------

namespace {

constexpr std::size_t kMaxLines = 6;

/// Sets that are put together.
class Union {
 public:
  explicit Union(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  // The lower one stays the root.
  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// The words of a finding without its numbers.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      out += text[i];
      continue;
    }
    out += '#';
    while (i + 1 < text.size() && is_name_char(text[i + 1])) ++i;
  }
  return out;
}

// What an op is called where unrolled copies of it have one name: its source line, or its opcode.
std::string name_of_op(const sim::Program& program, std::uint32_t op) {
  if (op >= program.infos.size()) return "";
  const sim::OpInfo& info = program.infos[op];
  if (info.loc != 0 && info.loc <= program.locs.size()) {
    const sim::SourceLoc& loc = program.locs[info.loc - 1];
    return fmt::format("{}:{}", loc.file, loc.line);
  }
  return fmt::format("opcode {}", static_cast<std::uint32_t>(info.opcode));
}

using Key = std::tuple<sim::Check, std::string, std::string, std::string>;

Key key_of(const sim::Program& program, const sim::Finding& finding) {
  const std::string who = name_of_op(program, finding.who.op);
  const bool has_loc = !who.starts_with("opcode");
  return {finding.check, who, name_of_op(program, finding.other.op),
          has_loc ? "" : without_numbers(finding.text)};
}

std::string lines_text(const std::set<std::uint32_t>& lines) {
  std::vector<std::string> shown;
  for (const std::uint32_t line : lines)
    if (shown.size() < kMaxLines) shown.push_back(fmt::format("{}", line));
  return fmt::format("line{} {}{}", lines.size() == 1 ? "" : "s", join(shown, ", "),
                     lines.size() > kMaxLines ? ", …" : "");
}

}  // namespace

std::vector<FindingGroup> group_findings(const sim::Program& program,
                                         std::span<const sim::Finding> findings) {
  Union sets(findings.size());
  std::map<Key, std::size_t> by_key;
  std::map<std::pair<sim::Check, std::uint32_t>, std::size_t> by_op;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_pair;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const sim::Finding& finding = findings[i];
    sets.join(by_key.try_emplace(key_of(program, finding), i).first->second, i);
    for (const std::uint32_t op : {finding.who.op, finding.other.op, finding.origin.op})
      if (op != sim::kNoOp)
        sets.join(by_op.try_emplace(std::pair(finding.check, op), i).first->second, i);
    if (finding.other.op == sim::kNoOp) continue;
    const auto pair = std::minmax(finding.who.op, finding.other.op);
    sets.join(by_pair.try_emplace(pair, i).first->second, i);
  }
  std::map<std::size_t, FindingGroup> groups;
  for (std::size_t i = 0; i < findings.size(); ++i) groups[sets.root(i)].push_back(i);
  std::vector<FindingGroup> out;
  for (auto& [root, group] : groups) out.push_back(std::move(group));
  return out;
}

std::string rest_text(const sim::Program& program, std::span<const sim::Finding> findings,
                      const FindingGroup& group) {
  std::set<std::uint32_t> lines, others;
  std::uint64_t times = 0;
  for (const std::size_t i : std::span(group).subspan(1)) {
    times += findings[i].count;
    const auto note = [&](std::uint32_t op, std::set<std::uint32_t>& to) {
      if (op < program.infos.size()) to.insert(program.infos[op].line);
    };
    note(findings[i].who.op, lines);
    note(findings[i].other.op, others);
  }
  std::string out = fmt::format("{} more of this cause, {}: {}", group.size() - 1,
                                plural(times, "time"), lines_text(lines));
  if (!others.empty()) out += fmt::format(" with {}", lines_text(others));
  return out;
}

std::string findings_count_text(std::size_t findings, std::span<const FindingGroup> groups) {
  if (std::ranges::none_of(groups, is_folded)) return fmt::format("{}", findings);
  return fmt::format("{} of {}", findings, plural(groups.size(), "cause"));
}

// --- for programs --------------------------------------------------------------------------------
//
// The report of a simulated run as JSON; docs/reference/sim.md lists the keys. The text depends on the run
// alone: same program, same arguments, same bytes.

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
          {"block", dims_json(report.launch.grid.at(party.block))},
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
          {"schedule", text_of(report.schedule)},
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
  out["schedules"] = schedules_json(report.run.schedules);
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
