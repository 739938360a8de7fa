// SPDX-License-Identifier: Apache-2.0
// `warpwright run` as a library: a source file and arguments in, a run of its kernel, and what came
// out. docs/language.md describes the notations and the JSON.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/compile_tool.h"
#include "driver/report_parts.h"

namespace ww::driver {

struct RunRequest {
  SourceRequest source;
  std::string device = "eval";
  std::vector<std::string> args = {};     // NAME=SPEC
  std::vector<std::string> outs = {};     // NAME=FILE
  std::vector<std::string> expects = {};  // driver/expect.h
  std::string schedule = "rr";            // or random:SEED
  std::function<bool()> keep_going = {};  // asked now and then
};

/// Something without meaning that the run came upon.
struct RunFinding {
  std::string check;  // "uninit", "race" …
  std::string text;
  std::uint64_t count = 1;
  std::size_t line = 0, column = 0;  // in the source file; 0: nowhere
  std::string source = {};           // that line
  std::string note = {};             // the other party, or empty
  std::size_t note_line = 0, note_column = 0;
  std::string note_source = {};
};

struct RunReport {
  std::string path;
  std::string kernel;
  std::string device;
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> cluster{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::uint64_t steps = 0;
  std::vector<RunFinding> findings;
  std::uint64_t findings_left_out = 0;
  std::vector<BufferReport> buffers;
  std::vector<ExpectReport> expectations;
  std::string printed;

  /// Nothing was found and all expectations hold.
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
