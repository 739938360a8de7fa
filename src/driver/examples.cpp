// SPDX-License-Identifier: Apache-2.0
#include "driver/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/suggest.h"
#include "driver/embedded.h"
#include "driver/report_json.h"

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
  Json list = Json::array();
  for (const Example& each : examples())
    list.push_back({{"name", each.name},
                    {"group", each.group},
                    {"path", each.path},
                    {"summary", each.summary},
                    {"commands", each.commands}});
  Json out = with_schema("examples");
  out["examples"] = list;
  return out;
}

}  // namespace ww::driver
