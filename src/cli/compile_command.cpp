// SPDX-License-Identifier: Apache-2.0
// `warpwright compile`: a kernel of a source file in one of several forms. Everything is in
// driver/compile_tool.h; the environment is read here.
#include <memory>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "driver/compile_tool.h"

namespace ww::cli::compile_command {
namespace {

constexpr std::string_view kEmit[] = {"tile", "threads", "explain", "ir",
                                      "cuda", "ptx",     "launch",  "cubin"};
constexpr std::string_view kRegisters[] = {"assembled", "views"};

Outcome run(driver::CompileRequest request) {
  request.ptxas = {.given = environment("PTXAS"), .path = environment("PATH")};
  driver::CompileOutcome result = run_compile(request);
  Outcome out;
  out.out = std::move(result.out);
  out.err = std::move(result.errors);
  if (request.emit == "explain") out.look = Look::Report;
  if (!out.err.empty()) out.status = Exit::UserError;
  return out;
}

std::string emit_help() {
  constexpr std::size_t kColumn = 9;
  std::string help = "which form:";
  for (const driver::EmitForm& form : driver::emit_forms()) {
    help += '\n';
    help += form.name;
    help.append(kColumn - form.name.size(), ' ');
    help += form.help;
  }
  return help;
}

Run set_up(OptionSet& set) {
  auto request = std::make_shared<driver::CompileRequest>();
  declare_source(set, request->source);
  set.choice("--emit", "FORM", request->emit, kEmit, emit_help());
  set.choice("--registers", "STYLE", request->registers, kRegisters,
             "ptx: `assembled` (default), or `views`, which prints float values\n"
             "as %f and %fd: for reading only, ptxas rejects it");
  set.flag("--main", request->with_main,
           "cuda: add a main that runs the kernel and compares with the evaluator");
  set.texts("--arg", "NAME=SPEC", request->arguments.args,
            "an argument for --main, as for `warpwright run`");
  set.text("--limit", "LIST", request->limits,
           "limits of the evaluator for --main: instructions=N,seconds=S,memory=BYTES");
  set.flag("--allow-slow", request->allow_slow,
           "cubin: accept code for which ptxas serialises wgmma or ignores setmaxnreg");
  set.text("-o,--output", "FILE", request->output, "write to a file instead");
  return [request] { return run(*request); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "compile",
    .summary = "compile a tile program to PTX, CUDA C++ or another form",
    .description =
        "Reads a Python file with kernels in TVMScript syntax, runs the host code around them (no\n"
        "Python is needed), checks the chosen kernel and prints it in the requested form. Errors "
        "say\n"
        "where and why; one run reports as many as it can. docs/reference/language.md describes\n"
        "the language, docs/guide/running.md the forms.",
    .examples =
        "# the PTX of the only kernel of a file\n"
        "warpwright compile examples/basics/ldstmatrix.py --emit ptx\n"
        "# a CUDA program that runs a kernel and checks its result\n"
        "warpwright compile examples/basics/reg.py --emit cuda --main -o reg.cu\n"
        "# a kernel from a builder, checked, in one spelling\n"
        "warpwright compile kernels.py --kernel 'build(num=2, trans=False)'\n"
        "# a kernel defined inside a test function, and which threads execute each line\n"
        "warpwright compile test_copy.py --kernel 'test_copy(4)::kernel' --emit threads",
    .set_up = set_up};

}  // namespace ww::cli::compile_command
