// SPDX-License-Identifier: Apache-2.0
#include "driver/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/append.h"
#include "base/file_io.h"
#include "base/join.h"
#include "base/printable.h"
#include "base/source.h"
#include "base/split.h"
#include "driver/args/file_plan.h"
#include "driver/build.h"
#include "driver/explain.h"
#include "driver/report_parts.h"
#include "json/json.h"
#include "runtime/cuda_device.h"
#include "runtime/sim_device.h"
#include "target/target.h"

namespace ww::driver {

// --- trials --------------------------------------------------------------------------------------

namespace {

constexpr std::string_view kTrialsSchema = "warpwright/trials/1";

// --- writing -------------------------------------------------------------------------------------

Json saved_number(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json();
}

Json saved_timing(const std::optional<runtime::Timing>& timing) {
  if (!timing) return nullptr;
  return Json::array({timing->median, timing->fastest, timing->slowest, timing->launches});
}

Json saved_work(const std::optional<SimWork>& work) {
  if (!work) return nullptr;
  return Json::array(
      {work->blocks, work->instructions, work->wavefronts, work->sectors, work->tensor});
}

Json saved_entry(const TuneEntry& entry) {
  return {{"choice", entry.choice},
          {"target", target::info(entry.target->arch).name},
          {"timing", saved_timing(entry.timing)},
          {"work", saved_work(entry.work)},
          {"shared", saved_number(entry.size.shared)},
          {"registers", saved_number(entry.size.registers)},
          {"local", saved_number(entry.size.local)},
          {"spills", saved_number(entry.size.spills)},
          {"grid", entry.grid},
          {"block", entry.block}};
}

Json saved_drop(const TuneDrop& drop) {
  return {{"choice", drop.choice},
          {"stage", std::to_underlying(drop.stage)},
          {"reason", drop.reason},
          {"details", drop.details}};
}

// --- reading -------------------------------------------------------------------------------------

// A key that is missing or of another type throws, and add_trials says that the text is none of ours.

Combination read_choice(const Json& row) {
  Combination out;
  for (const Json& each : row["choice"]) out.push_back(each.get<std::uint64_t>());
  return out;
}

std::array<std::int64_t, 3> read_extents(const Json& row) {
  return {row[0].get<std::int64_t>(), row[1].get<std::int64_t>(), row[2].get<std::int64_t>()};
}

template <typename Enum>
Enum read_enum(const Json& value, Enum last) {
  const auto number = value.get<std::uint64_t>();
  if (number > std::to_underlying(last)) throw JsonMismatch("a number without a name");
  return static_cast<Enum>(number);
}

std::optional<std::int64_t> read_number(const Json& row, const char* key) {
  const Json& value = row[key];
  return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>());
}

std::optional<runtime::Timing> read_timing(const Json& row) {
  if (row.is_null()) return std::nullopt;
  return runtime::Timing{.median = row[0].get<double>(),
                         .fastest = row[1].get<double>(),
                         .slowest = row[2].get<double>(),
                         .launches = row[3].get<int>()};
}

std::optional<SimWork> read_work(const Json& row) {
  if (row.is_null()) return std::nullopt;
  return SimWork{.blocks = row[0].get<std::uint64_t>(),
                 .instructions = row[1].get<std::uint64_t>(),
                 .wavefronts = row[2].get<std::uint64_t>(),
                 .sectors = row[3].get<std::uint64_t>(),
                 .tensor = row[4].get<std::uint64_t>()};
}

TuneEntry read_entry(const Json& row, const TuneSpace& space) {
  TuneEntry out;
  out.choice = read_choice(row);
  out.kernel = space.kernel(out.choice);
  std::string errors;
  read_target(row["target"].get<std::string>(), out.target, errors);
  out.timing = read_timing(row["timing"]);
  out.work = read_work(row["work"]);
  if (out.work && out.target) out.estimate = estimate(*out.work, out.target->arch);
  out.size = {.shared = read_number(row, "shared"),
              .registers = read_number(row, "registers"),
              .local = read_number(row, "local"),
              .spills = read_number(row, "spills")};
  out.grid = read_extents(row["grid"]);
  out.block = read_extents(row["block"]);
  return out;
}

TuneDrop read_drop(const Json& row, const TuneSpace& space) {
  TuneDrop out;
  out.choice = read_choice(row);
  out.kernel = space.kernel(out.choice);
  out.stage = read_enum(row["stage"], DropStage::Expect);
  out.reason = row["reason"].get<std::string>();
  out.details = row["details"].get<std::string>();
  return out;
}

bool is_of_space(const TuneSpace& space, const Json& row) {
  return std::ranges::binary_search(space.combinations(), read_choice(row));
}

Result<void> take_device(TuneReport& report, const Json& part) {
  const auto name = part["device_name"].get<std::string>();
  if (report.tried() > 0 && name != report.device_name)
    return fail(DiagKind::BadArgument,
                "combinations were tried on {} and on {}: their costs cannot be compared",
                report.device_name, name);
  report.device = read_enum(part["device"], DeviceKind::Eval);
  report.device_name = name;
  report.remark = part["remark"].get<std::string>();
  report.repetitions = part["repetitions"].get<int>();
  return {};
}

Result<void> add_part(TuneReport& report, const TuneSpace& space, const Json& part) {
  const Diag foreign = diag(DiagKind::BadArgument, "trials of another space");
  if (part["schema"].get<std::string>() != kTrialsSchema) return fail(Diag(foreign));
  WW_TRY_VOID(take_device(report, part));
  for (const Json& row : part["entries"]) {
    if (!is_of_space(space, row)) return fail(Diag(foreign));
    report.entries.push_back(read_entry(row, space));
    if (!report.entries.back().target) return fail(Diag(foreign));
  }
  for (const Json& row : part["drops"]) {
    if (!is_of_space(space, row)) return fail(Diag(foreign));
    report.drops.push_back(read_drop(row, space));
  }
  return {};
}

}  // namespace

std::string save_trials(const TuneReport& report) {
  Json out = {{"schema", kTrialsSchema},
              {"device", std::to_underlying(report.device)},
              {"device_name", report.device_name},
              {"remark", report.remark},
              {"repetitions", report.repetitions},
              {"entries", Json::array()},
              {"drops", Json::array()}};
  for (const TuneEntry& entry : report.entries) out["entries"].push_back(saved_entry(entry));
  for (const TuneDrop& drop : report.drops) out["drops"].push_back(saved_drop(drop));
  return out.dump();
}

Result<void> add_trials(TuneReport& report, const TuneSpace& space, std::string_view saved) {
  const Json part = Json::parse(saved).value_or(nullptr);
  try {
    return add_part(report, space, part);
  } catch (const JsonMismatch&) {
    return fail(DiagKind::BadArgument, "trials that cannot be read");
  }
}

Result<void> check_trials(TuneReport& report, const TuneSpace& space) {
  std::map<Combination, int> times;
  for (const TuneEntry& entry : report.entries) ++times[entry.choice];
  for (const TuneDrop& drop : report.drops) ++times[drop.choice];
  for (const Combination& each : space.combinations())
    if (const int seen = times[each]; seen != 1)
      return fail(DiagKind::BadArgument, "`{}` was tried {} times, expected once",
                  space.kernel(each), seen);
  std::ranges::sort(report.entries, {}, &TuneEntry::choice);
  std::ranges::sort(report.drops, {}, &TuneDrop::choice);
  return {};
}

namespace {

constexpr int kRepetitions = 20;

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

DropStage stage_of(RunStep step) {
  switch (step) {
    case RunStep::Program:
    case RunStep::Lowering:
      return DropStage::Compile;
    case RunStep::Arguments:
      return DropStage::Arguments;
    case RunStep::Options:
    case RunStep::Device:
      return DropStage::Device;
    case RunStep::Launch:
      return DropStage::Run;
    case RunStep::Report:
      return DropStage::Expect;
  }
  return DropStage::Compile;
}

// "race: k.py:13:5: writes 4 bytes of shared memory …"
std::string finding_line(const RunReport& run) {
  const RunFinding& first = run.findings.front();
  std::string out = first.check + ": ";
  if (first.at.line != 0)
    out += fmt::format("{}:{}:{}: ", run.path, first.at.line, first.at.column);
  return out + first.text.substr(0, first.text.find(';'));  // who it was comes behind
}

// What is wrong with a kernel that ran; nothing if it is right.
std::optional<TuneDrop> fault_of(const RunReport& run) {
  TuneDrop out;
  if (run.outcome != sim::Outcome::Finished) {
    out = {.stage = DropStage::Run, .reason = first_line(run.outcome_text)};
  } else if (!run.findings.empty()) {
    out = {.stage = DropStage::Check, .reason = finding_line(run)};
  } else {
    const auto failed = std::ranges::find_if(
        run.expectations, [](const ExpectReport& each) { return !each.result.holds; });
    if (failed == run.expectations.end()) return std::nullopt;
    out = {.stage = DropStage::Expect, .reason = fmt::format("`{}` does not hold", failed->text)};
  }
  out.details = run_text(run);
  return out;
}

/// One request from its texts to its report, step by step. A step that fails has said why.
class Tuning {
 public:
  explicit Tuning(const TuneRequest& request) : request_(request) {}

  TuneOutcome go() {
    if (read() && (request_.trials ? take_trials() : try_here())) {
      rank();
      if (!is_usable()) return {.errors = std::move(errors_)};
      write_best();
      return {.report = std::move(report_), .errors = std::move(errors_)};
    }
    return {.errors = std::move(errors_)};
  }

 private:
  bool read();
  bool take_trials();
  bool try_here() { return choose_device() && check_repetitions() && find_ptxas() && try_all(); }
  bool choose_device();
  bool open_gpu();
  bool check_repetitions();
  bool find_ptxas();
  bool try_all();
  bool try_next(const Combination& choice);
  void try_one(const Combination& choice);
  void add_drop(const Combination& choice, TuneDrop drop);
  void rank();
  bool is_usable();
  void write_best();

  [[nodiscard]] int repetitions() const { return request_.repetitions.value_or(kRepetitions); }
  bool refuse(const Diag& problem) {
    errors_ += render(problem);
    return false;
  }

  const TuneRequest& request_;
  std::string errors_;
  std::optional<TuneSpace> space_;
  std::optional<SourceText> source_;
  std::optional<target::Arch> arch_;  // that was asked for
  Result<runtime::CudaCalls> calls_ = runtime::CudaCalls{};
  // Stays open, so that a run finds the GPU started.
  std::unique_ptr<runtime::CudaDevice> gpu_;
  std::string ptxas_;
  CheckedArrays checked_;
  std::string hanging_;  // a kernel that has not ended and never will
  TuneReport report_;
};

// --- before the first run ------------------------------------------------------------------------

bool Tuning::read() {
  std::optional<target::Target> target;
  if (!read_target(request_.source.target, target, errors_)) return false;
  if (target) arch_ = target->arch;
  if (request_.source.text != nullptr) {
    source_ = *request_.source.text;
  } else {
    auto source = read_source(request_.source.path);
    if (!source) return refuse(source.error());
    source_ = *std::move(source);
  }
  space_ = TuneSpace::read(
      {.kernel = request_.source.kernel, .spaces = request_.spaces, .wheres = request_.wheres},
      errors_);
  if (!space_) return false;
  report_.path = request_.source.path;
  report_.kernel = request_.source.kernel;
  report_.expects = request_.arguments.expects;
  report_.axes = space_->axes();
  report_.left_out = space_->left_out();
  if (request_.output.empty()) return true;
  FilePlan files;
  files.reads(request_.source.path, "the source");
  files.reads_args(request_.arguments.args);
  auto good = files.writes(request_.output, "`-o`");
  if (good) return true;
  const Diag problem = std::move(good).error().with_span(Span::at(0, request_.output.size()));
  errors_ += render(problem, SourceText("-o", request_.output));
  return false;
}

bool Tuning::open_gpu() {
  gpu_.reset();
  auto gpu = runtime::CudaDevice::open(*calls_, arch_);
  if (!gpu) return refuse(gpu.error());
  gpu_ = *std::move(gpu);
  return true;
}

// All combinations run on the same device, or their times could not be compared.
bool Tuning::choose_device() {
  report_.device = request_.device;
  if (request_.device != DeviceKind::Sim)
    calls_ = request_.driver != nullptr ? *request_.driver : runtime::load_cuda_calls();
  if (request_.device == DeviceKind::Cuda) return calls_ ? open_gpu() : refuse(calls_.error());
  if (request_.device != DeviceKind::Auto) return true;
  report_.device = DeviceKind::Sim;
  if (!calls_) return true;
  auto gpu = runtime::CudaDevice::open(*calls_, arch_);
  if (!gpu) {
    report_.remark = gpu.error().text;
    return true;
  }
  gpu_ = *std::move(gpu);
  report_.device = DeviceKind::Cuda;
  return true;
}

bool Tuning::check_repetitions() {
  if (!request_.repetitions || gpu_ != nullptr) return true;
  const std::string& why = calls_ ? report_.remark : calls_.error().text;
  return refuse(
      diag(DiagKind::BadArgument, "`--repetitions` without a GPU: the virtual GPU has no clock")
          .with_note(why.empty() ? "`--device cuda` runs on a GPU and takes its time" : why));
}

bool Tuning::find_ptxas() {
  if (!request_.ptxas) return true;
  auto found = runtime::find_ptxas(*request_.ptxas);
  if (!found) return refuse(found.error());
  ptxas_ = *std::move(found);
  return true;
}

// --- one combination -----------------------------------------------------------------------------

void Tuning::add_drop(const Combination& choice, TuneDrop drop) {
  drop.choice = choice;
  drop.kernel = space_->kernel(choice);
  report_.drops.push_back(std::move(drop));
}

void Tuning::try_one(const Combination& choice) {
  const bool on_gpu = gpu_ != nullptr;
  const std::string kernel = space_->kernel(choice);
  RunRequest request{.source = request_.source,
                     .device = report_.device,
                     .arguments = request_.arguments,
                     .timed_launches = on_gpu ? repetitions() : 0,
                     .counts_work = !on_gpu,
                     .ptxas = ptxas_,
                     .driver = &calls_,
                     .checked = &checked_};
  request.source.kernel = kernel;
  request.source.text = &*source_;
  RunOutcome outcome = run_kernel(request);
  std::optional<TuneDrop> drop;
  if (!outcome.errors.empty())
    drop = TuneDrop{.stage = stage_of(outcome.step),
                    .reason = first_line(outcome.errors),
                    .details = outcome.errors};
  else
    drop = fault_of(*outcome.report);
  if (outcome.hangs) hanging_ = kernel;
  if (drop) return add_drop(choice, *std::move(drop));
  RunReport& run = *outcome.report;
  TuneEntry entry{.choice = choice,
                  .kernel = kernel,
                  .target = run.target,
                  .timing = run.timing,
                  .work = run.work,
                  .size = run.size,
                  .grid = run.grid,
                  .block = run.block};
  if (run.work) entry.estimate = estimate(*run.work, run.target->arch);
  report_.entries.push_back(std::move(entry));
}

// A kernel that fails on a GPU takes the GPU's context with it, so that it is opened anew.
bool Tuning::try_next(const Combination& choice) {
  if (!hanging_.empty()) {
    const std::string reason = fmt::format("not tried: `{}` still runs on the GPU", hanging_);
    add_drop(choice, {.stage = DropStage::Device, .reason = reason, .details = reason + "\n"});
    return true;
  }
  const std::size_t drops = report_.drops.size();
  try_one(choice);
  const bool has_failed =
      report_.drops.size() > drops && report_.drops.back().stage == DropStage::Run;
  return gpu_ == nullptr || !has_failed || !hanging_.empty() || open_gpu();
}

bool Tuning::try_all() {
  report_.device_name = gpu_ != nullptr ? gpu_->name() : runtime::SimDevice().name();
  report_.repetitions = gpu_ != nullptr ? repetitions() : 0;
  const std::vector<Combination>& all = space_->combinations();
  std::vector<std::size_t> numbers(all.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (request_.numbers) numbers = *request_.numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= all.size())
      return refuse(diag(DiagKind::BadArgument, "combination {} of {}", numbers[i], all.size()));
    if (request_.progress && !request_.progress(i, numbers.size()))
      return refuse(
          diag(DiagKind::Budget, "stopped after {} of {} combinations", i, numbers.size()));
    if (!try_next(all[numbers[i]])) return false;
  }
  return true;
}

bool Tuning::take_trials() {
  for (const std::string& part : *request_.trials)
    if (auto added = add_trials(report_, *space_, part); !added) return refuse(added.error());
  auto all = check_trials(report_, *space_);
  return all ? true : refuse(all.error());
}

// --- after the last ------------------------------------------------------------------------------

void Tuning::rank() { std::ranges::stable_sort(report_.entries, {}, &TuneEntry::cost); }

// Where nothing came further than its arguments or its device, those are to blame. A part of the
// space says nothing about the rest.
bool Tuning::is_usable() {
  if (!report_.entries.empty() || request_.numbers) return true;
  const auto is_usage = [](const TuneDrop& drop) {
    return drop.stage == DropStage::Arguments || drop.stage == DropStage::Device;
  };
  const auto is_either = [&](const TuneDrop& drop) {
    return is_usage(drop) || drop.stage == DropStage::Compile;
  };
  const auto first = std::ranges::find_if(report_.drops, is_usage);
  if (first == report_.drops.end() || !std::ranges::all_of(report_.drops, is_either)) return true;
  errors_ += first->details;
  return false;
}

void Tuning::write_best() {
  if (request_.output.empty() || report_.entries.empty()) return;
  const auto written = write_file_atomically(request_.output, json_text(best_json(report_)));
  if (written)
    report_.output = request_.output;
  else
    refuse(written.error());
}

}  // namespace

std::string_view name_of(DropStage stage) {
  static constexpr std::string_view kTexts[] = {"compile", "arguments", "device",
                                                "run",     "check",     "expect"};
  return kTexts[std::to_underlying(stage)];
}

TuneOutcome tune(const TuneRequest& request) { return Tuning(request).go(); }

std::optional<std::size_t> tune_size(const TuneRequest& request, std::string& errors) {
  const auto space = TuneSpace::read(
      {.kernel = request.source.kernel, .spaces = request.spaces, .wheres = request.wheres},
      errors);
  return space ? std::optional(space->combinations().size()) : std::nullopt;
}

// --- report --------------------------------------------------------------------------------------
//
// What a tuning has found, for people and for programs; docs/guide/tuning.md lists the keys.

namespace {

double relative(const TuneReport& report, const TuneEntry& entry) {
  const double best = report.entries.front().cost();
  return best > 0 ? entry.cost() / best : 1;
}

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? fmt::format("{}", *number) : "-";
}

bool knows_spills(const TuneReport& report) {
  return std::ranges::any_of(report.entries,
                             [](const TuneEntry& entry) { return entry.size.spills.has_value(); });
}

// --- facts ---------------------------------------------------------------------------------------

std::string tried_text(const TuneReport& report) {
  std::string out = fmt::format("{}: {} right, {} dropped", plural(report.tried(), "combination"),
                                report.entries.size(), report.drops.size());
  if (report.left_out > 0) out += fmt::format("; {} left out", report.left_out);
  return out;
}

std::string estimate_text(target::Arch arch) {
  const SmRates& rates = rates_of(arch);
  return fmt::format(
      "cycles = ceil(blocks / {}) x max(instructions / 4, wavefronts, sectors, "
      "multiply-adds / {}) of a block",
      rates.sms, rates.tensor);
}

void add_facts(std::string& out, const TuneReport& report) {
  add_fact(out, "kernel", fmt::format("{} in {}", report.kernel, printable_name(report.path)));
  add_fact(out, "device",
           report.remark.empty() ? report.device_name
                                 : fmt::format("{}: {}", report.device_name, report.remark));
  if (!report.entries.empty()) add_fact(out, "target", target_text(*report.entries[0].target));
  add_fact(
      out, "expected",
      report.expects.empty() ? "nothing: results were not compared" : join(report.expects, ", "));
  add_fact(out, "tried", tried_text(report));
  if (report.entries.empty()) return;
  if (report.device == DeviceKind::Cuda)
    add_fact(out, "time", fmt::format("the median of {} launches", report.repetitions));
  else
    add_fact(out, "estimate", estimate_text(report.entries[0].target->arch));
}

// --- the table -----------------------------------------------------------------------------------

TableRow heading(const TuneReport& report) {
  TableRow out{"rank"};
  for (const SpaceAxis& axis : report.axes) out.push_back(axis.name);
  if (report.device == DeviceKind::Cuda)
    out.insert(out.end(), {"time/us", "relative"});
  else
    out.insert(out.end(), {"estimate", "relative", "bound"});
  out.insert(out.end(), {"registers", "shared", "local"});
  if (knows_spills(report)) out.emplace_back("spills");
  return out;
}

TableRow row_of(const TuneReport& report, std::size_t rank) {
  const TuneEntry& entry = report.entries[rank];
  TableRow out{fmt::format("{}", rank + 1)};
  for (std::size_t i = 0; i < report.axes.size(); ++i)
    out.push_back(report.axes[i].texts[entry.choice[i]]);
  out.push_back(entry.timing ? fmt::format("{:.2f}", entry.timing->median * 1e6)
                             : fmt::format("{:.0f}", entry.estimate.cycles));
  out.push_back(fmt::format("{:.2f}", relative(report, entry)));
  if (report.device != DeviceKind::Cuda) out.emplace_back(entry.estimate.bound);
  for (const auto& number : {entry.size.registers, entry.size.shared, entry.size.local})
    out.push_back(number_text(number));
  if (knows_spills(report)) out.push_back(number_text(entry.size.spills));
  return out;
}

void add_table(std::string& out, const TuneReport& report, std::size_t top) {
  if (report.entries.empty()) return;
  const std::size_t shown = std::min(top, report.entries.size());
  std::vector<TableRow> rows{heading(report)};
  for (std::size_t i = 0; i < shown; ++i) rows.push_back(row_of(report, i));
  const std::vector<std::size_t> widths = column_widths(rows);
  out += '\n';
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      append(out, "{}{:>{}}", i == 0 ? "" : "  ", row[i], widths[i]);
    out += '\n';
  }
  if (shown < report.entries.size())
    append(out, "... and {} more\n", report.entries.size() - shown);
}

// What ptxas says of the code of those in the table.
void add_remarks(std::string& out, const TuneReport& report, std::size_t top) {
  std::string lines;
  for (std::size_t i = 0; i < std::min(top, report.entries.size()); ++i)
    for (const runtime::PtxasRemark& remark : report.entries[i].size.slow)
      append(lines, "  rank {}: {}\n    {}\n", i + 1, remark.line, remark.why);
  if (!lines.empty()) out += "\nslow\n" + lines;
}

// --- what was dropped ----------------------------------------------------------------------------

struct Group {
  const TuneDrop* first = nullptr;
  std::vector<const TuneDrop*> all = {};
};

std::vector<Group> groups_of(const TuneReport& report) {
  std::vector<Group> out;
  for (const TuneDrop& drop : report.drops) {
    auto group = std::ranges::find_if(out, [&](const Group& each) {
      return each.first->stage == drop.stage && each.first->reason == drop.reason;
    });
    if (group == out.end()) group = out.insert(out.end(), Group{.first = &drop});
    group->all.push_back(&drop);
  }
  return out;
}

void add_indented(std::string& out, std::string_view text) {
  for (const std::string_view line : ww::split(text, '\n'))
    append(out, "{}{}\n", line.empty() ? "" : "      ", line);
}

void add_drops(std::string& out, const TuneReport& report, bool is_verbose) {
  if (!report.drops.empty()) out += "\ndropped\n";
  for (const Group& group : groups_of(report)) {
    append(out, "  {} x {}: {}\n", group.all.size(), name_of(group.first->stage),
           group.first->reason);
    if (!is_verbose) continue;
    for (const TuneDrop* drop : group.all) {
      append(out, "    {}\n", drop->kernel);
      add_indented(out, drop->details);
    }
  }
  if (is_verbose || !report.entries.empty() || report.drops.empty()) return;
  append(out, "\nthe first, {}\n", report.drops[0].kernel);
  add_indented(out, report.drops[0].details);
}

// --- JSON ----------------------------------------------------------------------------------------

Json value_json(const script::HostValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Held, script::HostValue::Tuple>) {
          return json_list(held, value_json);
        } else {
          return held;
        }
      },
      value.value);
}

Json parameters_json(const TuneReport& report, const Combination& choice) {
  Json out = Json::object();
  for (std::size_t i = 0; i < choice.size(); ++i)
    out[report.axes[i].name] = value_json(report.axes[i].values[choice[i]]);
  return out;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json target_json(const TuneEntry& entry) { return target::info(entry.target->arch).name; }

Json time_json(const TuneEntry& entry) {
  if (!entry.timing) return nullptr;
  return {{"median", entry.timing->median * 1e6},
          {"fastest", entry.timing->fastest * 1e6},
          {"slowest", entry.timing->slowest * 1e6}};
}

Json estimate_json(const TuneEntry& entry) {
  if (!entry.work) return nullptr;
  return {{"cycles", entry.estimate.cycles},      {"bound", entry.estimate.bound},
          {"blocks", entry.work->blocks},         {"instructions", entry.work->instructions},
          {"wavefronts", entry.work->wavefronts}, {"sectors", entry.work->sectors},
          {"multiply_adds", entry.work->tensor}};
}

Json entry_json(const TuneReport& report, std::size_t rank) {
  const TuneEntry& entry = report.entries[rank];
  return {{"rank", rank + 1},
          {"kernel", entry.kernel},
          {"parameters", parameters_json(report, entry.choice)},
          {"time_us", time_json(entry)},
          {"estimate", estimate_json(entry)},
          {"relative", relative(report, entry)},
          {"target", target_json(entry)},
          {"grid", entry.grid},
          {"block", entry.block},
          {"registers", or_null(entry.size.registers)},
          {"shared_bytes", or_null(entry.size.shared)},
          {"local_bytes", or_null(entry.size.local)},
          {"spill_bytes", or_null(entry.size.spills)}};
}

Json drop_json(const TuneReport& report, const TuneDrop& drop) {
  return {{"kernel", drop.kernel},
          {"parameters", parameters_json(report, drop.choice)},
          {"stage", name_of(drop.stage)},
          {"reason", drop.reason},
          {"details", drop.details}};
}

Json space_json(const TuneReport& report) {
  Json out = Json::object();
  for (const SpaceAxis& axis : report.axes) {
    out[axis.name] = json_list(axis.values, value_json);
  }
  return out;
}

}  // namespace

std::string tune_text(const TuneReport& report, const TuneTextOptions& options) {
  std::string out;
  add_facts(out, report);
  add_table(out, report, options.top);
  add_remarks(out, report, options.top);
  add_drops(out, report, options.is_verbose);
  if (!report.output.empty())
    append(out, "\n{} written to {}\n", report.entries[0].kernel, report.output);
  return out;
}

Json tune_json(const TuneReport& report) {
  Json out = with_schema(
      "tune", {{"file", report.path},
               {"kernel", report.kernel},
               {"device", name_of(report.device)},
               {"device_name", report.device_name},
               {"remark", report.remark.empty() ? Json() : Json(report.remark)},
               {"expects", report.expects},
               {"repetitions", report.repetitions > 0 ? Json(report.repetitions) : Json()},
               {"space", space_json(report)},
               {"left_out", report.left_out},
               {"tried", report.tried()}});
  out["ranked"] = Json::array();
  for (std::size_t i = 0; i < report.entries.size(); ++i)
    out["ranked"].push_back(entry_json(report, i));
  out["dropped"] =
      json_list(report.drops, [&](const TuneDrop& drop) { return drop_json(report, drop); });
  return out;
}

Json best_json(const TuneReport& report) {
  const TuneEntry& best = report.entries.front();
  Json out = with_schema("tune-best", {{"file", report.path},
                                       {"kernel", best.kernel},
                                       {"target", target_json(best)},
                                       {"device", name_of(report.device)},
                                       {"device_name", report.device_name},
                                       {"parameters", parameters_json(report, best.choice)}});
  if (best.timing)
    out["time_us"] = best.timing->median * 1e6;
  else
    out["estimate"] = best.estimate.cycles;
  out["tried"] = report.tried();
  out["dropped"] = report.drops.size();
  return out;
}

}  // namespace ww::driver
