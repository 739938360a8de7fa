// SPDX-License-Identifier: Apache-2.0
// What shells need to complete the words of a command line, from the options the commands declare.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace ww::cli {

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

/// A script for one of kShells. Commands, actions, options and the values of those that have a list
/// are offered; where a file is wanted, or anything else, the shell offers files.
std::string completion_script(std::string_view shell, std::span<const Command* const> commands);

}  // namespace ww::cli
