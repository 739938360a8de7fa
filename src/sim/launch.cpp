// SPDX-License-Identifier: Apache-2.0
#include "sim/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "sim/check_launch.h"
#include "sim/checks/conflicts.h"
#include "sim/checks/race.h"
#include "sim/limits.h"
#include "sim/run/deadlock.h"
#include "sim/run/unit.h"
#include "sim/schedules.h"

namespace ww::sim {
namespace {

// Rounds of all warps between looks at the clock.
constexpr std::uint64_t kRounds = 64;
// Of ordered kernels, blocks that are alive at the same time.
constexpr std::size_t kMaxResident = kSms * 32;
// What malloc hands out of, as much as CUDA has unless told otherwise.
constexpr std::uint64_t kHeapBytes = std::uint64_t{8} << 20U;
// What CUDA gives a cooperative launch and cooperative groups read: its size, then the barrier.
constexpr std::array<std::uint32_t, 2> kGridWorkspace = {8, 0};

using Time = std::chrono::steady_clock;

unsigned host_threads(const RunOptions& options) {
  return options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

bool must_be_in_order(const RunContext& context) {
  return context.code->is_ordered || context.options->trace || context.options->stop_at;
}

// Whether a limit has ended it.
bool ran_out(const Unit& unit) {
  return unit.outcome == Outcome::TimeLimit || unit.outcome == Outcome::InstructionLimit;
}

ScheduleHints hints_of(const Unit& unit) {
  ScheduleHints hints{.warps_per_block = static_cast<std::uint32_t>(unit.ctas[0]->warps.size()),
                      .overtaken = unit.overtaken,
                      .steps = unit.executed};
  for (const auto& cta : unit.ctas)
    for (const auto& warp : cta->warps) hints.acts.push_back(warp->acts);
  return hints;
}

/// One run of a kernel: hands units to threads and puts their reports together in order.
class LaunchRun {
 public:
  LaunchRun(const RunContext& context, std::uint64_t units)
      : context_(context), all_units_(units), units_(sampled(units)), begin_(Time::now()) {
    WW_CHECK(context.program->ops.size() < BlockRaces::kMaxOps, "a program of {} ops",
             context.program->ops.size());
    report_.blocks = context.launch->grid.count();
    report_.blocks_left_out = (all_units_ - units_) * context.cluster.count();
    report_.warps_per_block =
        static_cast<std::uint32_t>((context.launch->block.count() + kLanes - 1) / kLanes);
    report_.matrix_mode =
        context.options->exact_matrix ? std::string(context.matrix.name) : "plain";
  }

  LaunchReport go() {
    if (bytes_per_unit() + context_.memory->bytes() * 2 > context_.options->limits.memory) {
      report_.outcome = Outcome::MemoryLimit;
      report_.reason = fmt::format(
          "a block takes {} bytes of the host's memory and allocations {}, more than the budget of "
          "{}",
          bytes_per_unit(), context_.memory->bytes() * 2, context_.options->limits.memory);
      return std::move(report_);
    }
    if (must_be_in_order(context_)) {
      in_order();
    } else {
      in_parallel();
    }
    races_.report(report_.findings, context_);
    if (!context_.options->checks.undefined_early) report_.findings.drop_explained();
    report_.seconds = std::chrono::duration<double>(Time::now() - begin_).count();
    return std::move(report_);
  }

 private:
  bool run_unit(Unit& unit);
  void leave_out_taken();
  void in_parallel();
  void in_order();
  void stop_if_due(Unit& unit) const;
  void stop_if_too_big(Unit& unit) const;
  [[nodiscard]] std::uint64_t between_units() const;
  void bound_report();
  void bound_residents(Unit& unit, std::size_t residents);
  void work(std::atomic<std::uint64_t>& next);
  void finish(Unit& unit, std::uint64_t turn);
  [[nodiscard]] std::uint64_t sampled(std::uint64_t units) const {
    const std::uint64_t wanted = context_.options->sample;
    return wanted == 0 || must_be_in_order(context_) ? units : std::min(units, wanted);
  }
  // The unit that runs in that turn: the first and the last of all, and some between them.
  [[nodiscard]] std::uint64_t unit_at(std::uint64_t turn) const {
    return units_ == all_units_ || turn == 0 ? turn : turn * (all_units_ - 1) / (units_ - 1);
  }
  [[nodiscard]] bool is_in_conflict() const {
    return context_.conflicts != nullptr && context_.conflicts->found();
  }
  [[nodiscard]] bool was_told_to_stop() const {
    const std::atomic<bool>* const stop = context_.options->stop;
    return stop != nullptr && stop->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool out_of_time() const {
    const double limit = context_.options->limits.seconds;
    return limit > 0 && std::chrono::duration<double>(Time::now() - begin_).count() > limit;
  }
  // Registers, local and shared memory, with what is tracked about them.
  [[nodiscard]] std::uint64_t bytes_per_unit() const {
    const std::uint64_t warp = 2 * (std::uint64_t{context_.code->frame_bytes} +
                                    std::uint64_t{context_.code->local_bytes} * kLanes);
    const std::uint64_t warps = report_.warps_per_block;
    return context_.cluster.count() * (2 * std::uint64_t{context_.shared_bytes} + warps * warp);
  }

  struct Done {
    Findings findings;
    Outcome outcome = Outcome::Finished;
    std::string reason, printed;
    std::uint64_t instructions = 0;

    [[nodiscard]] std::uint64_t bytes() const { return findings.bytes() + printed.size(); }
  };

  const RunContext& context_;
  std::uint64_t all_units_;
  std::uint64_t units_;  // that run
  Time::time_point begin_;
  LaunchReport report_;
  std::mutex mutex_;
  std::map<std::uint64_t, Done> waiting_;  // finished before an earlier one
  std::uint64_t merged_ = 0;
  std::uint64_t waiting_bytes_ = 0;   // of findings and text in `waiting_`
  std::uint64_t resident_bytes_ = 0;  // piled up by units that are alive at the same time
  std::atomic<bool> stopped_ = false;
  BlockRaces races_;
};

// Runs a unit to its end; false: another unit has stopped the run.
bool LaunchRun::run_unit(Unit& unit) {
  while (!unit.run(kRounds)) {
    if (stopped_.load(std::memory_order_relaxed) || is_in_conflict()) return false;
    stop_if_due(unit);
    stop_if_too_big(unit);
  }
  return true;
}

void LaunchRun::stop_if_due(Unit& unit) const {
  if (was_told_to_stop()) unit.stop(Outcome::Stopped, "stopped");
  if (out_of_time()) unit.stop(Outcome::TimeLimit, "the budget of time is used up");
}

// What is kept of units for those behind them.
std::uint64_t LaunchRun::between_units() const {
  std::uint64_t bytes = races_.bytes();
  if (context_.grid != nullptr)
    bytes += context_.grid->races.bytes() + context_.grid->writers.bytes() +
             context_.grid->locations.bytes();
  return bytes;
}

void LaunchRun::stop_if_too_big(Unit& unit) const {
  const std::uint64_t races = (unit.races != nullptr ? unit.races->bytes() : 0) + between_units();
  const std::uint64_t fences = unit.fences != nullptr ? unit.fences->bytes() : 0;
  if (races + fences <= context_.options->limits.memory) return;
  const bool is_races = races >= fences;
  unit.stop(Outcome::MemoryLimit,
            fmt::format("tracking {}s takes {} bytes, more than the budget; try `--check all,-{}`",
                        is_races ? "race" : "fence", races + fences, is_races ? "race" : "fence"));
}

// Puts finished units into the report in their order, so that it does not depend on who was first.
void LaunchRun::finish(Unit& unit, std::uint64_t turn) {
  if (unit.races != nullptr) unit.races->hand_over(races_, unit.index);
  const std::lock_guard lock(mutex_);
  if (unit.recorder != nullptr) report_.recording = unit.recorder->take();
  if (unit.index == 0) report_.hints = hints_of(unit);
  Done& done = waiting_[turn];
  done.findings = unit.findings;
  done.outcome = unit.outcome;
  done.reason = unit.reason;
  done.printed = std::move(unit.printed);
  done.instructions = unit.executed;
  waiting_bytes_ += done.bytes();
  while (!waiting_.empty() && waiting_.begin()->first == merged_ && !stopped_) {
    Done& next = waiting_.begin()->second;
    ++merged_;
    waiting_bytes_ -= next.bytes();
    report_.findings.merge(next.findings);
    report_.printed += next.printed;
    report_.counters.instructions += next.instructions;
    report_.outcome = next.outcome;
    report_.reason = std::move(next.reason);
    if (report_.counters.instructions > context_.options->limits.instructions &&
        report_.outcome == Outcome::Finished) {
      report_.outcome = Outcome::InstructionLimit;
      report_.reason = "the budget of instructions is used up";
    }
    // A unit that is done at its first turn has not looked at the clock.
    if (report_.outcome == Outcome::Finished && merged_ < units_ && out_of_time()) {
      report_.outcome = Outcome::TimeLimit;
      report_.reason = "the budget of time is used up";
    }
    waiting_.erase(waiting_.begin());
    bound_report();
    const bool is_refused =
        context_.options->progress && !context_.options->progress(merged_, units_);
    if (is_refused || was_told_to_stop()) {
      report_.outcome = Outcome::Stopped;
      report_.reason = "stopped";
    }
    if (report_.outcome != Outcome::Finished) stopped_ = true;
  }
  // What waits for an earlier unit counts, too. On several threads that depends on who was first;
  // the run is then done again, unit after unit.
  if (!stopped_) bound_report();
  if (report_.outcome != Outcome::Finished) stopped_ = true;
}

// Clusters whose work others have taken over never run: they leave nothing.
void LaunchRun::leave_out_taken() {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t unit : std::exchange(context_.queue->taken, {})) waiting_[unit] = {};
}

// What units have left behind for the report.
void LaunchRun::bound_report() {
  if (report_.outcome == Outcome::Finished && between_units() > context_.options->limits.memory) {
    report_.outcome = Outcome::MemoryLimit;
    report_.reason =
        fmt::format("tracking races takes {} bytes, more than the budget; try `--check all,-race`",
                    between_units());
  }
  const std::uint64_t bytes = report_.findings.bytes() + report_.printed.size() + waiting_bytes_;
  if (report_.outcome != Outcome::Finished || bytes <= context_.options->limits.memory) return;
  report_.outcome = Outcome::MemoryLimit;
  report_.reason =
      fmt::format("what was found and printed takes {} bytes, more than the budget of {}", bytes,
                  context_.options->limits.memory);
}

// What the units that are alive at the same time hold.
void LaunchRun::bound_residents(Unit& unit, std::size_t residents) {
  const std::uint64_t now = unit.outcome == Outcome::Finished ? unit.piled_bytes() : 0;
  resident_bytes_ = resident_bytes_ - unit.counted_bytes + now;
  unit.counted_bytes = now;
  const std::uint64_t bytes = resident_bytes_ + residents * bytes_per_unit();
  if (bytes <= context_.options->limits.memory) return;
  unit.stop(Outcome::MemoryLimit,
            fmt::format("{} blocks that wait for each other take {} bytes, more than the budget of "
                        "{}",
                        residents, bytes, context_.options->limits.memory));
}

void LaunchRun::work(std::atomic<std::uint64_t>& next) {
  Unit unit(context_);
  for (std::uint64_t i = next++; i < units_ && !stopped_ && !is_in_conflict(); i = next++) {
    unit.start(unit_at(i));
    unit.budget = context_.options->limits.instructions;
    if (!run_unit(unit)) break;
    Unit* const alone = &unit;
    if (ran_out(unit)) report_hang({&alone, 1}, 0);
    finish(unit, i);
  }
  const std::lock_guard lock(mutex_);
  unit.counters.instructions = 0;  // counted unit by unit
  report_.counters.merge(unit.counters);
}

void LaunchRun::in_parallel() {
  // One at a time, unless a watch is kept on what they do to each other.
  unsigned threads = context_.conflicts == nullptr ? 1 : host_threads(*context_.options);
  threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, units_));
  const std::uint64_t room = context_.options->limits.memory - context_.memory->bytes() * 2;
  threads = static_cast<unsigned>(std::min<std::uint64_t>(
      threads, std::max<std::uint64_t>(1, room / std::max<std::uint64_t>(1, bytes_per_unit()))));
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&] { work(next); });
  work(next);
}

// One block after the other. A block that does not end in its turn (it may wait for another one) gives
// way, and one more block is let in.
void LaunchRun::in_order() {
  std::deque<std::unique_ptr<Unit>> resident;
  std::vector<std::unique_ptr<Unit>> spare;
  ClusterQueue& queue = *context_.queue;
  queue = {.next = 0, .count = units_, .taken = {}};
  std::uint64_t budget = context_.options->limits.instructions;
  Counters counters;
  while ((queue.next < units_ || !resident.empty()) && !stopped_) {
    if (queue.next < units_ && resident.size() < kMaxResident) {
      if (spare.empty()) spare.push_back(std::make_unique<Unit>(context_));
      resident.push_back(std::move(spare.back()));
      spare.pop_back();
      resident.back()->start(queue.next++);
    }
    for (std::size_t turns = resident.size(); turns > 0 && !stopped_; --turns) {
      std::unique_ptr<Unit> unit = std::move(resident.front());
      resident.pop_front();
      unit->budget = budget;
      const bool done = unit->run(kRounds);
      budget = unit->budget;
      leave_out_taken();
      if (!done) stop_if_due(*unit);
      if (!done) stop_if_too_big(*unit);
      if (!done) bound_residents(*unit, resident.size() + 1);
      if (!done && unit->outcome == Outcome::Finished) {
        resident.push_back(std::move(unit));
        continue;
      }
      resident_bytes_ -= std::exchange(unit->counted_bytes, 0);
      if (ran_out(*unit)) {
        std::vector<Unit*> all = {unit.get()};
        for (const auto& other : resident) all.push_back(other.get());
        report_hang(all, all.size() < kMaxResident ? units_ - queue.next : 0);
      }
      finish(*unit, unit->index);
      unit->counters.instructions = 0;
      counters.merge(unit->counters);
      unit->counters.engine_steps = 0;
      std::fill(unit->counters.ops.begin(), unit->counters.ops.end(), OpCount{});
      if (unit->outcome != Outcome::Finished) {
        // Units finish in any order here; the run ends with this one.
        const std::lock_guard lock(mutex_);
        report_.outcome = unit->outcome;
        report_.reason = unit->reason;
        if (unit->index >= merged_) report_.findings.merge(unit->findings);
        stopped_ = true;
      }
      spare.push_back(std::move(unit));
    }
  }
  report_.counters.merge(counters);
}

// Whether the end of a run leaves memory as it is by the order of units alone: those behind the one
// that ended it must not have begun.
bool ends_early(Outcome outcome) {
  return outcome == Outcome::Trapped || outcome == Outcome::Deadlocked ||
         outcome == Outcome::InstructionLimit || outcome == Outcome::MemoryLimit;
}

// On several threads while that makes no difference; else once more, one unit after the other.
LaunchReport run_units(RunContext& context, std::uint64_t units) {
  const std::uint64_t memory = context.memory->bytes() * 2 + Conflicts::bytes_for(*context.memory);
  const bool is_alone = units == 1 || units > Conflicts::kMaxUnits ||
                        host_threads(*context.options) == 1 || must_be_in_order(context) ||
                        memory > context.options->limits.memory;
  if (is_alone) return LaunchRun(context, units).go();
  const auto begin = Time::now();
  Conflicts conflicts(*context.memory);
  context.conflicts = &conflicts;
  LaunchReport report = LaunchRun(context, units).go();
  context.conflicts = nullptr;
  if (!conflicts.found() && !ends_early(report.outcome)) return report;
  if (report.outcome == Outcome::Stopped || report.outcome == Outcome::TimeLimit) return report;
  conflicts.restore();
  conflicts.stop_watching();
  LaunchReport again = LaunchRun(context, units).go();
  again.seconds = std::chrono::duration<double>(Time::now() - begin).count();
  return again;
}

}  // namespace

namespace {

// The allocations that a launch awaits, marked while it runs.
class AwaitedRegions {
 public:
  AwaitedRegions(const GlobalMemory& memory, const std::vector<std::uint64_t>& addresses) {
    for (const std::uint64_t address : addresses)
      if (Region* region = memory.find(address); region != nullptr) regions_.push_back(region);
    mark(true);
  }
  ~AwaitedRegions() { mark(false); }
  AwaitedRegions(const AwaitedRegions&) = delete;
  AwaitedRegions& operator=(const AwaitedRegions&) = delete;

 private:
  void mark(bool is_awaited) {
    for (Region* region : regions_) region->is_awaited = is_awaited;
  }
  std::vector<Region*> regions_;
};

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Finished:
      return "finished";
    case Outcome::Trapped:
      return "trapped";
    case Outcome::Deadlocked:
      return "deadlocked";
    case Outcome::InstructionLimit:
      return "instruction limit";
    case Outcome::TimeLimit:
      return "time limit";
    case Outcome::MemoryLimit:
      return "memory limit";
    case Outcome::Stopped:
      return "stopped";
  }
  return "";
}

Device::Device(std::shared_ptr<const Program> program) : program_(std::move(program)) {
  for (const GlobalVariable& variable : program_->variables) {
    Region& region = memory_.allocate(variable.size, variable.align,
                                      fmt::format("variable `{}`", variable.name), variable.space);
    GlobalMemory::write(region, variable.bytes);
  }
  if (program_->uses_heap) {
    Region& region = memory_.allocate(kHeapBytes, 256, "the device's heap");
    heap_ = std::make_unique<Heap>(region);
    region.heap = heap_.get();
  }
  if (program_->has_grid_barrier)
    grid_workspace_ = &memory_.allocate(sizeof kGridWorkspace, 256, "the grid barrier");
}

Result<LaunchReport> Device::run(const Launch& launch, const RunOptions& options) {
  const auto once = [&](const RunOptions& each) { return run_once(launch, each); };
  const bool is_repeatable = launch.history == nullptr && heap_ == nullptr;
  return is_repeatable ? run_in_schedules(memory_, *launch.kernel, options, once) : once(options);
}

Result<LaunchReport> Device::run_once(const Launch& given, const RunOptions& wanted) {
  const Code& code = *given.kernel;
  Launch launch = given;
  RunOptions options = wanted;
  if (launch.history != nullptr) options.threads = 1;  // which has no locks
  if (code.counts_clusters && code.required_cluster) {
    launch.grid.x *= code.required_cluster->x;
    launch.grid.y *= code.required_cluster->y;
    launch.grid.z *= code.required_cluster->z;
  }
  RunContext context;
  context.heap = heap_.get();
  context.program = program_.get();
  context.code = &code;
  context.launch = &launch;
  context.options = &options;
  context.memory = &memory_;
  context.is_explicit_cluster = launch.cluster.has_value() || code.required_cluster.has_value();
  context.cluster = launch.cluster.value_or(code.required_cluster.value_or(Dim3{}));
  const bool uses_dynamic = launch.dynamic_shared != 0;
  const std::uint64_t shared = uses_dynamic
                                   ? std::uint64_t{program_->static_shared} + launch.dynamic_shared
                                   : std::max(code.static_shared, program_->module_shared);
  context.shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(shared, 1U << 30U));
  context.tracks = options.checks.has(Check::Uninit) || options.checks.has(Check::Async);
  context.watches = context.tracks || options.count || options.trace || options.stop_at ||
                    options.record || options.checks.has(Check::Numbers) ||
                    (options.checks.has(Check::Fence) && !program_->settled_reads.empty());
  context.matrix = num::mode_of(target::info(program_->target.arch).number);
  if (options.record) context.recorded = unit_of(context, options.record->block);
  GridOrder grid;
  if (code.is_ordered) context.grid = &grid;
  ClusterQueue queue;
  context.queue = &queue;
  WW_TRY_VOID(check_launch(*program_, launch, context.cluster, context.shared_bytes));
  if (grid_workspace_ != nullptr) {
    WW_TRY_VOID(check_resident(*program_, launch, context.shared_bytes));
    GlobalMemory::write(*grid_workspace_, std::as_bytes(std::span(kGridWorkspace)));
    context.grid_workspace = grid_workspace_->base;
  }

  Region params{.base = kParamWindow,
                .size = launch.params.size(),
                .space = Space::Param,
                .writable = false,
                .name = "the parameters"};
  std::vector<std::byte> bytes = launch.params;
  bytes.resize(bytes.size() + 16);
  params.data = bytes.data();
  context.params = &params;
  const AwaitedRegions awaited(memory_, launch.awaits);
  return run_units(context, launch.grid.count() / context.cluster.count());
}

}  // namespace ww::sim
