// SPDX-License-Identifier: Apache-2.0
// `warpwright new`: writes a program to begin with. Everything is in driver/examples.h.
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/source.h"
#include "cli/command.h"
#include "cli/options.h"
#include "driver/examples.h"

namespace ww::cli::new_command {
namespace {

std::span<const std::string_view> kind_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const driver::StarterKind& kind : driver::starter_kinds()) names.push_back(kind.name);
    return names;
  }();
  return kNames;
}

Outcome run(const driver::StarterRequest& request) {
  const Result<driver::Starter> starter = write_starter(request);
  if (!starter) {
    const Diag& problem = starter.error();
    return problem.span.known ? Outcome{.status = Exit::UserError,
                                        .err = render(problem, SourceText("NAME", request.name))}
                              : user_error(problem);
  }
  return {.out = fmt::format("{} written; now\n  {}\n  {}\n", printable_name(starter->path),
                             starter->run, starter->explain),
          .look = Look::Report};
}

std::string kind_help() {
  constexpr std::size_t kColumn = 11;
  std::string help = "what it computes:";
  for (const driver::StarterKind& kind : driver::starter_kinds())
    help += fmt::format("\n{:<{}}{}", kind.name, kColumn, kind.help);
  return help;
}

Run set_up(OptionSet& set) {
  auto request = std::make_shared<driver::StarterRequest>();
  set.argument("NAME", request->name, Need::Required,
               "the file to write, with .py or without; the kernel gets its name");
  set.choice("--kind", "KIND", request->kind, kind_names(), kind_help());
  set.flag("--force", request->overwrites, "overwrite an existing file");
  return [request] { return run(*request); };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "new",
    .summary = "write a commented program to start from",
    .description =
        "Writes a Python file with a small kernel that compiles and runs as it is, and prints the\n"
        "commands that run and explain it. It overwrites a file only with --force.",
    .examples =
        "# a copy through shared memory and registers, in first.py\n"
        "warpwright new first\n"
        "# a matrix product\n"
        "warpwright new kernels/product.py --kind gemm",
    .set_up = set_up};

}  // namespace ww::cli::new_command
