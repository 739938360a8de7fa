// SPDX-License-Identifier: Apache-2.0
// What a subcommand is, and the list of them.
//
// A subcommand stands in its own file `<name>_command.cpp`, which defines one object
// `<name>_command::command`, and has one row in commands.def; a test fails when either is
// forgotten. It declares its options (cli/options.h) and gives back the function to run once they
// are parsed. That function computes everything and prints nothing: it returns an Outcome. A whole
// command, in a file echo_command.cpp:
//
//   namespace ww::cli::echo_command {
//   namespace {
//   struct Options {
//     std::string text;
//   };
//
//   Run set_up(OptionSet& set) {
//     auto options = std::make_shared<Options>();
//     set.argument("TEXT", options->text, Need::Required, "what to say");
//     return [options] { return Outcome{.out = options->text + "\n"}; };
//   }
//   }  // namespace
//
//   extern const Command command;
//   const Command command{.name = "echo", .summary = "print a text", ..., .set_up = set_up};
//   }  // namespace ww::cli::echo_command
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag.h"

namespace ww::cli {

class OptionSet;

/// The program's exit status, the same for every subcommand.
enum class Exit : std::uint8_t {
  Good = 0,
  Unexpected = 1,  // the work was done, and an expectation or check did not hold
  UserError = 2,   // bad usage, or an error in what the user gave us
  Bug = 3,         // our own fault
};

/// What a text of ours is, for those who show it on a terminal (cli/terminal.h).
enum class Look : std::uint8_t {
  Plain,        // code, JSON: as it is
  Table,        // made for a width: coloured
  Report,       // facts and sentences: coloured, wrapped
  Diagnostics,  // what user_error gives
};

/// All that running a subcommand leads to.
struct Outcome {
  Exit status = Exit::Good;
  std::string out = {};  // results, for stdout
  std::string err = {};  // diagnostics, for stderr
  // A program (path and arguments) to turn into once `out` and `err` are written; mostly empty.
  std::vector<std::string> become = {};
  Look look = Look::Plain;     // of `out`; `err` is always diagnostics
  std::string color = "auto";  // what --color says
};

/// The outcome of a user error: the rendered diagnostic on stderr and status 2.
Outcome user_error(const Diag& diag);

/// Called while the OptionSet that it was set up with is there.
using Run = std::function<Outcome()>;

struct Command {
  std::string_view name;         // as it is typed; an action's begins with that of its command
  std::string_view summary;      // one line for the list of commands: lower case, no full stop
  std::string_view description;  // opens the command's help; wrapped by hand at 90 columns
  std::string_view examples;     // lines `# remark` and, below it, the command; the best one first
  Run (*set_up)(OptionSet& options);
  std::span<const Command* const> actions = {};  // commands of a command: `examples show`
};

/// The command or action with this last word, or none.
const Command* find_command(std::span<const Command* const> commands, std::string_view word);

/// Every subcommand, in the order help shows them: commands.def as a list.
std::span<const Command* const> all_commands();

}  // namespace ww::cli
