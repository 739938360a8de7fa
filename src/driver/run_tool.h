// SPDX-License-Identifier: Apache-2.0
// `warpwright run` as a library: a source file and arguments in, a run of its kernel, and what came
// out. docs/running.md describes the notations and the JSON.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/build.h"
#include "driver/explain.h"
#include "driver/kernel_args.h"
#include "driver/report_parts.h"
#include "runtime/device.h"

namespace ww::driver {

/// Names that RunRequest::device takes, with a line on each.
struct DeviceName {
  std::string_view name;
  std::string_view help;
};
const std::vector<DeviceName>& device_names();

struct RunRequest {
  SourceRequest source;
  std::string device = "auto";  // or sim, cuda, eval
  ArgRequest arguments = {};
  std::string checks = {};    // of the virtual GPU; empty: all
  std::string schedule = {};  // rr or random:SEED; empty: rr
  int timed_launches = 0;     // 0: no times are taken
  /// Blocks done and blocks in all, now and then; returns whether to go on.
  std::function<bool(std::uint64_t, std::uint64_t)> progress = {};
};

/// Something that the run came upon and that has no meaning.
struct RunFinding {
  /// Who was there: a place in the source file and, for lowered programs, the line of PTX.
  struct Place {
    std::size_t line = 0, column = 0;  // 0: nowhere
    std::string source = {};           // that line
    std::string instruction = {};
  };
  std::string check;  // "uninit", "race" …
  std::string text;
  std::uint64_t count = 1;
  Place at = {};
  std::string note = {};  // the other party, or empty
  Place note_at = {};
};

struct RunReport {
  std::string path;
  std::string kernel;
  std::string device;                    // "eval", "sim", "cuda"
  std::string device_name;               // "NVIDIA H200 (sm_90), driver 13.0"
  std::string remark;                    // why the GPU that is there was not taken; or empty
  std::optional<target::Target> target;  // none: not lowered
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> cluster{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t dynamic_shared = 0;
  std::string outcome = "finished";
  std::uint64_t steps = 0;  // eval: statements times threads; sim: warp instructions; cuda: 0
  std::string arithmetic;   // of tensor cores, on the virtual GPU
  std::vector<std::string> checks;  // that were made
  std::vector<PrimitiveLine> primitives;
  std::vector<RunFinding> findings;
  std::uint64_t findings_left_out = 0;
  std::vector<BufferReport> buffers;
  std::vector<ExpectReport> expectations;
  std::optional<runtime::Timing> timing;
  std::string printed;

  /// It finished, nothing was found and all expectations hold.
  [[nodiscard]] bool good() const;
};

/// A report, or errors that the user can do something about, rendered; both when the kernel ran and
/// a file could not be written or an expectation makes no sense for the shapes.
struct RunOutcome {
  std::optional<RunReport> report{};
  std::string errors{};
};
RunOutcome run_kernel(const RunRequest& request);

/// For people, and for programs.
std::string run_text(const RunReport& report);
std::string run_json(const RunReport& report);

}  // namespace ww::driver
