// SPDX-License-Identifier: Apache-2.0
// `warpwright tune`: tries a kernel with many parameters and ranks those that are right. Everything
// is in driver/tune/tune.h; the environment is read here.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "cli/terminal.h"
#include "driver/report_parts.h"
#include "driver/tune/tune.h"

namespace ww::cli::tune_command {
namespace {

constexpr std::string_view kDevices[] = {"auto", "sim", "cuda"};
constexpr std::int64_t kMaxRepetitions = 1'000'000;
constexpr std::int64_t kMaxRows = 1'000'000;

struct Options {
  driver::TuneRequest request;
  std::string device = "auto";
  std::int64_t repetitions = 0;  // not given
  std::int64_t top = 10;
  bool asks_ptxas = false;
  bool verbose = false;
  bool json = false;
};

Outcome run(const Options& options) {
  Progress progress;
  driver::TuneRequest request = options.request;
  request.progress = progress.callback();
  request.device = *driver::parse_device(options.device);
  if (options.repetitions > 0) request.repetitions = static_cast<int>(options.repetitions);
  if (options.asks_ptxas)
    request.ptxas = {.given = environment("PTXAS"), .path = environment("PATH")};
  driver::TuneOutcome result = tune(request);
  Outcome out;
  if (result.report) {
    const driver::TuneTextOptions shown{.top = static_cast<std::size_t>(options.top),
                                        .is_verbose = options.verbose};
    out.out = options.json ? driver::json_text(tune_json(*result.report))
                           : tune_text(*result.report, shown);
    out.status = result.report->entries.empty() ? Exit::Unexpected : Exit::Good;
    if (!options.json) out.look = Look::Report;
  }
  out.err = std::move(result.errors);
  if (!out.err.empty()) out.status = Exit::UserError;
  return out;
}

void declare_space(OptionSet& set, driver::TuneRequest& request) {
  set.texts("--space", "NAME=V,V...", request.spaces,
            "the values for NAME=? in the kernel expression: host expressions such as 64,\n"
            "\"float16\", (2, 4), or a range: 1..4, 64..256*2, 32..128+32");
  set.texts("--where", "EXPR", request.wheres,
            "leaves out combinations for which this host expression over the names is False");
}

void declare_results(OptionSet& set, Options& options) {
  set.number("--repetitions", options.repetitions, 1, kMaxRepetitions,
             "cuda: timed launches of each kernel (default 20)");
  set.flag("--ptxas", options.asks_ptxas,
           "ask ptxas (the one PTXAS names, or the first in PATH) for registers and spills");
  set.number("--top", options.top, 1, kMaxRows, "rows of the table (default 10)");
  set.flag("--verbose", options.verbose, "show each dropped combination with its whole message");
  set.flag("--json", options.json, "print JSON (docs/guide/tuning.md)");
  set.text("-o,--output", "FILE", options.request.output, "write the best one to a file, as JSON");
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  declare_source(set, options->request.source,
                 "what to tune: a host expression over the file's names in which the values of\n"
                 "keywords are ?, e.g. 'build(tile=?)';\n"
                 "::NAME takes the kernel NAME that the expression defines");
  declare_space(set, options->request);
  declare_device(set, options->device, kDevices);
  declare_args(set, options->request.arguments);
  declare_expects(set, options->request.arguments);
  declare_results(set, *options);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "tune",
    .summary = "try a kernel with many parameters, and rank the correct ones by speed",
    .description =
        "Each ? of the kernel expression stands for the values that --space gives to its keyword.\n"
        "`tune` compiles, runs and checks every combination. It drops those that do not compile,\n"
        "fail or compute wrong results, with the reason, and ranks the others: on a GPU by their\n"
        "time, on the virtual GPU by an estimate from its counters. Exit status 0: there is a\n"
        "best one; 1: no combination is right; 2: bad usage, or no device.\n"
        "docs/guide/tuning.md has the details.",
    .examples =
        "# which tile size is best for a transpose?\n"
        "warpwright tune examples/transpose.py --kernel 'build(tile=?)' --space tile=32,64,128 "
        "--expect 'B == A.T'\n"
        "# two parameters, some combinations left out, on a GPU; keep the best\n"
        "warpwright tune examples/copy_through.py --kernel 'build(n=1 << 28, threads=?, rounds=?)' "
        "--space threads=128..512*2 --space rounds=1..8*2 --where 'threads * rounds <= 2048' "
        "--expect 'B == A' --device cuda -o best.json",
    .set_up = set_up};

}  // namespace ww::cli::tune_command
