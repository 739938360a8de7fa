// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fmt/format.h>
#include <regex.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/printable.h"
#include "cli/environment.h"

namespace ww::cli {

namespace {

constexpr std::size_t kFewestColumns = 40;
constexpr std::size_t kMaxColumns = 10000;
constexpr std::size_t kUsualColumns = 80;

std::optional<std::size_t> columns_from_environment() {
  const std::string text = environment("COLUMNS");
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return std::clamp(value, kFewestColumns, kMaxColumns);
}

std::size_t columns_of(int descriptor) {
  if (::isatty(descriptor) != 1) return 0;
  if (const auto given = columns_from_environment()) return *given;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return std::clamp<std::size_t>(size.ws_col, kFewestColumns, kMaxColumns);
}

// --- colours -------------------------------------------------------------------------------------

enum class Color : std::uint8_t { None, Bold, Dim, Red, Green, Yellow, Cyan };

std::string_view sequence(Color color) {
  static constexpr std::string_view kTexts[] = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m", "\x1b[1;31m",
                                                "\x1b[32m", "\x1b[33m", "\x1b[36m"};
  return kTexts[std::to_underlying(color)];
}

// The last group of an extended regular expression gets the colour.
struct Rule {
  const char* pattern;
  Color color;
  const char* also = nullptr;    // what the line must match as well
  const char* unless = nullptr;  // what it must not match
};

// Facts, verdicts, findings: docs/guide/running.md shows the reports.
constexpr Rule kReportRules[] = {
    {"^outcome     (finished)$", Color::Green},
    {"^outcome     (.*)$", Color::Red},
    {"^findings    (none)", Color::Green},
    {"^findings    ([0-9]+)", Color::Red},
    {"^  (remedy) ", Color::Cyan},
    // The label of a fact: its text begins in column 12, or 14 where it is indented.
    {"^([a-z]{1,10}) {2,}", Color::Bold, "^[a-z ]{11} [^ ]"},
    {"^  ([a-z]{1,10}) {2,}", Color::Bold, "^  [a-z ]{11} [^ ]",
     "^ {2}.{12}(chosen|declined|not asked)"},
    {"^expect `.*` (holds)", Color::Green},
    {"^expect `.*` (fails)", Color::Red},
    {"^  [a-z0-9_]+ +(chosen):", Color::Green},
    {"^  [a-z0-9_]+ +(declined)", Color::Yellow},
    {"^  [a-z0-9_]+ +(not asked)$", Color::Dim},
    {"^([a-z]+): [^:]+:[0-9]+:[0-9]+: ", Color::Red},
    {"^([a-z]+: )?([^:]+:[0-9]+:[0-9]+): ", Color::Bold},
    {"^  ([^ ][^:]*:[0-9]+:[0-9]+): ", Color::Bold},
    {"^([a-z]+): line [0-9]+: ", Color::Red},
    {"^(  )?[a-z]+: (line [0-9]+): ", Color::Bold},
    {"^(line [0-9]+)  ", Color::Dim},
    {"^line [0-9]+ +[^ ]+ +([a-z0-9_]+)  ", Color::Cyan},
    {": ([0-9]+ bank conflicts?)$", Color::Yellow},
    {"([0-9]+ elements? undefined)", Color::Yellow},
    {"^(rank  .*)$", Color::Bold},
    {"^(dropped)$", Color::Bold},
    {"^  (warpwright .*)$", Color::Cyan},
    {"^(injective)", Color::Green},
    {"^(not injective)", Color::Red},
    {"^(cells: .*|left out: .*)$", Color::Dim},
};
constexpr Rule kDiagnosticRules[] = {
    {"(error:) ", Color::Red},
    {"(note:) ", Color::Cyan},
    {"^(internal error:)", Color::Red},
    {"^([^:]+:[0-9]+:[0-9]+:) ", Color::Bold},
    {"^ +(\\^~*)$", Color::Green},
    {"did you mean (`[^`]*`)", Color::Green},
    {"(\\[[A-Z][A-Za-z]+\\])$", Color::Dim},
};

// Matching takes a second for some megabytes: long traces are not worth it.
constexpr std::size_t kLongestMatched = 1000;
constexpr std::size_t kLongestColored = std::size_t{1} << 20U;

// Not <regex>, which takes two seconds to compile.
class Pattern {
 public:
  explicit Pattern(const char* text) {
    WW_CHECK(::regcomp(&compiled_, text, REG_EXTENDED) == 0, "no regular expression: {}", text);
  }
  ~Pattern() { ::regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Where the last group of the first match is.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> find(
      const std::string& line) const {
    regmatch_t groups[3];
    WW_CHECK(compiled_.re_nsub < std::size(groups), "{} groups", compiled_.re_nsub);
    if (::regexec(&compiled_, line.c_str(), std::size(groups), groups, 0) != 0) return std::nullopt;
    const regmatch_t& last = groups[compiled_.re_nsub];
    return std::pair(static_cast<std::size_t>(last.rm_so), static_cast<std::size_t>(last.rm_eo));
  }

 private:
  regex_t compiled_{};
};

class Painter {
 public:
  explicit Painter(Look look) {
    const auto add = [&](std::span<const Rule> rules) {
      for (const Rule& rule : rules) rules_.emplace_back(rule);
    };
    if (look == Look::Report || look == Look::Table) add(kReportRules);
    if (look == Look::Diagnostics) add(kDiagnosticRules);
  }

  // A colour for each byte of the line; the first rule that has one for it wins.
  [[nodiscard]] std::vector<Color> colors(const std::string& line) const {
    std::vector<Color> out(line.size(), Color::None);
    if (line.size() > kLongestMatched) return out;
    for (const CompiledRule& rule : rules_) {
      const auto found = rule.pattern.find(line);
      if (!found || (rule.also && !rule.also->find(line))) continue;
      if (rule.unless && rule.unless->find(line)) continue;
      for (std::size_t i = found->first; i < found->second; ++i)
        if (out[i] == Color::None) out[i] = rule.color;
    }
    return out;
  }

 private:
  struct CompiledRule {
    explicit CompiledRule(const Rule& rule) : pattern(rule.pattern), color(rule.color) {
      if (rule.also != nullptr) also.emplace(rule.also);
      if (rule.unless != nullptr) unless.emplace(rule.unless);
    }
    Pattern pattern;
    std::optional<Pattern> also, unless;
    Color color;
  };
  std::deque<CompiledRule> rules_;
};

// --- breaking lines ------------------------------------------------------------------------------

constexpr std::size_t kSourceIndent = 4;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// How far what follows a break is indented: as the second column of the line, or a bit more than
// the line.
std::size_t hang_of(std::string_view line, std::size_t columns) {
  const std::size_t indent = indent_of(line);
  const std::size_t gap = line.find("  ", indent);
  std::size_t hang = indent + 4;
  if (gap != std::string_view::npos) hang = std::min(line.find_first_not_of(' ', gap), line.size());
  return hang > columns / 2 ? indent + 4 : hang;
}

// A row of a table: gaps between its columns, not just behind a label.
bool is_row(std::string_view line) {
  const std::size_t gap = line.find("  ", indent_of(line));
  if (gap == std::string_view::npos) return false;
  const std::size_t text = line.find_first_not_of(' ', gap);
  return text != std::string_view::npos && line.find("  ", text) != std::string_view::npos;
}

// Where a line is broken: bytes that are spaces.
std::vector<std::size_t> breaks_of(std::string_view line, std::size_t columns) {
  std::vector<std::size_t> breaks;
  const std::size_t indent = indent_of(line);
  if (columns == 0 || indent >= kSourceIndent || is_row(line)) return breaks;
  const std::size_t hang = hang_of(line, columns);
  std::size_t column = 0;
  std::size_t space = 0;  // the last one that could be a break; 0: none
  std::size_t space_column = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_single = line[i] == ' ' && i > indent && line[i - 1] != ' ' &&
                           i + 1 < line.size() && line[i + 1] != ' ';
    if (is_single && column <= columns) space = i, space_column = column;
    column += begins_character(line[i]) ? 1U : 0U;
    if (column > columns && space != 0) {
      breaks.push_back(space);
      column = hang + column - space_column - 1;
      space = 0;
    }
  }
  return breaks;
}

void add_line(std::string& out, const std::string& line, const Painter& painter,
              const Dress& dress) {
  const std::vector<Color> colors =
      dress.colored ? painter.colors(line) : std::vector<Color>(line.size(), Color::None);
  const std::vector<std::size_t> breaks = breaks_of(line, dress.columns);
  const std::string indent(breaks.empty() ? 0 : hang_of(line, dress.columns), ' ');
  Color now = Color::None;
  auto next = breaks.begin();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (colors[i] != now) {
      if (now != Color::None) out += sequence(Color::None);
      if (colors[i] != Color::None) out += sequence(colors[i]);
      now = colors[i];
    }
    if (next != breaks.end() && *next == i) {
      out += '\n';
      out += indent;
      ++next;
    } else {
      out += line[i];
    }
  }
  if (now != Color::None) out += sequence(Color::None);
}

}  // namespace

std::size_t terminal_columns() { return columns_of(STDOUT_FILENO); }

Dress dress_for(int descriptor, std::string_view color) {
  const std::size_t columns = columns_of(descriptor);
  const bool can_color =
      columns > 0 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {.colored = color == "always" || (color == "auto" && can_color), .columns = columns};
}

std::string dressed(std::string_view given, Look look, const Dress& wanted) {
  if (look == Look::Plain) return std::string(given);
  const std::string shown = printable(given, Breaks::Keep);
  std::string_view text = shown;
  const Dress dress{.colored = wanted.colored && text.size() <= kLongestColored,
                    .columns = look == Look::Table ? 0 : wanted.columns};
  if (!dress.colored && dress.columns == 0) return shown;
  const Painter painter(dress.colored ? look : Look::Plain);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    add_line(out, std::string(text.substr(0, end)), painter, dress);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

// --- progress ------------------------------------------------------------------------------------

namespace {

constexpr std::chrono::milliseconds kPause{100};

void write_text(const std::string& text) {
  // What a terminal does not take is no loss.
  [[maybe_unused]] const auto count = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::~Progress() {
  if (is_shown_) write_text("\r\x1b[K");
}

std::function<bool(std::uint64_t, std::uint64_t)> Progress::callback() {
  if (::isatty(STDERR_FILENO) != 1) return {};
  return [this](std::uint64_t done, std::uint64_t all) { return update(done, all); };
}

bool Progress::update(std::uint64_t done, std::uint64_t all) {
  const auto now = Clock::now();
  if (done < all && now - last_ >= kPause) {
    last_ = now;
    is_shown_ = true;
    write_text(fmt::format("\r\x1b[K{}%, {} of {} done", done * 100 / all, done, all));
  }
  return true;
}

}  // namespace ww::cli
