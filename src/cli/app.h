// SPDX-License-Identifier: Apache-2.0
// The program as a function: arguments in, outcome out. main.cpp does the printing.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace ww::cli {

/// Finds the command that `args` (without the program's name) ask for, parses its options and runs
/// it. Bad usage gives status 2 and a diagnostic with the nearest right spelling; an exception that
/// reaches this point is a bug of ours and gives status 3. Never throws.
Outcome run_program(std::span<const Command* const> commands, std::span<const std::string> args);

}  // namespace ww::cli
