// SPDX-License-Identifier: Apache-2.0
// `warpwright explain`: which instructions a kernel's primitives become, and why. Everything is in
// driver/explain.h.
#include <memory>
#include <utility>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "cli/source_options.h"
#include "driver/explain.h"

namespace ww::cli::explain_command {
namespace {

Outcome run(const driver::ExplainRequest& request) {
  driver::ExplainOutcome result = run_explain(request);
  Outcome out;
  out.out = std::move(result.out);
  out.err = std::move(result.errors);
  if (!request.json) out.look = Look::Report;
  if (!out.err.empty()) out.status = Exit::UserError;
  return out;
}

Run set_up(OptionSet& set) {
  struct Options {
    driver::ExplainRequest request;
    bool sass = false;
  };
  auto options = std::make_shared<Options>();
  declare_source(set, options->request.source);
  set.flag("--sass", options->sass,
           "also list what is slow in the machine code that ptxas makes of the kernel;\n"
           "needs ptxas and nvdisasm, and takes half a second or more");
  set.flag("--json", options->request.json, "print JSON (docs/reference/cli.md)");
  return [options] {
    if (options->sass) options->request.sass = sass_tools();
    return run(options->request);
  };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "explain",
    .summary = "show which instructions a kernel's primitives become, and why",
    .description =
        "Lowers a kernel and shows for each tile primitive its operands with their layouts, every\n"
        "variant's verdict, and the chosen plan: instructions, registers, bytes, wavefronts of\n"
        "shared memory against the fewest possible, and a layout without bank conflicts if it "
        "finds\n"
        "one. Inferred layouts (`layout=\"auto\"`) come first, each with the use that decided it. "
        "If\n"
        "no variant accepts a primitive, it shows all reasons, and the exit status is 2.",
    .examples =
        "# why a copy becomes ldmatrix\n"
        "warpwright explain examples/basics/ldstmatrix.py\n"
        "# for another architecture, as JSON\n"
        "warpwright explain examples/basics/reg.py --target sm_80 --json",
    .set_up = set_up};

}  // namespace ww::cli::explain_command
