// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cli/command.h"

namespace ww::cli {

#define WW_COMMAND(name, file) extern const Command k##name##Command;
#include "cli/commands.def"
#undef WW_COMMAND

std::span<const Command* const> all_commands() {
  static constexpr auto kCommands = std::to_array<const Command*>({
#define WW_COMMAND(name, file) &k##name##Command,
#include "cli/commands.def"
#undef WW_COMMAND
  });
  return kCommands;
}

}  // namespace ww::cli
