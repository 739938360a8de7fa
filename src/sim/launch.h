// SPDX-License-Identifier: Apache-2.0
// Running a kernel: the launch, the options of a run, and its report.
//
//     LoadResult loaded = load(text, "k.ptx");
//     Device device(loaded.program);
//     Region& a = device.memory().allocate(bytes, 16, "parameter 0");
//     Launch launch{.kernel = loaded.program->find_kernel("k"), .grid = {4}, .block = {128}};
//     launch.params = …;                      // the bytes of the parameters, as Param::offset says
//     LaunchReport report = device.run(launch, {});
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/checks/findings.h"
#include "sim/memory/heap.h"
#include "sim/memory/memory.h"
#include "sim/program.h"
#include "sim/run/counters.h"
#include "sim/schedule.h"
#include "sim/timeline/recording.h"

namespace ww::sim {

class GridHistory;

struct Launch {
  const Code* kernel = nullptr;
  Dim3 grid{}, block{};
  std::optional<Dim3> cluster{};  // none: what the kernel says, or 1
  std::uint32_t dynamic_shared = 0;
  std::vector<std::byte> params{};
  /// Allocations that an earlier grid may still write until `griddepcontrol.wait`, by an address in each.
  std::vector<std::uint64_t> awaits{};
  /// One of several launches, the latest that the history has begun; null: it runs alone.
  GridHistory* history = nullptr;
};

struct Limits {
  std::uint64_t instructions = 20'000'000'000;  // warp instructions of the whole launch
  double seconds = 0;                           // 0: none
  std::uint64_t memory = std::uint64_t{8}
                         << 30U;  // bytes of simulated memory and what describes it
};

/// Which warp's instructions are printed.
struct TraceRequest {
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  bool all_warps = false;
  std::function<void(std::string_view)> write;  // a line at a time, with its line break
};

/// Where the state is shown: at a line of the text, before it executes, once per warp that comes by
/// until `most` times.
struct BreakRequest {
  std::uint32_t line = 0;
  std::uint64_t most = 1;
  std::function<void(std::string_view)> write;
};

/// Which cluster is recorded, step by step: that of this block.
struct RecordRequest {
  std::uint64_t block = 0;
  bool keeps_states = false;  // Recording::history
};

/// In how many schedules a launch runs (schedules.h), and how many of its instructions' worth of work
/// those after the first may cost.
struct ScheduleBudget {
  unsigned most = 1;
  std::uint64_t work = ~std::uint64_t{0};

  /// Whether they run by themselves, or somebody has asked for several.
  [[nodiscard]] bool is_bounded() const { return work != ScheduleBudget{}.work; }
  [[nodiscard]] bool is_asked_for() const { return most > 1 && !is_bounded(); }
};
/// About 0.3 s of one core. It counts work, not time: a launch has the same report on every host.
inline constexpr ScheduleBudget kUsualSchedules{.most = 12, .work = 1'500'000};

/// What messages about hangs call things, for programs made from a source that has names and lines of
/// its own. An empty text, or none of these: as the PTX has it.
struct LaunchNames {
  std::function<std::string(std::uint64_t)> mbarrier{};  // by offset in shared memory: "full[0]"
  std::function<std::string(std::uint32_t)> role{};      // of a warp of a block: "producer"
  bool has_lines = false;                                // `.loc` has those that a user knows
};

struct RunOptions {
  CheckSet checks = CheckSet::all();
  Schedule schedule{};
  ScheduleBudget schedules{};
  Limits limits{};
  /// Lanes of a warp run in step, and do not race with each other. None: as on the program's target,
  /// before sm_70.
  std::optional<bool> in_step{};
  /// Registers of tcgen05.ld hold their old values until tcgen05.wait::ld; otherwise they have the new
  /// ones at once, as on a GPU.
  bool late_tensor_loads = false;
  bool exact_matrix = true;  // tensor cores' own rounding; otherwise plain sums
  /// Threads of a unit that write what is there already do not race: compilers let several lanes
  /// store copies of one value.
  bool allows_rewrites = false;
  bool count = false;    // counters per line
  unsigned threads = 0;  // of the host; 0: one per core
  std::optional<TraceRequest> trace{};
  std::optional<BreakRequest> stop_at{};
  std::optional<RecordRequest> record{};
  /// How many blocks (with clusters: clusters) run, spread over the grid; 0: all. A kernel whose blocks
  /// wait for each other always runs whole.
  std::uint64_t sample = 0;
  LaunchNames names{};
  /// Called now and then with blocks done and blocks in all; returns whether to go on.
  std::function<bool(std::uint64_t, std::uint64_t)> progress{};
  /// Ends the run soon after it is set, from any thread.
  const std::atomic<bool>* stop = nullptr;
};

enum class Outcome : std::uint8_t {
  Finished,
  Trapped,  // `trap`, an assertion, an exhausted stack
  Deadlocked,
  InstructionLimit,
  TimeLimit,
  MemoryLimit,
  Stopped,  // `progress` or `stop` said so
};
std::string_view name_of(Outcome outcome);

/// What a run shows of the schedules in which another one may go wrong.
struct ScheduleHints {
  std::uint32_t warps_per_block = 0;
  std::vector<std::uint64_t>
      acts{};  // by warp of the first unit: a sketch of what it does to others
  std::vector<std::uint32_t> overtaken{};  // warps of it that others may overtake at a barrier
  std::uint64_t steps = 0;                 // instructions of the unit
};

/// The schedules in which a launch ran. Where `problem` is not empty, the last one went wrong, and the
/// rest of the report, and memory, are of it.
struct SchedulesReport {
  std::vector<Schedule> run{};
  std::string problem{};           // in words
  std::string first_difference{};  // of a kernel whose atomics may give other values: no problem
};

struct LaunchReport {
  Outcome outcome = Outcome::Finished;
  std::string reason;  // in words, when not Finished
  Findings findings;
  Counters counters;        // per op when asked for; totals always
  std::string matrix_mode;  // "hopper", and whether a device confirmed it; "plain"
  std::uint64_t blocks = 0;
  std::uint64_t blocks_left_out = 0;  // by RunOptions::sample
  std::uint32_t warps_per_block = 0;
  std::string printed;  // what the kernel printed
  double seconds = 0;
  std::optional<Recording> recording;  // if it was asked for, and its cluster ran
  ScheduleHints hints;
  SchedulesReport schedules;

  [[nodiscard]] bool ok() const {
    return outcome == Outcome::Finished && findings.empty() && schedules.problem.empty();
  }
};

/// A program with its variables in its own memory.
class Device {
 public:
  explicit Device(std::shared_ptr<const Program> program);

  [[nodiscard]] GlobalMemory& memory() { return memory_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  /// Refuses launches that no GPU of the program's architecture takes: sizes, clusters, shared
  /// memory, `.reqntid`, wrong number of parameter bytes.
  Result<LaunchReport> run(const Launch& launch, const RunOptions& options);

 private:
  Result<LaunchReport> run_once(const Launch& launch, const RunOptions& options);

  std::shared_ptr<const Program> program_;
  GlobalMemory memory_;
  std::unique_ptr<Heap> heap_;        // if the program calls malloc
  Region* grid_workspace_ = nullptr;  // if it has a grid barrier
};

}  // namespace ww::sim
