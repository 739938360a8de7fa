// SPDX-License-Identifier: Apache-2.0
// `warpwright variants`: the ways to carry out tile primitives. Everything is in driver/variants.h.
#include "driver/variants.h"

#include <memory>

#include "cli/command.h"
#include "cli/options.h"

namespace ww::cli::variants_command {
namespace {

Run set_up(OptionSet& set) {
  auto json = std::make_shared<bool>(false);
  set.flag("--json", *json, "print JSON (docs/running.md)");
  return [json] {
    return *json ? Outcome{.out = driver::variants_json()}
                 : Outcome{.out = driver::variants_text(), .look = Look::Report};
  };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "variants",
    .summary = "list the ways to carry out tile primitives",
    .description =
        "Lists for every tile primitive the variants that there are, in the order in which they\n"
        "are tried: its name, the variant's, its priority, and what it does. `dispatch=\"NAME\"` "
        "in\n"
        "a program asks for one; `warpwright explain` says what each said to a call.",
    .examples = "# all of them\nwarpwright variants",
    .set_up = set_up};

}  // namespace ww::cli::variants_command
