// SPDX-License-Identifier: Apache-2.0
// `warpwright completion`: a script that completes command lines in a shell. Everything is in
// cli/completion.h.
#include "cli/completion.h"

#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/options.h"

namespace ww::cli::completion_command {
namespace {

Run set_up(OptionSet& set) {
  auto shell = std::make_shared<std::string>();
  set.argument("SHELL", *shell, Need::Required, kShells, "bash, zsh or fish");
  return [shell] { return Outcome{.out = completion_script(*shell, all_commands())}; };
}

}  // namespace

extern const Command command;
const Command command{
    .name = "completion",
    .summary = "print a script that completes command lines in bash, zsh or fish",
    .description =
        "Prints a script that makes a shell complete commands, options, their values and the\n"
        "names of examples. `cmake --install` puts it where shells look for it; otherwise source\n"
        "it yourself.",
    .examples =
        "# in this bash\n"
        "source <(warpwright completion bash)\n"
        "# in every zsh\n"
        "warpwright completion zsh > ~/.zfunc/_warpwright\n"
        "# in every fish\n"
        "warpwright completion fish > ~/.config/fish/completions/warpwright.fish",
    .set_up = set_up};

}  // namespace ww::cli::completion_command
