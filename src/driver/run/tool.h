// SPDX-License-Identifier: Apache-2.0
// `warpwright run` as a library: a source file and arguments in, a run of its kernel, and what came
// out. docs/guide/running.md describes the notations, docs/reference/cli.md the JSON.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/args/kernel_args.h"
#include "driver/build.h"
#include "driver/explain.h"
#include "driver/report_parts.h"
#include "driver/run/device_run.h"
#include "driver/timeline/timeline.h"
#include "driver/tune/estimate.h"
#include "json/json.h"
#include "runtime/assembler.h"
#include "runtime/cuda_calls.h"
#include "runtime/device.h"
#include "sim/launch.h"

namespace ww::driver {

/// The arrays of a run with what became of its expectations. A run that ends with the same arrays
/// takes them over: the product of two large matrices takes a host longer than all the rest.
struct CheckedArrays {
  std::vector<std::pair<std::string, Array>> arrays = {};  // with their names, after the run
  std::vector<ExpectReport> expectations = {};
  std::size_t reuses = 0;
};

/// What programs that show a run of the virtual GPU keep of it, beside the report.
struct RunCapture {
  // What is asked for
  std::uint64_t block = 0;  // whose cluster is recorded
  bool keeps_states = false;
  // What came out, where the kernel ran
  std::shared_ptr<const sim::Program> program = {};
  sim::LaunchReport run = {};  // with its recording, counters and findings
  TimelineSource source = {};  // for make_timeline; `program` keeps what it points to
  std::vector<std::uint64_t> arguments = {};  // the bits of each: of an array its address
};

struct RunRequest {
  SourceRequest source;
  DeviceKind device = DeviceKind::Auto;
  ArgRequest arguments = {};
  std::string checks = {};             // of the virtual GPU; empty: all
  std::string schedule = {};           // driver/sim/options.h; empty: rr, or step for a timeline
  sim::ScheduleBudget schedules = {};  // different ones, of which `schedule` is none
  std::string limits = {};             // driver/sim/options.h; empty: those of the device
  TimelineRequest timeline = {};       // of the virtual GPU
  int timed_launches = 0;              // 0: no times are taken
  bool counts_work = false;            // on the virtual GPU: RunReport::work
  std::string ptxas = {};              // asked for RunReport::registers and others; empty: not
  const Result<runtime::CudaCalls>* driver = nullptr;  // loaded before; none: load it
  CheckedArrays* checked = nullptr;                    // of runs with the same `arguments.expects`
  /// Blocks done and blocks in all, now and then; returns whether to go on.
  std::function<bool(std::uint64_t, std::uint64_t)> progress = {};
  const std::atomic<bool>* stop = nullptr;  // ends the virtual GPU's work soon after it is set
  RunCapture* capture = nullptr;            // of the virtual GPU
};

/// Something that the run came upon and that has no meaning.
struct RunFinding {
  /// Who was there: a place in the source file and, for lowered programs, the line of PTX.
  struct Place {
    std::size_t line = 0, column = 0;  // 0: nowhere
    std::string source = {};           // that line
    std::string file = {};             // where it is not the report's own, or that is not at hand
    std::string instruction = {};
    std::size_t ptx_line = 0;  // that it stands on
  };
  std::string check;  // "uninit", "race" …
  std::string text;
  std::uint64_t count = 1;
  std::size_t cause = 0;  // findings of one cause have one number
  Place at = {};
  std::string note = {};  // the other party, the origin of an undefined value, or empty
  Place note_at = {};
  std::uint64_t block = 0, other_block = 0;   // of both parties, as numbers
  std::optional<std::uint64_t> address = {};  // on the virtual GPU, where there is one
  std::optional<std::uint64_t> moment = {};  // of RunCapture's history, at which it was first found
};

/// Per-SM resources of a kernel; empty when unknown.
struct KernelSize {
  std::optional<std::int64_t> shared = {};     // bytes of a block, static and dynamic
  std::optional<std::int64_t> registers = {};  // of a thread
  std::optional<std::int64_t> local = {};      // bytes of a thread: spilled registers, arrays
  std::optional<std::int64_t> spills = {};     // bytes of spill stores and loads
  std::vector<runtime::PtxasRemark> slow = {};
};

struct RunReport {
  std::string path;
  std::string kernel;
  DeviceKind device = DeviceKind::Sim;
  std::string device_name;               // "NVIDIA H200 (sm_90), driver 13.0"
  std::string remark;                    // why the GPU that is there was not taken; or empty
  std::optional<target::Target> target;  // none: not lowered
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> cluster{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t dynamic_shared = 0;
  sim::Outcome outcome = sim::Outcome::Finished;
  std::string outcome_text = "finished";  // with its reason
  std::uint64_t steps = 0;  // eval: statements times threads; sim: warp instructions; cuda: 0
  std::string arithmetic;   // of tensor cores, on the virtual GPU, if it was used
  std::vector<std::string> checks;  // that were made
  std::vector<PrimitiveLine> primitives;
  std::vector<RunFinding> findings;
  std::uint64_t findings_left_out = 0;
  std::vector<BufferReport> buffers;
  std::vector<ExpectReport> expectations;
  std::optional<runtime::Timing> timing;
  std::optional<SimWork> work;  // when it was asked for
  KernelSize size;
  std::string printed;
  sim::SchedulesReport schedules;  // on the virtual GPU
  std::string timeline;            // the file that has it; empty: none was asked for

  /// It finished, nothing was found and all expectations hold.
  [[nodiscard]] bool good() const;
};

/// What a run consists of.
enum class RunStep : std::uint8_t { Options, Program, Arguments, Device, Lowering, Launch, Report };

/// A report, or errors that the user can do something about, rendered; both when the kernel ran and
/// a file could not be written or an expectation makes no sense for the shapes.
struct RunOutcome {
  std::optional<RunReport> report{};
  std::string errors{};
  RunStep step = RunStep::Options;  // the last one that was begun
  bool hangs = false;               // the kernel still runs on the GPU, and nothing else can
};
RunOutcome run_kernel(const RunRequest& request);

/// For people, and for programs.
std::string run_text(const RunReport& report);
Json run_json(const RunReport& report);

}  // namespace ww::driver
