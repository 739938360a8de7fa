// SPDX-License-Identifier: Apache-2.0
// `warpwright sim`: runs a kernel of a PTX file on the virtual GPU. Everything is in
// driver/sim/tool.h; here options become a request, and a terminal gets a line of progress.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/source.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "cli/terminal.h"
#include "driver/report_parts.h"
#include "driver/sim/tool.h"

namespace ww::cli::sim_command {
namespace {

constexpr std::string_view kMath[] = {"exact", "plain"};
constexpr std::string_view kLanes[] = {"auto", "apart", "in-step"};
constexpr std::string_view kTensorLoads[] = {"early", "late"};
constexpr std::string_view kDevices[] = {"sim", "cuda", "both"};
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxShared = std::int64_t{1} << 30;

struct Options {
  driver::SimRequest request;
  std::string math = "exact";
  std::string device = "sim";
  std::string lanes = "auto";
  std::string tensor_loads = "early";
  std::int64_t schedules = 0;
  std::int64_t threads = 0;
  std::int64_t shared = 0;
  bool sass = false;
  bool json = false;
};

driver::SimOutcome simulate(driver::SimRequest request) {
  Progress progress;
  request.progress = progress.callback();
  return driver::run_sim(request);
}

Outcome run(const Options& options) {
  driver::SimRequest request = options.request;
  request.exact = options.math == "exact";
  request.device = options.device == "cuda"   ? driver::WhichGpu::Gpu
                   : options.device == "both" ? driver::WhichGpu::Both
                                              : driver::WhichGpu::Virtual;
  if (options.lanes != "auto") request.in_step = options.lanes == "in-step";
  request.late_tensor_loads = options.tensor_loads == "late";
  request.schedules = schedules_of(options.schedules, request.schedule);
  request.threads = static_cast<unsigned>(options.threads);
  request.shared_bytes = static_cast<std::uint32_t>(options.shared);
  if (options.sass) request.sass = sass_tools();
  driver::SimOutcome result = simulate(std::move(request));
  Outcome out;
  const auto show = [&](const auto& report) {
    out.out = options.json ? driver::json_text(sim_json(report)) : sim_text(report);
    out.status = report.good() ? Exit::Good : Exit::Unexpected;
    if (!options.json) out.look = Look::Report;
  };
  if (result.report) show(*result.report);
  if (result.sequence) show(*result.sequence);
  out.err = std::move(result.errors);
  if (!out.err.empty()) out.status = Exit::UserError;
  return out;
}

void declare_launch(OptionSet& set, Options& options) {
  driver::SimRequest& request = options.request;
  set.argument("FILE", request.path, Need::Required, "a PTX file");
  set.text("--kernel", "NAME", request.kernel, "which kernel (default: the only one)");
  set.text("--grid", "X[,Y,Z]", request.grid, "blocks");
  set.text("--block", "X[,Y,Z]", request.block,
           "threads of a block (default: as the kernel declares)");
  set.text("--cluster", "X[,Y,Z]", request.cluster,
           "blocks of a cluster (default: as the kernel declares, or 1)");
  set.number("--shared", options.shared, 0, kMaxShared, "bytes of dynamic shared memory");
  set.texts("--arg", "P=VALUE", request.args,
            "an argument for parameter P, a number or a name:\n"
            "TYPE[SHAPE]:FILL    a buffer, e.g. float16[8,16]:arange; also zeros, ones,\n"
            "                    eye, full:X, list:X,Y,..., randn, rand, randint\n"
            "                    (docs/reference/sim.md)\n"
            "TYPE[SHAPE]         a buffer for results, undefined\n"
            "@FILE.npy[:TYPE]    a buffer with the array of a file\n"
            "TYPE:VALUE          a value, e.g. i32:42\n"
            "bytes:HEX           the bytes of a struct\n"
            "tensormap(...), texture(...), surface(...)  with an array and settings\n"
            "null                a null pointer");
  set.text("--awaits", "P,...", request.awaits,
           "a dependent launch: an earlier grid still writes the arrays of these parameters until\n"
           "griddepcontrol.wait");
  set.texts("--launch", "LAUNCH", request.launches,
            "a launch as in CUDA C++, one of several in order, over the values that --arg names:\n"
            "KERNEL<<<GRID, BLOCK[, SHARED][, cluster=(X,Y,Z)][, programmatic]>>>(ARG, ...)\n"
            "ARG is a name or a value; programmatic: it may start before earlier launches end");
  set.texts("--out", "P=FILE.npy", request.outs, "write a buffer after the run");
  set.texts("--expect", "EXPR", request.expects,
            "what must hold after the run: '$2 == $0 + $1', 'D ~= A @ B within rtol=1e-3'");
}

void declare_run(OptionSet& set, Options& options) {
  driver::SimRequest& request = options.request;
  set.text("--check", "LIST", request.checks,
           "all (default), none, or names: bounds, align, space, uninit, race, collective,\n"
           "async, barrier, tensor, fence, numbers, rewrite, proxy;\n"
           "-NAME leaves one out: all,-race; uninit=early: the first computation");
  set.choice("--device", "WHERE", options.device, kDevices,
             "sim (default), cuda (a real GPU), or both, which compares their results bit by bit");
  set.text("--schedule", "S", request.schedule,
           "which warp is next: rr (default), reverse, step, random:SEED, delay:WARPS, pct:SEED");
  declare_schedules(set, options.schedules);
  set.choice("--lanes", "HOW", options.lanes, kLanes,
             "lanes of a warp: apart, in-step (they do not race with each other), or auto\n"
             "(default: in-step if the file is for a GPU before sm_70)");
  set.choice(
      "--tensor-loads", "WHEN", options.tensor_loads, kTensorLoads,
      "when tcgen05.ld changes its registers: early (default, at once, as on a GPU) or late\n"
      "(at tcgen05.wait::ld, which the manual asks for)");
  set.choice("--math", "HOW", options.math, kMath,
             "tensor cores: exact (default, as the hardware rounds) or plain sums");
  set.number("--threads", options.threads, 0, kMaxThreads,
             "host threads (default 0: one per core)");
  set.text("--limit", "LIST", request.limits,
           "instructions=N,seconds=S,memory=BYTES, with K, M, G\n"
           "(default: instructions=20G,memory=8G)");
  set.text("--trace", "WHICH", request.trace,
           "print what a warp executes: BLOCK:WARP, BLOCK:all, or WARP and all of block 0");
  set.text("--break", "LINE[:TIMES]", request.stop_at,
           "print registers and memory when a warp reaches this line of PTX (default: once)");
  declare_timeline(set, request.timeline);
  set.flag("--counters", request.count, "count instructions, bank conflicts, sectors");
  set.flag("--sass", options.sass,
           "also list what is slow in the machine code that ptxas makes of the kernel;\n"
           "needs ptxas and nvdisasm, and takes half a second or more");
  set.flag("--json", options.json, "print JSON (docs/reference/sim.md)");
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  declare_launch(set, *options);
  declare_run(set, *options);
  return [options] { return run(*options); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "sim",
    .summary = "run a kernel of a PTX file on the virtual GPU, with all checks",
    .description =
        "Runs a kernel on the virtual GPU: every block, warp and lane, on the CPU. It reports\n"
        "accesses out of bounds, races, use of undefined values, misused barriers and more, with\n"
        "line, block, warp, lanes and address. Exit status 0: it finished without findings and\n"
        "all expectations hold; 1: it did not finish, has a finding, or fails an expectation;\n"
        "2: bad usage, illegal PTX, or a launch that no GPU accepts.",
    .examples =
        "# add two arrays, and check the sum\n"
        "warpwright sim add.ptx --grid 4 --block 64 --arg 0=f32[256]:arange --arg 1=f32[256]:ones "
        "--arg 2=f32[256] --arg 3=i32:256 --expect '$2 == $0 + $1'\n"
        "# the same with arrays from NumPy\n"
        "warpwright sim add.ptx --grid 4 --block 64 --arg 0=@a.npy --arg 1=@b.npy "
        "--arg 2=f32[256] --arg 3=i32:256 --out 2=c.npy\n"
        "# what warp 1 of block 0 executes, and where shared memory has bank conflicts\n"
        "warpwright sim k.ptx --grid 1 --block 64 --arg 0=f16[8,8]:arange --trace 0:1 --counters",
    .set_up = set_up};

}  // namespace ww::cli::sim_command
