// SPDX-License-Identifier: Apache-2.0
#include "lsp/directives.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace ww::lsp {
namespace {

constexpr std::string_view kOrder = "warpwright:";
constexpr std::string_view kCommand = "warpwright run ";

struct DirectiveWord {
  std::string text;
  std::size_t begin = 0;  // in the line
  std::size_t end = 0;
};

// As a shell splits them: quotes of both kinds hold words together. Nothing for an open quote.
std::optional<std::vector<DirectiveWord>> shell_words(std::string_view line, std::size_t from) {
  std::vector<DirectiveWord> out;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = from; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && is_space(c)) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) out.push_back({"", i, i});
    out.back().end = i + 1;
    if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      out.back().text += c;
  }
  if (quote != 0) return std::nullopt;
  return out;
}

// Options from a word on. Returns the first word that is not an option, or an option without its value.
const DirectiveWord* read_options(const std::vector<DirectiveWord>& words, std::size_t from,
                                  Directive& out) {
  for (std::size_t i = from; i < words.size(); i += 2) {
    const std::string& name = words[i].text;
    const bool is_known = name == "--target" || name == "--arg" || name == "--expect" ||
                          (!out.is_order && (name == "--kernel" || name == "--device"));
    if (!is_known || i + 1 == words.size()) return &words[i];
    const std::string& value = words[i + 1].text;
    if (name == "--target") out.target = value;
    if (name == "--arg") out.args.push_back(value);
    if (name == "--expect") out.expects.push_back(value);
    if (name == "--kernel") out.kernel = value;
    if (name == "--device" && value == "cuda") return &words[i];
  }
  return nullptr;
}

// Where the options of an order begin: at the first ` --` outside quotes and brackets.
std::size_t end_of_expression(std::string_view line, std::size_t from) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = from; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (depth == 0 && is_space(c) && line.substr(i + 1).starts_with("--")) {
      return i;
    }
  }
  return line.size();
}

// `line` begins at byte `base` of the text, the expression at `from` in the line.
Directive read_order(std::string_view line, std::size_t from, std::size_t base) {
  Directive out{.is_order = true};
  while (from < line.size() && is_space(line[from])) ++from;
  std::size_t end = end_of_expression(line, from);
  const auto refuse = [&](std::size_t begin, std::size_t stop, const Diag& problem) {
    out.problem = Diag(problem).with_span(Span::at(base + begin, base + stop));
  };
  const auto words = shell_words(line, end);
  while (end > from && is_space(line[end - 1])) --end;
  out.kernel = line.substr(from, end - from);
  out.kernel_span = Span::at(base + from, base + end);
  if (out.kernel.empty())
    refuse(0, line.size(),
           diag(DiagKind::Syntax,
                "no kernel behind `warpwright:`, expected an expression such as "
                "`build(2)`"));
  else if (!words)
    refuse(end, line.size(), diag(DiagKind::Syntax, "a quote is not closed"));
  else if (const DirectiveWord* const bad = read_options(*words, 0, out))
    refuse(
        bad->begin, bad->end,
        diag(DiagKind::UnknownName,
             "`{}` behind `warpwright:`, expected `--arg`, `--expect` or `--target`, each with a "
             "value",
             bad->text));
  return out;
}

std::optional<Directive> read_command(std::string_view line, std::size_t from,
                                      std::string_view file) {
  const auto words = shell_words(line, from);
  if (!words || words->empty()) return std::nullopt;
  std::string_view named = words->front().text;
  named.remove_prefix(named.rfind('/') + 1);
  Directive out;
  if (named != file || read_options(*words, 1, out) != nullptr) return std::nullopt;
  return out;
}

}  // namespace

std::vector<Directive> directives_of(const Text& text, std::string_view path) {
  std::vector<Directive> out;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (std::size_t number = 0; number < text.line_count(); ++number) {
    const std::string_view line = text.line(number);
    std::size_t at = 0;
    while (at < line.size() && (is_space(line[at]))) ++at;
    if (at == line.size() || line[at] != '#') continue;
    while (at < line.size() && (line[at] == '#' || is_space(line[at]))) ++at;
    if (line.substr(at).starts_with(kOrder)) {
      out.push_back(read_order(line, at + kOrder.size(), text.line_begin(number)));
    } else if (line.substr(at).starts_with(kCommand)) {
      if (auto read = read_command(line, at + kCommand.size(), file))
        out.push_back(*std::move(read));
    }
  }
  return out;
}

}  // namespace ww::lsp
