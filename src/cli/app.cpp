// SPDX-License-Identifier: Apache-2.0
#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/source.h"
#include "base/split.h"
#include "base/suggest.h"
#include "cli/command.h"
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

// --- help ----------------------------------------------------------------------------------------

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

// --- manual --------------------------------------------------------------------------------------

namespace {

constexpr HelpRow kEnvironment[] = {
    {"NO_COLOR", "If set and not empty, nothing is coloured unless --color always is given."},
    {"COLUMNS", "The width to use instead of the terminal's."},
    {"PTXAS", "The path of NVIDIA's assembler, for cubins and for the registers of a kernel."},
    {"PATH", "Where to look for it otherwise."},
    {"WW_BENCH_KERNELS", "Kernels for `warpwright bench kernels`."}};

// What roff would take for something else.
std::string_view escape_of(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '`':
      return "\\(ga";
    case '\'':
      return "\\(aq";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return "";
  }
}

// The character of UTF-8 that a text begins with, which is no ASCII: "\[u2026]".
std::string wide_escape(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
  unsigned code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < std::min(length, text.size()); ++i)
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(std::min(length, text.size()));
  return fmt::format("\\[u{:04X}]", code);
}

// A point that begins a line would make it a request.
std::string plain(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.' && (out.empty() || out.ends_with('\n'))) out += "\\&";
    if ((static_cast<unsigned char>(c) & 0x80U) != 0) {
      out += wide_escape(text);
      continue;
    }
    const std::string_view escape = escape_of(c);
    if (escape.empty())
      out += c;
    else
      out += escape;
    text.remove_prefix(1);
  }
  return out;
}

std::string code_block(std::string_view text) { return fmt::format(".EX\n{}\n.EE\n", plain(text)); }

// Sentences; an empty line begins a paragraph.
std::string paragraphs(std::string_view text) {
  std::string out = plain(text);
  for (std::size_t at = 0; (at = out.find("\n\n")) != std::string::npos;)
    out.replace(at, 2, "\n.PP\n");
  return out + "\n";
}

// Help aligns columns with spaces, so a line with a gap in it is kept as it is.
bool is_aligned(std::string_view help) { return help.contains('\n') && help.contains("  "); }

std::string body(std::string_view text) {
  return is_aligned(text) ? fmt::format(".nf\n{}\n.fi\n", plain(text)) : plain(text) + "\n";
}

std::string tagged(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}", plain(tag), body(text));
}

std::string option_entry(const OptionRow& row) {
  std::string tag;
  for (const std::string& name : row.names)
    tag += fmt::format("{}\\fB{}\\fR", tag.empty() ? "" : ", ", plain(name));
  if (!row.type.empty()) tag += fmt::format(" \\fI{}\\fR", plain(row.type));
  return fmt::format(".TP\n{}\n{}", tag, body(row.help));
}

std::string command_section(const Command& command) {
  OptionSet options;
  (void)command.set_up(options);
  std::string usage = fmt::format("\\fBwarpwright {}\\fR", plain(command.name));
  std::string entries;
  for (const OptionRow& row : options.rows()) {
    if (row.is_argument) usage += plain(usage_of(row));
    // Options that every command has are listed once.
    if (row.names.back() != "--help" && row.names.back() != "--color") entries += option_entry(row);
  }
  std::string out = fmt::format(".SS {}\n.PP\n{} [\\fIOPTION\\fR...]\n.PP\n{}", plain(command.name),
                                usage, paragraphs(command.description));
  out += entries + ".PP\nExamples:\n.PP\n" + code_block(command.examples);
  for (const Command* action : command.actions) out += command_section(*action);
  return out;
}

std::string rows(std::span<const HelpRow> list) {
  std::string out;
  for (const HelpRow& row : list) out += tagged(row.typed, row.help);
  return out;
}

}  // namespace

std::string manual_page(std::span<const Command* const> commands) {
  std::string out = fmt::format(
      ".TH WARPWRIGHT 1 \"\" \"Warpwright {}\" \"User Commands\"\n"
      ".SH NAME\n"
      "warpwright \\- a tile\\-primitive compiler for NVIDIA GPUs\n"
      ".SH SYNOPSIS\n"
      "\\fBwarpwright\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n"
      ".br\n"
      "\\fBwarpwright help\\fR [\\fICOMMAND\\fR]\n"
      ".br\n"
      "\\fBwarpwright \\-\\-version\\fR\n"
      ".SH DESCRIPTION\n"
      "Warpwright compiles tile programs, which are written in the syntax of TVMScript, to PTX "
      "and\n"
      "CUDA C++: it chooses the instructions for every tile primitive, checks before emission "
      "that\n"
      "they move the right elements, and says why it took no others. It runs the result on a GPU, "
      "or on a\n"
      "virtual one that checks what hardware lets pass.\n"
      ".SH COMMANDS\n",
      version());
  for (const Command* command : commands) out += command_section(*command);
  out += ".SH OPTIONS OF ALL COMMANDS\n" + tagged("-h, --help", "Show the help of the command.") +
         tagged("--color auto|always|never",
                "Whether text is coloured; auto: on a terminal, unless NO_COLOR is set.");
  out += ".SH EXIT STATUS\n" + rows(kExitStatus);
  out += ".SH ENVIRONMENT\n" + rows(kEnvironment);
  return out + ".SH SEE ALSO\n" + "The pages in the folder of documents that comes with the " +
         "program, beginning with \\fIguide/running.md\\fR and \\fIreference/language.md\\fR.\n";
}

// --- the list of commands ------------------------------------------------------------------------

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
