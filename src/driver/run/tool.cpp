// SPDX-License-Identifier: Apache-2.0
#include "driver/run/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/source.h"
#include "driver/args/file_plan.h"
#include "driver/run/device_run.h"
#include "driver/run/report.h"
#include "driver/sim/options.h"
#include "driver/sim/report.h"
#include "driver/timeline/names.h"
#include "eval/eval.h"
#include "eval/launch/supported.h"
#include "ir/param_use.h"
#include "runtime/assembler.h"

namespace ww::driver {
namespace {

DeviceKind wish_of(const RunRequest& request);

// Tells whether contents have changed, without a copy of them.
std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t out = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    out = (out ^ word) * 0x9e3779b97f4a7c15U;
    out ^= out >> 32U;
    bytes = bytes.subspan(count);
  }
  return out;
}

/// One request from its texts to its report, step by step. A step that fails has said why.
class KernelRun {
 public:
  explicit KernelRun(const RunRequest& request) : request_(request) {}

  RunOutcome go() {
    if (read_options() && load() && check_files() && read_arguments())
      request_.device == DeviceKind::Eval ? run_eval() : run_device();
    outcome_.errors = std::move(refusals_.text);
    return std::move(outcome_);
  }

 private:
  // Steps
  bool read_options();
  bool load();
  bool check_files();
  bool read_arguments();
  void run_eval();
  void run_device();

  // Parts of them
  bool check_options();
  ByteLimit most_bytes();
  bool choose();
  bool lower();
  bool assemble();
  void finish_report(const std::vector<std::vector<bool>>& written);
  void add_size(const runtime::Launch& launch);
  void write_timeline_of(const runtime::Launch& launch);
  [[nodiscard]] TimelineSource timeline_source(const runtime::Launch& launch) const;
  void capture(const runtime::Launch& launch);
  [[nodiscard]] bool is_result(std::size_t param, const std::vector<bool>& written) const;
  void check_expectations();

  [[nodiscard]] const ir::Function& fn() const { return build_.tile(); }
  [[nodiscard]] const SourceText& source() const { return build_.compiled->source; }

  bool refuse(const Diag& problem) {
    if (!problem.span.known) return refusals_.add(problem);
    refusals_.text += build_.compiled->render(problem);
    return false;
  }

  // A pointer leads into its memory: only a run tells what is done with it.
  [[nodiscard]] bool may_write(std::size_t param) const {
    return uses_[param].writes && !uses_[param].stores;
  }

  /// What fails from here on fails in this step.
  void begin(RunStep step) { outcome_.step = step; }

  const RunRequest& request_;
  RunOutcome outcome_;
  sim::RunOptions options_;
  LimitChanges limits_;
  Build build_;
  Refusals refusals_;
  std::optional<LaunchValues> values_;
  std::vector<ir::ParamUse> uses_;      // by parameter
  std::vector<std::uint64_t> digests_;  // of contents before the run, where they may be written
  DeviceChoice device_;
  KernelSize size_;  // as far as ptxas was asked
  std::optional<TimelinePlan> timeline_;
};

// --- options and the program --------------------------------------------------------------------

bool KernelRun::read_options() {
  const RunRequest& request = request_;
  const std::string_view usual = request.timeline.is_wanted() ? "step" : "rr";
  if (!refusals_.keep(parse_schedule(request.schedule.empty() ? usual : request.schedule),
                      options_.schedule, "--schedule", request.schedule) ||
      (!request.checks.empty() && !refusals_.keep(sim::parse_checks(request.checks),
                                                  options_.checks, "--check", request.checks)) ||
      !refusals_.keep(parse_limits(request.limits), limits_, "--limit", request.limits))
    return false;
  options_.limits = limits_.on(options_.limits);
  options_.schedules = request.schedules;
  options_.progress = request_.progress;
  options_.stop = request_.stop;
  options_.count = request_.counts_work || request_.capture != nullptr;
  if (request_.capture != nullptr)
    options_.record = sim::RecordRequest{.block = request_.capture->block,
                                         .keeps_states = request_.capture->keeps_states};
  return check_options();
}

// Options that the device does not have.
bool KernelRun::check_options() {
  const DeviceKind device = request_.device;
  if (request_.timed_launches > 0 && (device == DeviceKind::Sim || device == DeviceKind::Eval))
    return refuse(diag(DiagKind::BadArgument, "`--time` with `--device {}`, which has no clock",
                       name_of(device))
                      .with_note("`--device cuda` runs on a GPU and takes its time"));
  if (!request_.checks.empty() && (device == DeviceKind::Cuda || device == DeviceKind::Eval))
    return refuse(diag(DiagKind::BadArgument, "`--check` with `--device {}`", name_of(device))
                      .with_note(device == DeviceKind::Cuda
                                     ? "a GPU checks nothing; `--device sim` does"
                                     : "the reference evaluator always checks all"));
  const bool has_schedules = request_.schedules.is_asked_for();
  if ((!request_.schedule.empty() || has_schedules) && device == DeviceKind::Cuda)
    return refuse(diag(DiagKind::BadArgument, "`{}` with `--device cuda`",
                       has_schedules ? "--schedules" : "--schedule")
                      .with_note("a GPU has an order of its own; `--device sim` takes one"));
  if (has_schedules && device == DeviceKind::Eval)
    return refuse(diag(DiagKind::BadArgument, "`--schedules` with `--device eval`")
                      .with_note("`--device sim` runs a kernel in several schedules"));
  if (has_schedules && (request_.timeline.is_wanted() || !request_.schedule.empty()))
    return refuse(diag(DiagKind::BadArgument, "`{}` beside `--schedules {}`: expected one of them",
                       request_.timeline.is_wanted() ? "--timeline" : "--schedule",
                       request_.schedules.most));
  if (options_.schedule.is(sim::Turns::Stepwise) && device == DeviceKind::Eval &&
      !request_.schedule.empty())
    return refuse(diag(DiagKind::BadArgument, "`--schedule step` with `--device eval`")
                      .with_note("the evaluator has no warps; `--device sim` takes it"));
  if (request_.timeline.is_wanted() && (device == DeviceKind::Cuda || device == DeviceKind::Eval))
    return refuse(diag(DiagKind::BadArgument, "`--timeline` with `--device {}`", name_of(device))
                      .with_note("the virtual GPU has one: `--device sim`"));
  if (!request_.limits.empty() && device == DeviceKind::Cuda)
    return refuse(diag(DiagKind::BadArgument, "`--limit` with `--device cuda`")
                      .with_note("a GPU gives a kernel a minute; `--device sim` takes limits"));
  return true;
}

bool KernelRun::load() {
  begin(RunStep::Program);
  build_ = build_file(request_.source, Phase::Tile);
  refusals_.text += build_.errors;
  return build_.good();
}

// Before anything runs; what is wrong with the form of an `--out` is read_arguments' to say.
bool KernelRun::check_files() {
  begin(RunStep::Arguments);
  FilePlan files;
  files.reads(request_.source);
  files.reads_args(request_.arguments.args);
  for (const std::string& text : request_.arguments.outs) {
    const auto out = cut_assignment(text, "FILE.npy");
    if (!out) continue;
    auto good = files.writes(out->value, fmt::format("`{}`", out->name));
    if (!good)
      return refusals_.add(std::move(good).error().with_span(out->value_span), "--out", text);
  }
  if (!request_.timeline.is_wanted()) return true;
  timeline_ = plan_timeline(request_.timeline, {}, files, refusals_);
  if (timeline_) options_.record = sim::RecordRequest{timeline_->block};
  return timeline_.has_value();
}

bool KernelRun::read_arguments() {
  begin(RunStep::Arguments);
  ArgRequest request = request_.arguments;
  request.most_bytes = [this] { return most_bytes(); };
  request.show = [this](const Diag& problem) { return build_.compiled->render(problem); };
  values_ = read_kernel_args(fn(), request, refusals_.text);
  if (!values_) return false;
  uses_ = ir::param_uses(fn());
  for (std::size_t i = 0; i < uses_.size(); ++i)
    digests_.push_back(may_write(i) ? digest(values_->all[i].array.data) : 0);
  return true;
}

ByteLimit KernelRun::most_bytes() {
  if (request_.device == DeviceKind::Eval) return {kMaxHostBytes, "the reference evaluator"};
  const bool is_gpu = wish_of(request_) == DeviceKind::Cuda || (choose() && device_.sim == nullptr);
  begin(RunStep::Arguments);
  if (is_gpu) return {kMaxArrayBytes, "a GPU"};
  return {kMaxHostBytes, "the virtual GPU"};
}

// --- the reference evaluator --------------------------------------------------------------------

void KernelRun::run_eval() {
  begin(RunStep::Launch);
  eval::Options options;
  options.limits = limits_.on(options.limits);
  // 0 means the usual order.
  if (options_.schedule.is(sim::Turns::Random)) options.seed = options_.schedule.seed + 1;
  if (request_.progress) options.keep_going = [this] { return request_.progress(0, 0); };
  auto run = eval::run(fn(), eval_arguments(*values_), options);
  if (!run) {
    refuse(run.error());
    return;
  }
  begin(RunStep::Report);
  outcome_.report = eval_report(fn(), source(), *run);
  finish_report(run->written);
}

// --- devices ------------------------------------------------------------------------------------

// What only the virtual GPU has makes it the choice.
DeviceKind wish_of(const RunRequest& request) {
  if (request.device == DeviceKind::Cuda) return DeviceKind::Cuda;
  const bool wants_sim = !request.checks.empty() || !request.schedule.empty() ||
                         request.schedules.is_asked_for() || !request.limits.empty() ||
                         request.timeline.is_wanted() || request.capture != nullptr;
  return request.device == DeviceKind::Sim || wants_sim ? DeviceKind::Sim : DeviceKind::Auto;
}

bool KernelRun::choose() {
  if (device_.device != nullptr) return true;
  begin(RunStep::Device);
  const DeviceKind wish = wish_of(request_);
  const Result<runtime::CudaCalls> calls = request_.driver != nullptr ? *request_.driver
                                           : wish == DeviceKind::Sim
                                               ? Result<runtime::CudaCalls>(runtime::CudaCalls{})
                                               : runtime::load_cuda_calls();
  auto choice = choose_device(wish, fn(), build_.target, options_, calls);
  if (!choice) return refuse(choice.error());
  device_ = *std::move(choice);
  if (request_.timed_launches == 0 || device_.sim == nullptr) return true;
  const std::string why = calls ? device_.remark : calls.error().text;
  return refuse(
      diag(DiagKind::BadArgument, "`--time` without a GPU: the virtual GPU has no clock")
          .with_note(
              why.empty()
                  ? "`--check`, `--schedule`, `--limit` and `--timeline` ask for the virtual GPU"
                  : why));
}

bool KernelRun::lower() {
  begin(RunStep::Lowering);
  set_target(build_, device_.target);
  advance(build_, Phase::Ptx);
  if (build_.good()) return true;
  refusals_.text += build_.errors;
  if (eval::is_evaluated(fn()))
    refusals_.text +=
        "  note: `--device eval` runs the program by its meaning, without lowering it\n";
  return false;
}

// Beyond what the device knows itself.
bool KernelRun::assemble() {
  if (request_.ptxas.empty()) return true;
  const auto size = runtime::assembled_size(request_.ptxas, build_.ptx, build_.target->arch);
  if (!size) return refuse(size.error());
  size_.registers = size->registers;
  size_.local = size->local;
  size_.spills = size->spills;
  size_.slow = size->remarks;
  return true;
}

void KernelRun::add_size(const runtime::Launch& launch) {
  outcome_.report->size = size_;
  KernelSize& size = outcome_.report->size;
  const auto seen = device_.device->resources();
  if (!seen) return;
  size.shared = std::int64_t{seen->static_shared} + launch.dynamic_shared;
  if (!size.registers && seen->registers) size.registers = *seen->registers;
  if (!size.local && seen->local) size.local = *seen->local;
}

TimelineSource KernelRun::timeline_source(const runtime::Launch& launch) const {
  TimelineSource source = driver::timeline_source(build_, *device_.sim->program());
  source.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
  source.file = request_.source.path;
  source.outcome = outcome_text(*device_.sim->report());
  return source;
}

void KernelRun::capture(const runtime::Launch& launch) {
  RunCapture& out = *request_.capture;
  out.program = device_.sim->program();
  out.run = *device_.sim->report();
  out.source = timeline_source(launch);
  for (const runtime::Value& value : launch.arguments) out.arguments.push_back(value.bits);
}

void KernelRun::write_timeline_of(const runtime::Launch& launch) {
  const auto written = draw_timeline(request_.timeline, *timeline_,
                                     device_.sim->report()->recording, timeline_source(launch));
  if (!written) return void(refuse(written.error()));
  outcome_.report->timeline = request_.timeline.path;
}

void KernelRun::run_device() {
  if (!choose() || !lower() || !assemble()) return;
  begin(RunStep::Launch);
  if (device_.sim != nullptr) device_.sim->set_names(launch_names(build_, *device_.sim));
  const auto run = run_on(*device_.device, build_, kernel_args(*values_),
                          {.timed_launches = request_.timed_launches});
  if (!run) {
    outcome_.hangs = device_.device->hangs();
    refuse(run.error());
    return;
  }
  begin(RunStep::Report);
  RunReport& report = outcome_.report.emplace(
      launch_report(fn().name, source(), *build_.target, *device_.device, run->launch));
  report.remark = device_.remark;
  report.primitives = primitive_lines(build_);
  report.timing = run->timing;
  add_size(run->launch);
  if (device_.sim != nullptr) {
    if (timeline_) write_timeline_of(run->launch);
    if (request_.capture != nullptr) capture(run->launch);
    if (request_.counts_work)
      report.work = work_of(*device_.sim->program(), *device_.sim->report());
  }
  finish_report(run->written);
}

// --- what a run leaves --------------------------------------------------------------------------

void KernelRun::finish_report(const std::vector<std::vector<bool>>& written) {
  std::vector<BufferReport>& buffers = outcome_.report->buffers;
  for (std::size_t i = 0; i < values_->all.size(); ++i) {
    LaunchValue& value = values_->all[i];
    if (value.is_output) value.written = written[i];
    if (value.is_buffer && ir::buffer_of_param(fn(), i).valid())
      buffers.push_back(report_buffer(value, i, is_result(i, written[i])));
  }
  check_expectations();
  write_files(*values_, refusals_, buffers);
}

// Written by the kernel, as far as that is known: a device tells it of buffers without contents
// only.
bool KernelRun::is_result(std::size_t param, const std::vector<bool>& written) const {
  const LaunchValue& value = values_->all[param];
  if (value.is_output || !may_write(param)) return value.is_output || uses_[param].stores;
  return std::ranges::find(written, true) != written.end() ||
         digest(value.array.data) != digests_[param];
}

void KernelRun::check_expectations() {
  std::vector<ExpectReport>& out = outcome_.report->expectations;
  std::vector<std::pair<std::string, Array>> arrays;
  if (request_.checked != nullptr && !values_->expectations.empty()) {
    for (const LaunchValue& value : values_->all) arrays.emplace_back(value.name, value.array);
    if (arrays == request_.checked->arrays) {
      ++request_.checked->reuses;
      out = request_.checked->expectations;
      return;
    }
  }
  out = driver::check_expectations(*values_, refusals_);
  if (!arrays.empty() && refusals_.text.empty()) {
    request_.checked->arrays = std::move(arrays);
    request_.checked->expectations = out;
  }
}

}  // namespace

bool RunReport::good() const {
  return outcome == sim::Outcome::Finished && findings.empty() && schedules.problem.empty() &&
         all_hold(expectations);
}

RunOutcome run_kernel(const RunRequest& request) {
  return within_memory(
      [&] { return KernelRun(request).go(); },
      RunOutcome{.errors = render(diag(DiagKind::TooLarge, "the host has no memory for this run")),
                 .step = RunStep::Launch});
}

}  // namespace ww::driver
