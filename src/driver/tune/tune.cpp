// SPDX-License-Identifier: Apache-2.0
#include "driver/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "base/file_io.h"
#include "base/source.h"
#include "driver/args/file_plan.h"
#include "driver/report_json.h"
#include "driver/tune/trials.h"
#include "runtime/cuda_device.h"
#include "runtime/sim_device.h"

namespace ww::driver {
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
  switch (stage) {
    case DropStage::Compile:
      return "compile";
    case DropStage::Arguments:
      return "arguments";
    case DropStage::Device:
      return "device";
    case DropStage::Run:
      return "run";
    case DropStage::Check:
      return "check";
    case DropStage::Expect:
      return "expect";
  }
  return "";
}

TuneOutcome tune(const TuneRequest& request) { return Tuning(request).go(); }

std::optional<std::size_t> tune_size(const TuneRequest& request, std::string& errors) {
  const auto space = TuneSpace::read(
      {.kernel = request.source.kernel, .spaces = request.spaces, .wheres = request.wheres},
      errors);
  return space ? std::optional(space->combinations().size()) : std::nullopt;
}

}  // namespace ww::driver
