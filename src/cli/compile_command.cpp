// SPDX-License-Identifier: Apache-2.0
// `warpwright compile`: a kernel of a source file as a checked program. Everything is in
// driver/compile_tool.h.
#include <memory>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "driver/compile_tool.h"

namespace ww::cli {
namespace {

constexpr std::string_view kEmit[] = {"tile", "threads"};

Outcome run(const driver::CompileRequest& request) {
  driver::CompileOutcome result = run_compile(request);
  Outcome out;
  out.out = std::move(result.out);
  out.err = std::move(result.errors);
  if (!out.err.empty()) out.status = Exit::UserError;
  return out;
}

Run set_up(OptionSet& set) {
  auto request = std::make_shared<driver::CompileRequest>();
  declare_source(set, request->source);
  set.choice("--emit", "FORM", request->emit, kEmit,
             "tile     the program, checked, in one spelling (default); it compiles to itself\n"
             "threads  the lines of the kernel, each with the threads that execute it");
  set.text("-o,--output", "FILE", request->output, "write to a file instead");
  return [request] { return run(*request); };
}

}  // namespace

extern const Command kCompileCommand;
const Command kCompileCommand{
    .name = "compile",
    .summary = "check a tile program and print it in one form",
    .description =
        "Reads a Python file with kernels in TVMScript syntax, runs the host code around them (no\n"
        "Python is needed), checks the chosen kernel and prints it. Errors say where and why; one\n"
        "run reports as many as it can. docs/language.md has the language.",
    .examples =
        "# the only kernel of a file\n"
        "warpwright compile examples/seeds/gemm.py\n"
        "# a kernel that a builder makes\n"
        "warpwright compile kernels.py --kernel 'build(num=2, trans=False)'\n"
        "# a kernel defined inside a test function, and who executes each of its lines\n"
        "warpwright compile test_copy.py --kernel 'test_copy(4)::kernel' --emit threads",
    .set_up = set_up};

}  // namespace ww::cli
