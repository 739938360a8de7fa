// SPDX-License-Identifier: Apache-2.0
// `warpwright completion`: a script that completes command lines in a shell.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/join.h"
#include "cli/command.h"
#include "cli/options.h"

namespace ww::cli {

// --- completion ----------------------------------------------------------------------------------
//
// What shells need to complete the words of a command line, from the options the commands declare.

namespace {

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

/// A script for one of kShells. It offers commands, actions, options, and the values of options that
/// have a list; elsewhere the shell offers files.
std::string completion_script(std::string_view shell, std::span<const Command* const> commands);

using Commands = std::span<const Command* const>;

// A command or an action with its options.
struct Entry {
  const Command* command;
  std::vector<OptionRow> rows;
};

std::vector<Entry> entries_of(Commands commands) {
  std::vector<Entry> entries;
  for (const Command* command : commands) {
    OptionSet options;
    (void)command->set_up(options);
    entries.push_back({command, options.rows()});
    const std::vector<Entry> actions = entries_of(command->actions);
    entries.insert(entries.end(), actions.begin(), actions.end());
  }
  return entries;
}

std::string_view last_word(std::string_view name) { return name.substr(name.rfind(' ') + 1); }

std::vector<std::string_view> last_words(Commands commands) {
  std::vector<std::string_view> words;
  for (const Command* command : commands) words.push_back(last_word(command->name));
  return words;
}

bool is_option(const OptionRow& row) { return !row.is_argument; }

// 'text' for a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// The first line of a help text, without the list it may open.
std::string first_line(std::string_view help) {
  std::string line(help.substr(0, help.find('\n')));
  while (line.ends_with(':') || line.ends_with(';') || line.ends_with(',')) line.pop_back();
  return line;
}

// --- bash ----------------------------------------------------------------------------------------

// One case for each option of each command: which words may follow it. An option without a list
// gives none, and readline falls back to files.
std::string bash_values(const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& entry : entries) {
    for (const OptionRow& row : entry.rows) {
      if (row.is_argument || row.type.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : row.names)
        patterns.push_back(fmt::format("'{} {}'", entry.command->name, name));
      out += fmt::format("    {}) values={} takes_value=1 ;;\n", join(patterns, " | "),
                         shell_quoted(join(row.words, " ")));
    }
  }
  return out;
}

// The words that may stand in the place of an argument, and the options.
std::string bash_words(const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& entry : entries) {
    std::vector<std::string> options;
    std::vector<std::string> words;
    for (const std::string_view word : last_words(entry.command->actions)) words.emplace_back(word);
    for (const OptionRow& row : entry.rows) {
      auto& list = row.is_argument ? words : options;
      const auto& from = row.is_argument ? row.words : row.names;
      list.insert(list.end(), from.begin(), from.end());
    }
    out += fmt::format("    {})\n      options={}\n      words={} ;;\n",
                       shell_quoted(entry.command->name), shell_quoted(join(options, " ")),
                       shell_quoted(join(words, " ")));
  }
  return out;
}

std::string bash_actions(Commands commands) {
  std::string out;
  for (const Command* command : commands) {
    for (const Command* action : command->actions)
      out += fmt::format("      '{}') command={} ;;\n", action->name, shell_quoted(action->name));
  }
  return out;
}

std::string bash_script(Commands commands) {
  const std::vector<Entry> entries = entries_of(commands);
  std::vector<std::string_view> names = last_words(commands);
  names.emplace_back("help");
  return fmt::format(R"(# bash completion for warpwright; made by `warpwright completion bash`
_warpwright() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} option= command= options= words= values= takes_value=
  local commands={0} i
  COMPREPLY=()
  # bash takes `=` for a word of its own.
  local last=$((COMP_CWORD - 1))
  [[ $cur == = ]] && cur=
  [[ $last -gt 0 && ${{COMP_WORDS[last]}} == = ]] && last=$((last - 1))
  option=${{COMP_WORDS[last]}}
  if [[ $COMP_CWORD -eq 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
    return
  fi
  command=${{COMP_WORDS[1]}}
  if [[ $command == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
    return
  fi
  if [[ $COMP_CWORD -gt 2 ]]; then
    case "$command ${{COMP_WORDS[2]}}" in
{1}    esac
  fi
  case "$command $option" in
{2}  esac
  if [[ -n $takes_value ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
    return
  fi
  case $command in
{3}  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  fi
}}
complete -o default -F _warpwright warpwright
)",
                     shell_quoted(join(names, " ")), bash_actions(commands), bash_values(entries),
                     bash_words(entries));
}

// --- zsh -----------------------------------------------------------------------------------------

// In a specification of _arguments these have a meaning.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const OptionRow& row) {
  const std::string& name = row.is_argument ? row.names.front() : row.type;
  if (!row.words.empty()) return fmt::format(":{}:({})", zsh_text(name), join(row.words, " "));
  return fmt::format(":{}:{}", zsh_text(name), row.takes_file() ? "_files" : " ");
}

std::string zsh_spec(const OptionRow& row, const std::string& name) {
  return shell_quoted(fmt::format("{}{}[{}]{}", row.is_repeated ? "*" : "", name,
                                  zsh_text(first_line(row.help)),
                                  row.type.empty() ? "" : zsh_value(row)));
}

std::string zsh_specs(const Entry& entry) {
  std::vector<std::string> specs;
  std::size_t place = 0;
  for (const OptionRow& row : entry.rows) {
    if (row.is_argument) {
      const std::string where = row.is_repeated ? "*" : std::to_string(++place);
      specs.push_back(shell_quoted(where + zsh_value(row)));
      continue;
    }
    for (const std::string& name : row.names) specs.push_back(zsh_spec(row, name));
  }
  return join(specs, " \\\n        ");
}

std::string zsh_described(Commands commands) {
  std::string out;
  for (const Command* command : commands)
    out += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", last_word(command->name),
                                                            zsh_text(command->summary))));
  return out;
}

// `_arguments` of a command; its actions are tried first.
std::string zsh_case(const Entry& entry, const std::vector<Entry>& entries) {
  std::string out = fmt::format("    {})\n", last_word(entry.command->name));
  if (!entry.command->actions.empty()) {
    out += fmt::format(
        "      if (( CURRENT == 2 )); then\n        local -a actions=(\n{}        )\n"
        "        _describe 'command' actions\n      fi\n      case $words[2] in\n",
        zsh_described(entry.command->actions));
    for (const Command* action : entry.command->actions) {
      const auto found = std::ranges::find(entries, action, &Entry::command);
      out += fmt::format(
          "      {})\n        shift words; (( CURRENT-- ))\n        _arguments -s \\\n        {}\n"
          "        return ;;\n",
          last_word(action->name), zsh_specs(*found));
    }
    out += "      esac\n";
  }
  return out + fmt::format("      _arguments -s \\\n        {} ;;\n", zsh_specs(entry));
}

std::string zsh_script(Commands commands) {
  const std::vector<Entry> entries = entries_of(commands);
  std::string cases;
  for (const Entry& entry : entries)
    if (!entry.command->name.contains(' ')) cases += zsh_case(entry, entries);
  return fmt::format(R"(#compdef warpwright
# zsh completion for warpwright; made by `warpwright completion zsh`
_warpwright() {{
  local -a commands=(
{}    'help:show a text, or that of a command'
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    _arguments '--help[show help]' '--version[show the version]'
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
    help) _describe 'command' commands ;;
{}  esac
}}
_warpwright "$@"
)",
                     zsh_described(commands), cases);
}

// --- fish ----------------------------------------------------------------------------------------

// When a line of completion holds: after this command, and before or after the word of an action.
std::string fish_condition(const Entry& entry) {
  const std::string_view name = entry.command->name;
  const auto space = name.find(' ');
  if (space == std::string_view::npos) return fmt::format("__fish_seen_subcommand_from {}", name);
  return fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}",
                     name.substr(0, space), name.substr(space + 1));
}

std::string fish_option(const std::string& condition, const OptionRow& row) {
  std::string line = fmt::format("complete -c warpwright -n {}", shell_quoted(condition));
  for (const std::string& name : row.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!row.type.empty()) line += " -r";
  if (!row.words.empty()) line += fmt::format(" -f -a {}", shell_quoted(join(row.words, " ")));
  return fmt::format("{} -d {}\n", line, shell_quoted(first_line(row.help)));
}

std::string fish_commands(Commands commands, const std::string& condition) {
  std::string out;
  for (const Command* command : commands)
    out += fmt::format("complete -c warpwright -n {} -f -a {} -d {}\n", shell_quoted(condition),
                       last_word(command->name), shell_quoted(command->summary));
  return out;
}

std::string fish_script(Commands commands) {
  std::string out =
      "# fish completion for warpwright; made by `warpwright completion fish`\n" +
      fish_commands(commands, "__fish_use_subcommand") +
      "complete -c warpwright -n '__fish_use_subcommand' -f -a help -d 'show help'\n"
      "complete -c warpwright -n '__fish_use_subcommand' -l version -d 'show the version'\n";
  for (const Entry& entry : entries_of(commands)) {
    const std::string condition = fish_condition(entry);
    if (!entry.command->actions.empty())
      out += fish_commands(entry.command->actions,
                           fmt::format("{}; and not __fish_seen_subcommand_from {}", condition,
                                       join(last_words(entry.command->actions), " ")));
    for (const OptionRow& row : entry.rows) {
      if (is_option(row))
        out += fish_option(condition, row);
      else if (!row.words.empty())
        out += fmt::format("complete -c warpwright -n {} -f -a {}\n", shell_quoted(condition),
                           shell_quoted(join(row.words, " ")));
    }
  }
  return out;
}

std::string completion_script(std::string_view shell, Commands commands) {
  if (shell == "zsh") return zsh_script(commands);
  return shell == "fish" ? fish_script(commands) : bash_script(commands);
}

}  // namespace

}  // namespace ww::cli

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
