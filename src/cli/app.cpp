// SPDX-License-Identifier: Apache-2.0
#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/source.h"
#include "base/suggest.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/version.h"

namespace ww::cli {

Outcome user_error(const Diag& diag) { return {.status = Exit::UserError, .err = render(diag)}; }

namespace {

using Commands = std::span<const Command* const>;
using Args = std::span<const std::string>;

// --- words the program itself understands --------------------------------------------------------

Outcome unknown_command(Commands commands, std::string_view word) {
  std::vector<std::string_view> known;
  for (const Command* command : commands) known.push_back(command->name);
  known.emplace_back("help");
  return user_error(
      diag(DiagKind::UnknownName, "unknown command `{}`{}", word, did_you_mean(word, known))
          .with_note("see `warpwright --help`"));
}

// Commands with actions take no arguments of their own.
Outcome unknown_action(const Command& command, std::string_view word) {
  std::vector<std::string_view> known;
  for (const Command* action : command.actions) known.push_back(action->name);
  const std::string typed = fmt::format("{} {}", command.name, word);
  return user_error(
      diag(DiagKind::UnknownName, "unknown command `{}`{}", typed, did_you_mean(typed, known))
          .with_note(fmt::format("see `warpwright {} --help`", command.name)));
}

Outcome unknown_program_option(Commands commands, std::string_view word) {
  static constexpr std::string_view kKnown[] = {"--help", "--version"};
  Diag problem =
      diag(DiagKind::UnknownName, "unknown option `{}`{}", word, did_you_mean(word, kKnown));
  if (!commands.empty()) {
    problem.notes.push_back({"a command's options stand after its name", {}});
  }
  return user_error(problem);
}

// --- one command ---------------------------------------------------------------------------------

bool has_option(const Command& command, std::string_view word) {
  OptionSet options;
  static_cast<void>(command.set_up(options));
  return std::ranges::any_of(options.rows(), [&](const OptionRow& row) {
    return std::ranges::find(row.names, word) != row.names.end();
  });
}

// Whose option it is that a command does not have.
void add_owners(Diag& problem, Args args) {
  for (const std::string& arg : args) {
    const std::string word = arg.substr(0, arg.find('='));
    if (!problem.text.starts_with(fmt::format("unknown option `{}`", word))) continue;
    std::vector<std::string> owners;
    for (const Command* each : all_commands())
      if (each->actions.empty() && has_option(*each, word))
        owners.push_back(fmt::format("`warpwright {}`", each->name));
    // Another command's option is what was meant, and none of this one's that looks like it.
    if (!owners.empty() && !is_known_elsewhere(word))
      problem.text = fmt::format("unknown option `{}`", word);
    if (!owners.empty())
      problem.notes.push_back({fmt::format("an option of {}", join(owners, ", ")), {}});
    return;
  }
}

Outcome run_command(const Command& command, Args args) {
  const Command* const action = args.empty() ? nullptr : find_command(command.actions, args[0]);
  if (action != nullptr) return run_command(*action, args.subspan(1));
  if (!command.actions.empty() && !args.empty() && !looks_like_option(args[0]))
    return unknown_action(command, args[0]);
  OptionSet options;
  const Run run = command.set_up(options);
  Result<Asked> asked = options.parse(args);
  if (!asked) {
    Diag problem = std::move(asked).error();
    if (problem.kind == DiagKind::UnknownName) add_owners(problem, args);
    return user_error(
        std::move(problem).with_note(fmt::format("see `warpwright {} --help`", command.name)));
  }
  Outcome outcome = *asked == Asked::Help ? Outcome{.out = command_help(command, options)} : run();
  outcome.color = options.color();
  return outcome;
}

Outcome show_help(Commands commands, Args args) {
  if (args.empty()) return {.out = program_help(commands)};
  if (args.front() == "--man") return {.out = manual_page(commands)};
  const Command* const command = find_command(commands, args.front());
  if (command == nullptr) return unknown_command(commands, args.front());
  std::vector<std::string> words(args.begin() + 1, args.end());
  words.emplace_back("--help");
  return run_command(*command, words);
}

Outcome dispatch(Commands commands, Args args) {
  if (args.empty()) return {.status = Exit::UserError, .err = short_help(commands)};
  const std::string& word = args.front();
  if (word == "--help" || word == "-h" || word == "help")
    return show_help(commands, args.subspan(1));
  if (word == "--version") return {.out = fmt::format("warpwright {}\n", version())};
  if (looks_like_option(word)) return unknown_program_option(commands, word);
  const Command* command = find_command(commands, word);
  if (command == nullptr) return unknown_command(commands, word);
  return run_command(*command, args.subspan(1));
}

Outcome bug(std::string_view what) {
  return {
      .status = Exit::Bug,
      .err = fmt::format(
          "internal error: {}\n"
          "  note: this is a bug in Warpwright {}, not in your input; please report it with the\n"
          "        command line and the files it reads\n",
          what, version())};
}

}  // namespace

Outcome run_program(Commands commands, Args args) {
  try {
    return dispatch(commands, args);
  } catch (const std::exception& error) {
    return bug(error.what());
  } catch (...) {
    return bug("an exception of unknown type");
  }
}

}  // namespace ww::cli
