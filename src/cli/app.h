// SPDX-License-Identifier: Apache-2.0
// The program as a function: arguments in, outcome out. main.cpp does the printing.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/options.h"

namespace ww::cli {

/// Finds the command that `args` (without the program's name) ask for, parses its options and runs
/// it. Bad usage gives status 2 and a diagnostic with the nearest right spelling; an exception that
/// reaches this point is a bug of ours and gives status 3. Never throws.
Outcome run_program(std::span<const Command* const> commands, std::span<const std::string> args);

// --- help ----------------------------------------------------------------------------------------
//
// The text of help, made from the commands and the options they declare.

struct HelpRow {
  std::string_view typed;
  std::string_view help;
};
inline constexpr HelpRow kExitStatus[] = {{"0", "all good"},
                                          {"1", "an expectation or check did not hold"},
                                          {"2", "bad usage, or an error in the input"},
                                          {"3", "a bug in Warpwright"}};

/// Usage and the list of commands: what `warpwright` alone prints.
std::string short_help(std::span<const Command* const> commands);

/// short_help with the program's options, exit status and examples: `warpwright --help`.
std::string program_help(std::span<const Command* const> commands);

/// An argument in a line of usage: " FILE", " [PATH]".
std::string usage_of(const OptionRow& row);

/// Usage, description, arguments, options and examples of one command.
std::string command_help(const Command& command, const OptionSet& set);

// --- manual --------------------------------------------------------------------------------------
//
// The manual page, from the texts of help.

/// warpwright(1) in the language of man(7), a section for each command. The same commands give the
/// same bytes: the page has no date.
std::string manual_page(std::span<const Command* const> commands);

}  // namespace ww::cli
