// SPDX-License-Identifier: Apache-2.0
// `warpwright sim` as a library: a PTX file and arguments in, a run on the virtual GPU, and all
// that was seen out. docs/reference/sim.md describes the notations, the report and its JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/args/array.h"
#include "driver/report_parts.h"
#include "driver/sass_advice.h"
#include "driver/timeline/timeline.h"
#include "json/json.h"
#include "runtime/cuda_calls.h"
#include "sim/launch.h"

namespace ww::driver {

/// Where a kernel runs: on the virtual GPU, on a real one, or on both, whose results are compared.
enum class WhichGpu : std::uint8_t { Virtual, Gpu, Both };

/// What is asked for, as text; driver/sim/options.h and driver/sim/args.h say what each may be.
struct SimRequest {
  std::string path;
  std::string kernel = {};  // empty: the only one there is
  std::string grid = {}, block = {}, cluster = {};
  std::uint32_t shared_bytes = 0;      // dynamic
  std::vector<std::string> args = {};  // PARAMETER=VALUE
  std::vector<std::string> outs = {};  // PARAMETER=FILE
  std::string awaits = {};             // PARAMETER,... that an earlier grid still writes
  /// Launches in order (driver/sim/options.h), of arguments that `args` name; then there are no
  /// kernel, sizes and `awaits` of one.
  std::vector<std::string> launches = {};
  std::vector<std::string> expects = {};  // driver/expect/expect.h
  std::string checks = "all";
  std::string schedule = {};           // empty: `rr`, or `step` for a timeline
  sim::ScheduleBudget schedules = {};  // different ones, of which `schedule` is none
  WhichGpu device = WhichGpu::Virtual;
  const Result<runtime::CudaCalls>* driver = nullptr;  // null: that of the machine
  std::string limits = {};
  std::string trace = {};
  std::string stop_at = {};
  TimelineRequest timeline = {};
  unsigned threads = 0;
  bool count = false;
  std::optional<runtime::SassTools> sass = {};  // read the machine code with these
  bool exact = true;                            // tensor cores' own rounding
  /// Lanes of a warp run in step, as before sm_70; none: as on the file's target.
  std::optional<bool> in_step = {};
  bool late_tensor_loads = false;  // sim::RunOptions
  /// Blocks done and blocks in all, now and then; returns whether to go on.
  std::function<bool(std::uint64_t, std::uint64_t)> progress = {};

  [[nodiscard]] std::string_view schedule_name() const {
    if (!schedule.empty()) return schedule;
    return timeline.is_wanted() ? "step" : "rr";
  }
  /// Whether it asks for something that only the virtual GPU shows.
  [[nodiscard]] bool watches() const {
    return !trace.empty() || !stop_at.empty() || count || timeline.is_wanted();
  }
};

/// What a run leaves, of one launch or several.
struct SimResults {
  std::vector<std::string> notes{};  // a version or target read as another one
  std::vector<BufferReport> buffers{};
  std::vector<ExpectReport> expectations{};
  std::string shown{};               // trace and breaks, whole lines
  std::uint64_t shown_left_out = 0;  // lines of them beyond kMaxShownBytes
};

struct SimReport : SimResults {
  std::shared_ptr<const sim::Program> program{};
  const sim::Code* kernel = nullptr;
  sim::Launch launch{};
  sim::CheckSet checks{};
  sim::Schedule schedule{};
  bool in_step = false;  // the lanes of a warp
  bool late_tensor_loads = false;
  /// Of several launches: its number from 1 on, how many there are, and whether it may start before
  /// those before it have ended.
  std::size_t number = 0, count = 0;
  bool is_programmatic = false;
  bool counted = false;
  bool simulated = true;      // false: on a GPU alone, and of `run` only the outcome says something
  std::string gpu{};          // that it ran on; empty: none
  std::string gpu_differs{};  // where its results are not those of the virtual GPU; empty: nowhere
  std::optional<SassAdvice> sass{};  // if it was asked for
  sim::LaunchReport run{};
  std::vector<Array> results{};  // of the buffers
  std::string timeline{};        // the file that has it; empty: none was asked for

  /// It finished, nothing was found, nothing differs, all expectations hold that could be judged.
  [[nodiscard]] bool good() const;
};

/// Several launches.
struct SequenceReport : SimResults {
  std::vector<SimReport> launches{};  // that ran, the last one perhaps not to its end

  /// All of them finished, nothing was found, all expectations hold.
  [[nodiscard]] bool good() const;
};

/// No more of a trace is kept, and no more than the budget of memory.
inline constexpr std::size_t kMaxShownBytes = std::size_t{64} << 20U;

/// A report, or errors that the user can do something about, rendered; both when the kernel ran and
/// a file could not be written or an expectation makes no sense for the shapes.
struct SimOutcome {
  std::optional<SimReport> report{};
  std::optional<SequenceReport> sequence{};  // instead, of several launches
  std::string errors{};
};
SimOutcome run_sim(const SimRequest& request);

/// For people: what ran, what was found with its lines of PTX, buffers, expectations, counters.
std::string sim_text(const SimReport& report);
std::string sim_text(const SequenceReport& report);
/// For programs.
Json sim_json(const SimReport& report);
Json sim_json(const SequenceReport& report);

}  // namespace ww::driver
