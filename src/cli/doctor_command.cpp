// SPDX-License-Identifier: Apache-2.0
// `warpwright doctor`: which tools are here. Everything is in driver/doctor.h.
#include "driver/doctor.h"

#include <memory>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "driver/report_parts.h"

namespace ww::cli::doctor_command {
namespace {

Outcome run(bool json) {
  const auto tools = driver::examine({.path = environment("PATH"), .tools = sass_tools()});
  return json ? Outcome{.out = driver::json_text(doctor_json(tools))}
              : Outcome{.out = doctor_text(tools), .look = Look::Report};
}

Run set_up(OptionSet& set) {
  auto json = std::make_shared<bool>(false);
  set.flag("--json", *json, "print JSON (docs/reference/cli.md)");
  return [json] { return run(*json); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "doctor",
    .summary = "list the tools on this machine that some commands need",
    .description =
        "Looks for a compiler, CUDA, ptxas, nvdisasm, a GPU with its driver, Python, Triton and a\n"
        "browser, and asks each for its version. For one that is missing, does not start or is\n"
        "too old, the list says why, what does not work without it, and how to get it. The exit\n"
        "status is 0 even if all are missing: kernels compile and run on the virtual GPU without\n"
        "any of them.",
    .examples =
        "# what is here, and what that costs\n"
        "warpwright doctor\n"
        "# for a script\n"
        "warpwright doctor --json",
    .set_up = set_up};

}  // namespace ww::cli::doctor_command
