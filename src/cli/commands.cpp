// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "cli/command.h"

namespace ww::cli {

#define WW_COMMAND(file)        \
  namespace file {              \
  extern const Command command; \
  }
#include "cli/commands.def"
#undef WW_COMMAND

std::span<const Command* const> all_commands() {
  static constexpr auto kCommands = std::to_array<const Command*>({
#define WW_COMMAND(file) &file::command,
#include "cli/commands.def"
#undef WW_COMMAND
  });
  return kCommands;
}

const Command* find_command(std::span<const Command* const> commands, std::string_view word) {
  const auto last_word = [](const Command* command) {
    return command->name.substr(command->name.rfind(' ') + 1);
  };
  const auto found = std::ranges::find(commands, word, last_word);
  return found == commands.end() ? nullptr : *found;
}

}  // namespace ww::cli
