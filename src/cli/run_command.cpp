// SPDX-License-Identifier: Apache-2.0
// `warpwright run`: compiles a kernel of a source file and runs it. Everything is in
// driver/run/tool.h.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "cli/terminal.h"
#include "driver/report_parts.h"
#include "driver/run/tool.h"
#include "driver/sim/options.h"

namespace ww::cli::run_command {
namespace {

constexpr std::string_view kDevices[] = {"auto", "sim", "cuda", "eval"};
constexpr std::int64_t kMaxLaunches = 1'000'000;

struct Options {
  std::shared_ptr<driver::RunRequest> request;
  Prepare prepare;
  std::string device = "auto";
  std::int64_t schedules = 0;
  bool time = false;
  std::int64_t launches = 20;
  bool json = false;
};

Outcome run(const Options& options) {
  Progress progress;
  driver::RunRequest request = *options.request;
  if (options.prepare) {
    if (const auto ready = options.prepare(request); !ready) return user_error(ready.error());
  }
  request.progress = progress.callback();
  request.device = *driver::parse_device(options.device);
  request.schedules = schedules_of(options.schedules, request.schedule);
  if (options.time) request.timed_launches = static_cast<int>(options.launches);
  driver::RunOutcome result = run_kernel(request);
  Outcome out;
  if (result.report) {
    out.out = options.json ? driver::json_text(run_json(*result.report)) : run_text(*result.report);
    out.status = result.report->good() ? Exit::Good : Exit::Unexpected;
    if (!options.json) out.look = Look::Report;
  }
  out.err = std::move(result.errors);
  if (!out.err.empty()) out.status = Exit::UserError;
  return out;
}

void declare_device_options(OptionSet& set, Options& options) {
  driver::RunRequest& request = *options.request;
  declare_device(set, options.device, kDevices);
  set.text("--check", "LIST", request.checks,
           "sim: all (default), none, or names: bounds, align, space, uninit, race,\n"
           "collective, async, barrier, tensor, fence, numbers; -NAME leaves one out: all,-race;\n"
           "uninit=early: accuse the first computation with an undefined value");
  set.text("--schedule", "S", request.schedule,
           "sim, eval: which threads go first: rr (default), random:SEED; sim: reverse, step,\n"
           "delay:WARPS, pct:SEED");
  declare_schedules(set, options.schedules);
  set.text("--limit", "LIST", request.limits,
           "sim, eval: instructions=N,seconds=S,memory=BYTES, with K, M, G\n"
           "(default: sim instructions=20G,memory=8G; eval instructions=5M,memory=8G)");
  declare_timeline(set, request.timeline);
  set.flag("--time", options.time, "cuda: measure the median time of several launches");
  set.number("--launches", options.launches, 1, kMaxLaunches, "launches for --time (default 20)");
}

Run set_up(OptionSet& set) {
  auto request = std::make_shared<driver::RunRequest>();
  set.argument("FILE", request->source.path, Need::Required, "a Python file with kernels");
  return declare_run(set, request);
}

}  // namespace

extern const Command command;
const Command command{
    .name = "run",
    .summary = "compile a kernel, run it, and check its results",
    .description =
        "Lowers a kernel to PTX and runs it: on a GPU if there is one that fits, otherwise on the\n"
        "virtual GPU, which reports reads of undefined values, races, accesses out of bounds,\n"
        "asynchronous results used before their wait and misused barriers, each with its line.\n"
        "Exit status 0: the kernel finished without findings and all expectations hold; 1: a\n"
        "finding or a failed expectation; 2: bad usage, an error in the program, or no device.",
    .examples =
        "# run a kernel and check its copy\n"
        "warpwright run examples/basics/ldstmatrix.py --expect 'B == A'\n"
        "# a matrix product on the reference evaluator, with arrays from NumPy\n"
        "warpwright run examples/basics/gemm.py --device eval --arg A_g=@a.npy --arg B_g=@b.npy "
        "--out D_g=d.npy\n"
        "# on a GPU, timed\n"
        "warpwright run examples/basics/reg.py --device cuda --time",
    .set_up = set_up};

}  // namespace ww::cli::run_command

namespace ww::cli {

void declare_schedules(OptionSet& set, std::int64_t& schedules) {
  constexpr std::int64_t kMaxSchedules = 1'000'000;
  set.number("--schedules", schedules, 1, kMaxSchedules,
             "run in as many schedules; report the first that goes wrong\n"
             "(default: up to 12, for about 0.3 s, where another can matter)");
}

sim::ScheduleBudget schedules_of(std::int64_t schedules, std::string_view schedule) {
  return driver::schedule_budget(
      schedules == 0 ? std::nullopt : std::optional(static_cast<unsigned>(schedules)), schedule);
}

void declare_timeline(OptionSet& set, driver::TimelineRequest& request) {
  set.text("--timeline", "FILE", request.path,
           "sim: what warps, asynchronous work and mbarriers did, step by step: a picture\n"
           "(.svg), JSON (.json) or text (.txt); it sets --schedule to step by default");
  set.text("--timeline-block", "BLOCK", request.block, "of the cluster of this block (default 0)");
  set.text("--timeline-steps", "FIRST:LAST", request.steps, "of these steps only");
}

Run declare_run(OptionSet& set, std::shared_ptr<driver::RunRequest> request, Prepare prepare) {
  auto options = std::make_shared<run_command::Options>(
      run_command::Options{.request = std::move(request), .prepare = std::move(prepare)});
  driver::RunRequest& wanted = *options->request;
  declare_kernel(set, wanted.source);
  run_command::declare_device_options(set, *options);
  declare_args(set, wanted.arguments);
  set.texts("--out", "NAME=FILE.npy", wanted.arguments.outs, "write a buffer after the run");
  declare_expects(set, wanted.arguments);
  set.flag("--json", options->json, "print JSON (docs/reference/cli.md)");
  return [options] { return run_command::run(*options); };
}

}  // namespace ww::cli
