// SPDX-License-Identifier: Apache-2.0
#include "driver/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/fail_at.h"
#include "base/file_io.h"
#include "base/join.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "driver/report_parts.h"

namespace ww::driver {

namespace {

constexpr std::string_view kFolder = "examples/";
constexpr std::string_view kSuffix = ".py";
constexpr std::string_view kCommand = "#   warpwright run ";

std::string_view bare_name(std::string_view name) {
  if (name.starts_with(kFolder)) name.remove_prefix(kFolder.size());
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return name;
}

// The lines of the comment that opens a file, without their `#`.
std::vector<std::string_view> opening_comment(std::string_view text) {
  std::vector<std::string_view> lines;
  while (text.starts_with('#')) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Up to a full stop, a colon or an empty line. What says of which other program a file is a
// variation says most.
std::string first_sentence(const std::vector<std::string_view>& comment) {
  const auto variation = std::ranges::find_if(
      comment, [](std::string_view line) { return line.starts_with("# The program of "); });
  std::string out;
  for (auto at = variation == comment.end() ? comment.begin() : variation; at != comment.end();
       ++at) {
    const std::string_view line = *at;
    if (line.size() < 2) break;
    out += (out.empty() ? "" : " ") + std::string(line.substr(2));
    const auto end = std::min(out.find(". "), out.find(": "));
    if (end != std::string::npos) return out.substr(0, end);
    if (out.ends_with('.') || out.ends_with(':')) break;
  }
  if (out.ends_with('.') || out.ends_with(':')) out.pop_back();
  return out;
}

// The command for the file, as the one for the example.
std::string command_of(const Example& example, std::string_view line) {
  std::string_view options = line.substr(kCommand.size());
  if (options.starts_with(example.path)) options.remove_prefix(example.path.size());
  return fmt::format("warpwright examples run {}{}", example.name, options);
}

Example example_of(const EmbeddedFile& file, std::string_view group) {
  const std::vector<std::string_view> comment = opening_comment(file.text);
  Example example{.name = std::string(bare_name(file.path)),
                  .group = std::string(group),
                  .path = std::string(file.path),
                  .summary = first_sentence(comment),
                  .commands = {},
                  .text = file.text};
  for (const std::string_view line : comment)
    if (line.starts_with(kCommand)) example.commands.push_back(command_of(example, line));
  return example;
}

// The group of each example, in the order of the index: lines below its name are indented.
std::vector<std::string_view> groups_of(std::string_view index) {
  std::vector<std::string_view> out;
  std::string_view group;
  while (!index.empty()) {
    const std::string_view line = index.substr(0, index.find('\n'));
    index.remove_prefix(std::min(line.size() + 1, index.size()));
    if (line.starts_with("  "))
      out.push_back(group);
    else
      group = line;
  }
  return out;
}

// What fits into a line of the list, whole words.
std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 90;
  if (text.size() <= kLongest) return text;
  text.resize(text.rfind(' ', kLongest - 4));
  return text + " ...";
}

}  // namespace

const std::vector<Example>& examples() {
  static const std::vector<Example> kExamples = [] {
    std::vector<Example> list;
    const std::vector<std::string_view> groups = groups_of(embedded_index().front().text);
    for (const EmbeddedFile& file : embedded_examples())
      list.push_back(example_of(file, groups.at(list.size())));
    return list;
  }();
  return kExamples;
}

Result<Example> find_example(std::string_view name) {
  const auto found = std::ranges::find(examples(), bare_name(name), &Example::name);
  if (found != examples().end()) return *found;
  std::vector<std::string_view> names;
  for (const Example& each : examples()) names.push_back(each.name);
  return fail(diag(DiagKind::UnknownName, "no example is called `{}`{}", name,
                   did_you_mean(bare_name(name), names))
                  .with_note("`warpwright examples` lists them"));
}

std::string examples_text() {
  std::size_t width = 0;
  for (const Example& each : examples()) width = std::max(width, each.name.size());
  std::string out;
  std::string_view group;
  for (const Example& each : examples()) {
    if (each.group != group) out += fmt::format("{}{}:\n", out.empty() ? "" : "\n", each.group);
    group = each.group;
    out += fmt::format("  {:<{}}  {}\n", each.name, width, shortened(each.summary));
  }
  return out;
}

Json examples_json() {
  Json list = json_list(examples(), [&](const Example& each) -> Json {
    return {{"name", each.name},
            {"group", each.group},
            {"path", each.path},
            {"summary", each.summary},
            {"commands", each.commands}};
  });
  Json out = with_schema("examples");
  out["examples"] = list;
  return out;
}

// --- starter -------------------------------------------------------------------------------------

namespace {

namespace fs = std::filesystem;

constexpr StarterKind kStarterKinds[] = {
    {"copy", "global to shared memory to registers and back (default)", "B == A"},
    {"transpose", "a tile transposed by ldmatrix, in swizzled shared memory", "B == A.T"},
    {"gemm", "a matrix product on tensor cores: ldmatrix and mma.sync", "D ~= A @ B"},
    {"tensor", "the tensor memory of Blackwell: tcgen05.st and tcgen05.ld", "B == 2 * A"},
};

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
// Names that the templates themselves use.
constexpr std::string_view kTaken[] = {"A", "B",  "D",     "K",      "M",      "N",  "R",     "S",
                                       "T", "Tx", "build", "kernel", "laneid", "tx", "warpid"};

Result<StarterKind> find_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kStarterKinds, name, &StarterKind::name);
  if (found != std::end(kStarterKinds)) return *found;
  std::vector<std::string_view> names;
  for (const StarterKind& kind : kStarterKinds) names.push_back(kind.name);
  return fail(DiagKind::UnknownName, "`{}` is not one of {}{}", name, join(names, ", "),
              did_you_mean(name, names));
}

std::string_view template_of(std::string_view kind) {
  const std::string path = fmt::format("src/driver/templates/{}.py", kind);
  for (const EmbeddedFile& file : embedded_templates())
    if (file.path == path) return file.text;
  WW_CHECK(false, "no template `{}`", path);
  return {};
}

std::string path_of(const std::string& name) { return name.ends_with(".py") ? name : name + ".py"; }

// The kernel's name: the last part of the path.
Result<std::string> kernel_name(const std::string& given) {
  const std::size_t begin = given.rfind('/') + 1;  // 0 where there is none
  const std::size_t end = given.size() - (given.ends_with(".py") ? 3 : 0);
  const std::string name = given.substr(std::min(begin, end), end - std::min(begin, end));
  const Span span = Span::at(begin, std::max(end, begin));
  if (!is_identifier(name))
    return fail_at(span, DiagKind::BadArgument,
                   "`{}` cannot be the name of a kernel: expected a letter or `_`, then letters, "
                   "digits and `_`",
                   name);
  if (std::ranges::find(kKeywords, name) != std::end(kKeywords))
    return fail_at(span, DiagKind::BadArgument,
                   "`{}` is a word of Python's and cannot name a kernel", name);
  if (std::ranges::find(kTaken, name) != std::end(kTaken))
    return fail_at(span, DiagKind::BadArgument,
                   "`{}` has a meaning in the program and cannot name its kernel", name);
  return name;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

Result<void> check_place(const fs::path& path, bool overwrites) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fail(DiagKind::Io, "`{}` is a folder", path.string());
  if (fs::exists(fs::symlink_status(path, ignored)) && !overwrites)
    return fail(diag(DiagKind::Io, "`{}` is there already", path.string())
                    .with_note("`--force` overwrites it"));
  const fs::path folder = path.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    return fail(DiagKind::Io, "there is no folder `{}` for `{}`", folder.string(),
                path.filename().string());
  return {};
}

}  // namespace

std::span<const StarterKind> starter_kinds() { return kStarterKinds; }

std::string shell_word(std::string_view word) {
  constexpr std::string_view kHarmless = "_-./+:=@%,";
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [&](char c) {
    return is_name_char(c) || kHarmless.contains(c);
  });
  if (is_plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

Result<Starter> make_starter(const StarterRequest& request) {
  const StarterKind kind = WW_TRY(find_kind(request.kind));
  const std::string name = WW_TRY(kernel_name(request.name));
  Starter starter{.path = path_of(request.name), .text = std::string(template_of(kind.name))};
  // A name that begins with a dash would be taken for an option.
  const std::string file = printable_name(
      shell_word(starter.path.starts_with('-') ? "./" + starter.path : starter.path));
  starter.run = fmt::format("warpwright run {} --expect '{}'", file, kind.expect);
  starter.explain = fmt::format("warpwright explain {}", file);
  replace_all(starter.text, "{{name}}", name);
  replace_all(starter.text, "{{run}}", fmt::format("warpwright run {}", file));
  replace_all(starter.text, "{{explain}}", starter.explain);
  return starter;
}

Result<Starter> write_starter(const StarterRequest& request) {
  Starter starter = WW_TRY(make_starter(request));
  WW_TRY_VOID(check_place(starter.path, request.overwrites));
  WW_TRY_VOID(write_file_atomically(starter.path, starter.text));
  return starter;
}

}  // namespace ww::driver
