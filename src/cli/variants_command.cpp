// SPDX-License-Identifier: Apache-2.0
// `warpwright variants`: the ways to carry out tile primitives. Everything is in driver/reference.h.
#include "driver/reference.h"

#include <memory>

#include "cli/command.h"
#include "cli/options.h"
#include "driver/report_parts.h"

namespace ww::cli::variants_command {
namespace {

Run set_up(OptionSet& set) {
  auto json = std::make_shared<bool>(false);
  set.flag("--json", *json, "print JSON (docs/reference/cli.md)");
  return [json] {
    return *json ? Outcome{.out = driver::json_text(driver::variants_json())}
                 : Outcome{.out = driver::variants_text(), .look = Look::Report};
  };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "variants",
    .summary = "list the ways to carry out tile primitives",
    .description =
        "Lists the variants of every tile primitive in the order in which the compiler tries "
        "them:\n"
        "primitive, variant, priority, and what it does. `dispatch=\"NAME\"` in a program asks "
        "for\n"
        "one; `warpwright explain` shows each variant's verdict on a call.",
    .examples = "# list the variants\nwarpwright variants",
    .set_up = set_up};

}  // namespace ww::cli::variants_command
