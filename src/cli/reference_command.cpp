// SPDX-License-Identifier: Apache-2.0
// `warpwright reference`: the compiler's own tables. Everything is in driver/reference.h.
#include "driver/reference.h"

#include <memory>

#include "cli/command.h"
#include "cli/options.h"
#include "driver/report_parts.h"

namespace ww::cli::reference_command {
namespace {

struct Options {
  std::string topic;
  bool json = false;
};

Run set_up(OptionSet& set) {
  auto options = std::make_shared<Options>();
  set.argument("TOPIC", options->topic, Need::Required, driver::kReferenceTopics,
               "names, not-taken, primitives, settings, kinds, rules, library");
  set.flag("--json", options->json, "print JSON (docs/reference/cli.md)");
  return [options] {
    return Outcome{.out = options->json ? driver::json_text(driver::reference_json(options->topic))
                                        : driver::reference_text(options->topic)};
  };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "reference",
    .summary = "print a table of the language: names, settings, kinds of errors",
    .description =
        "Prints a table of the compiler in Markdown, as the pages in docs/reference show it:\n"
        "`names`, every name that a program can use; `not-taken`, the names of TVM that\n"
        "Warpwright lacks, and why; `primitives`, the tile primitives with their arguments and "
        "variants;\n"
        "`settings`, the keywords that their calls take; `kinds`, every kind of diagnostic;\n"
        "`rules`, the rules by which variants decline a call; `library`, the classes for "
        "barriers,\n"
        "pipelines, roles and tile schedulers, as the Python that programs import.",
    .examples =
        "# what do the calls of tile primitives take?\n"
        "warpwright reference primitives\n"
        "# is there a shuffle?\n"
        "warpwright reference names | grep shuffle\n"
        "# all kinds of errors, for a script\n"
        "warpwright reference kinds --json",
    .set_up = set_up};

}  // namespace ww::cli::reference_command
