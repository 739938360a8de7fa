// SPDX-License-Identifier: Apache-2.0
// `warpwright run`: runs a kernel of a source file. Everything is in driver/run_tool.h.
#include <memory>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "driver/run_tool.h"

namespace ww::cli {
namespace {

constexpr std::string_view kDevices[] = {"eval"};

struct Options {
  driver::RunRequest request;
  bool json = false;
};

Outcome run(const Options& options) {
  driver::RunOutcome result = run_kernel(options.request);
  Outcome out;
  if (result.report) {
    out.out = options.json ? run_json(*result.report) : run_text(*result.report);
    out.status = result.report->good() ? Exit::Good : Exit::Unexpected;
  }
  out.err = std::move(result.errors);
  if (!out.err.empty()) out.status = Exit::UserError;
  return out;
}

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  driver::RunRequest& request = options->request;
  declare_source(set, request.source);
  set.choice("--device", "D", request.device, kDevices,
             "where it runs: eval, the reference evaluator");
  set.texts("--arg", "NAME=SPEC", request.args,
            "an argument, by the name of the parameter or of its buffer:\n"
            "arange, zeros, ones, eye, full:X, randn[:SEED], rand, randint[:LO,HI,SEED]\n"
            "@FILE.npy           the array of a file\n"
            "VALUE               for a scalar, or an extent of run time\n"
            "(default: results are left undefined, floats get randn, integers arange)");
  set.texts("--out", "NAME=FILE.npy", request.outs, "write a buffer after the run");
  set.texts("--expect", "EXPR", request.expects,
            "what must hold after the run: 'B == A.T', 'D ~= A @ B'");
  set.text("--schedule", "S", request.schedule,
           "which threads go first: rr (default), random:SEED");
  set.flag("--json", options->json, "print JSON (docs/language.md)");
  return [options] { return run(*options); };
}

}  // namespace

extern const Command kRunCommand;
const Command kRunCommand{
    .name = "run",
    .summary = "run a kernel of a source file and check what it computes",
    .description =
        "Compiles a kernel and runs it. Reads of what nothing has written, races, accesses out of\n"
        "bounds, use of asynchronous copies before their wait and barriers that not all threads\n"
        "reach are reported with their places. Exit status 0: nothing was found and all "
        "expectations\n"
        "hold; 1: not so; 2: bad usage or an error in the program.",
    .examples =
        "# a product of two matrices, on random values\n"
        "warpwright run examples/seeds/gemm.py --expect 'D_g ~= A_g @ B_g'\n"
        "# with arrays of NumPy's\n"
        "warpwright run examples/seeds/gemm.py --arg A_g=@a.npy --arg B_g=@b.npy --out D_g=d.npy",
    .set_up = set_up};

}  // namespace ww::cli
