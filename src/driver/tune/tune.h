// SPDX-License-Identifier: Apache-2.0
// `warpwright tune` as a library: a kernel expression with gaps and values for them in; every
// combination compiled, run and compared with what is expected; the right ones ranked by their time
// on a GPU, or by an estimate (driver/tune/estimate.h) on the virtual one. docs/guide/tuning.md
// describes the notation, the order and the JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/run/tool.h"
#include "driver/tune/space.h"
#include "json/json.h"
#include "runtime/assembler.h"

namespace ww::driver {

struct TuneRequest {
  SourceRequest source;                  // the kernel has gaps
  std::vector<std::string> spaces = {};  // as SpaceRequest has them
  std::vector<std::string> wheres = {};
  DeviceKind device = DeviceKind::Auto;           // not Eval
  ArgRequest arguments = {};                      // nothing is written: `outs` is empty
  std::optional<int> repetitions = {};            // timed launches on a GPU; none: 20
  std::optional<runtime::ToolSearch> ptxas = {};  // ask it for registers
  std::string output = {};                        // a file for the best one; empty: none
  /// Combinations to try, by their places in the space; none: all.
  std::optional<std::vector<std::size_t>> numbers = {};
  /// All combinations, tried elsewhere (driver/tune/tune.h): nothing runs here.
  std::optional<std::vector<std::string>> trials = {};
  const Result<runtime::CudaCalls>* driver = nullptr;  // loaded before; none: load it
  /// Combinations done and in all; returns whether to go on.
  std::function<bool(std::uint64_t, std::uint64_t)> progress = {};
};

/// A combination that is right.
struct TuneEntry {
  Combination choice = {};
  std::string kernel = {};  // the expression with its values
  std::optional<target::Target> target = {};
  std::optional<runtime::Timing> timing = {};  // on a GPU
  std::optional<SimWork> work = {};            // on the virtual one, and
  Estimate estimate = {};
  KernelSize size = {};
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};

  /// Less is better: seconds, or cycles of the estimate.
  [[nodiscard]] double cost() const { return timing ? timing->median : estimate.cycles; }
};

/// Why a combination is not among them.
enum class DropStage : std::uint8_t { Compile, Arguments, Device, Run, Check, Expect };
std::string_view name_of(DropStage stage);  // "compile", "arguments" …

struct TuneDrop {
  Combination choice = {};
  std::string kernel = {};
  DropStage stage = DropStage::Compile;
  std::string reason = {};   // one line
  std::string details = {};  // all that was said
};

struct TuneReport {
  std::string path;
  std::string kernel;                   // with its gaps
  DeviceKind device = DeviceKind::Sim;  // or Cuda
  std::string device_name;
  std::string remark;  // why the GPU that is there was not taken; or empty
  std::vector<std::string> expects;
  int repetitions = 0;
  std::vector<SpaceAxis> axes;
  std::size_t left_out = 0;        // by `--where`
  std::vector<TuneEntry> entries;  // the best first; equal ones in the order of the space
  std::vector<TuneDrop> drops;     // in the order of the space
  std::string output;              // the file that the best one was written to; or empty

  [[nodiscard]] std::size_t tried() const { return entries.size() + drops.size(); }
};

/// A report, or errors that the user can do something about, rendered. Both when the best one could
/// not be written.
struct TuneOutcome {
  std::optional<TuneReport> report{};
  std::string errors{};
};
TuneOutcome tune(const TuneRequest& request);

/// How many combinations the space of a request has; nothing, with the reason in `errors`, for one
/// that cannot be read.
std::optional<std::size_t> tune_size(const TuneRequest& request, std::string& errors);

struct TuneTextOptions {
  std::size_t top = 10;     // entries to show
  bool is_verbose = false;  // each drop with all that was said
};
/// For people, and for programs. `best_json` wants an entry: it is what `output` gets.
std::string tune_text(const TuneReport& report, const TuneTextOptions& options);
Json tune_json(const TuneReport& report);
Json best_json(const TuneReport& report);

// --- trials --------------------------------------------------------------------------------------
//
// Combinations that were tried elsewhere: by other processes, or on other machines. Each gets a part
// of the space (TuneRequest::numbers) and saves its report as text; one puts the parts together
// (TuneRequest::trials) and ranks all of them, in the order that one process would have found.

/// The report of a part, to be read by read_trials of the same version.
std::string save_trials(const TuneReport& report);

/// Adds what was saved. The first part sets the device of the report; BadArgument for a part of
/// another device, whose costs cannot be compared, and for a text that no part of `space` saved.
Result<void> add_trials(TuneReport& report, const TuneSpace& space, std::string_view saved);

/// Fails with BadArgument unless each combination of the space is in the report once. Puts them into
/// the order of the space.
Result<void> check_trials(TuneReport& report, const TuneSpace& space);

}  // namespace ww::driver
