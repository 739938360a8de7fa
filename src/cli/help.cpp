// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/split.h"

namespace ww::cli {
namespace {

using Row = std::pair<std::string, std::string>;  // what is typed, what it does

// Two columns; an entry too long for the first gets a line of its own.
std::string table(const std::vector<Row>& rows) {
  constexpr std::size_t kWidest = 24;
  std::size_t width = 0;
  for (const auto& [left, right] : rows) {
    if (left.size() <= kWidest) width = std::max(width, left.size());
  }
  std::string text;
  for (const auto& [left, right] : rows) {
    const std::string indent = "\n" + std::string(width + 4, ' ');
    text += fmt::format("  {:<{}}{}", left, width, left.size() > width ? indent : "  ");
    for (const char c : right) text += c == '\n' ? indent : std::string(1, c);
    text += '\n';
  }
  return text;
}

std::string indented(std::string_view lines) {
  std::string text;
  for (const std::string_view line : split(lines, '\n')) text += fmt::format("  {}\n", line);
  return text;
}

}  // namespace

std::string usage_of(const OptionRow& row) {
  const std::string name = row.names.front() + (row.is_repeated ? "..." : "");
  return row.need == Need::Required ? " " + name : fmt::format(" [{}]", name);
}

std::string short_help(std::span<const Command* const> commands) {
  std::vector<Row> rows;
  for (const Command* command : commands) {
    rows.emplace_back(command->name, command->summary);
  }
  rows.emplace_back("help [COMMAND]", "show this text, or a command's");
  return "usage: warpwright COMMAND [ARGUMENT...]\n\ncommands:\n" + table(rows) +
         "\n`warpwright help COMMAND` shows a command's options and examples\n";
}

std::string program_help(std::span<const Command* const> commands) {
  std::string examples;
  for (const Command* command : commands) {
    examples += command->examples.substr(0, command->examples.find("\n#"));
    examples += '\n';
  }
  std::vector<Row> statuses;
  for (const HelpRow& row : kExitStatus) statuses.emplace_back(row.typed, row.help);
  return "Warpwright, a tile-primitive compiler for NVIDIA GPUs\n\n" + short_help(commands) +
         "\noptions:\n" +
         table({{"-h, --help", "show this text"}, {"--version", "show the version"}}) +
         "\nexamples:\n" + indented(examples) + "\nexit status:\n" + table(statuses);
}

std::string command_help(const Command& command, const OptionSet& set) {
  std::string usage = fmt::format("usage: warpwright {}", command.name);
  std::vector<Row> arguments;
  std::vector<Row> options;
  for (const OptionRow& row : set.rows()) {
    (row.is_argument ? arguments : options).emplace_back(row.spelling(), row.help);
    if (row.is_argument) usage += usage_of(row);
  }
  std::string text = fmt::format("{} [OPTION...]\n", usage);
  std::vector<Row> actions;
  for (const Command* action : command.actions) {
    text += fmt::format("       warpwright {} ...\n", action->name);
    actions.emplace_back(action->name, action->summary);
  }
  text += fmt::format("\n{}\n", command.description);
  if (!actions.empty()) text += "\ncommands:\n" + table(actions);
  if (!arguments.empty()) text += "\narguments:\n" + table(arguments);
  return text + "\noptions:\n" + table(options) + "\nexamples:\n" + indented(command.examples);
}

}  // namespace ww::cli
