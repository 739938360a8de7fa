// SPDX-License-Identifier: Apache-2.0
#include "driver/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/split.h"
#include "driver/report_parts.h"
#include "ir/settings.h"
#include "lower/rules.h"
#include "lower/variant.h"
#include "script/api/builtins.h"
#include "script/compile.h"

namespace ww::driver {
namespace {

using Words = std::vector<std::string>;

using Rows = std::vector<ReferenceRow>;

// Without the blanks that follow a separator.
Words words_of(std::string_view text, char by) {
  Words out;
  for (std::string_view word : split_words(text, by)) {
    while (word.starts_with(' ')) word.remove_prefix(1);
    out.emplace_back(word);
  }
  return out;
}

std::string in_code(const Words& words) {
  std::string out;
  for (const std::string& word : words) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", word);
  return out;
}

// --- names ---------------------------------------------------------------------------------------

// Types of values are written as one would name such a value.
std::string shown_name(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kPrefixes[] = {
      {"buffer.", "B."}, {"dtype.", "d."}, {"layout_value.", "L."}, {"layout.", ""}};
  for (const auto& [prefix, shown] : kPrefixes)
    if (name.starts_with(prefix)) return fmt::format("{}{}", shown, name.substr(prefix.size()));
  return std::string(name);
}

// "T.cast(value, dtype)": brackets around what may be left out, `…` for what all declarations of
// buffers take.
ReferenceRow function_row(std::string_view group, std::string_view name,
                          std::string_view signature) {
  ReferenceRow row{.group = std::string(group), .name = shown_name(name), .words = {}};
  row.words = words_of(signature, ',');
  Words shown;
  for (const std::string& word : row.words)
    shown.push_back(word.ends_with('?') ? fmt::format("[{}]", word.substr(0, word.size() - 1))
                                        : word);
  if (signature.find("axis_separators?") != std::string_view::npos) {
    const auto shape = std::ranges::find(shown, "shape");
    shown.erase(shape + 1, shown.end());
    shown.emplace_back("…");
  }
  row.text = fmt::format("{}({})", row.name, join(shown, ", "));
  return row;
}

void add_values(Rows& out, const std::string& group, const std::string& prefix,
                const Words& names) {
  for (const std::string& name : names) {
    const std::string full = shown_name(fmt::format("{}.{}", prefix, name));
    out.push_back({.group = group, .name = full, .text = full});
  }
}

Words names_of_dtypes() {
  Words out;
  for (const num::DType type : num::all_dtypes()) out.emplace_back(num::name_of(type));
  return out;
}

Rows names() {
  Rows out;
  add_values(out, "Types", "T", names_of_dtypes());
  for (const script::FunctionTable& table : script::function_tables())
    for (const script::BuiltinRow& row : table.rows)
      out.push_back(function_row(table.title, row.name, row.signature));
  const auto intrinsics = script::intrinsic_rows();
  for (std::size_t i = 0; i < intrinsics.size(); ++i)  // a row of a table may replace an intrinsic
    if (script::find_builtin(intrinsics[i].name) == &intrinsics[i])
      out.push_back(
          function_row(ir::all_intrinsics()[i].group, intrinsics[i].name, intrinsics[i].signature));
  for (const script::PtxFunction& each : script::all_ptx_functions())
    out.push_back(function_row("Instructions as functions", fmt::format("T.ptx.{}", each.name),
                               each.signature));
  for (const script::AttributeRow& row : script::attribute_rows())
    add_values(out, "Attributes", row.type == "layout" ? "layout_value" : std::string(row.type),
               words_of(row.names, ' '));
  return out;
}

// A paragraph in lines of at most 119 columns; no item is broken.
std::string paragraph(std::string_view title, const Words& items) {
  constexpr std::size_t kColumns = 119;
  std::string out = fmt::format("**{}.**", title);
  std::size_t column = out.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = fmt::format("`{}`{}", items[i], i + 1 < items.size() ? "," : "");
    const bool fits = column + 1 + item.size() <= kColumns;
    out += (fits ? " " : "\n") + item;
    column = fits ? column + 1 + item.size() : item.size();
  }
  return out + "\n";
}

std::string names_text(const Rows& rows) {
  std::vector<std::pair<std::string, Words>> groups;  // in the order of their first rows
  for (const ReferenceRow& row : rows) {
    auto at = std::ranges::find(groups, row.group, &std::pair<std::string, Words>::first);
    if (at == groups.end()) at = groups.insert(at, {row.group, {}});
    at->second.push_back(row.text);
  }
  std::string out;
  for (const auto& [title, items] : groups)
    out += (out.empty() ? "" : "\n") + paragraph(title, items);
  return out;
}

// --- what of TVM is not taken --------------------------------------------------------------------

Rows not_taken() {
  Rows out;
  for (const script::NotTaken& each : script::not_taken_rows()) {
    const bool is_prefix = each.is_name && each.name.ends_with('.');
    out.push_back({.group = each.is_name ? "name" : "construct",
                   .name = fmt::format("{}{}", each.name, is_prefix ? "*" : ""),
                   .text = std::string(each.reason)});
  }
  return out;
}

std::string not_taken_text(const Rows& rows) {
  std::vector<std::pair<std::string, Words>> reasons;
  for (const ReferenceRow& row : rows) {
    auto at = std::ranges::find(reasons, row.text, &std::pair<std::string, Words>::first);
    if (at == reasons.end()) at = reasons.insert(at, {row.text, {}});
    at->second.push_back(row.group == "name" ? fmt::format("`{}`", row.name) : row.name);
  }
  std::string out = "| what | why not |\n|---|---|\n";
  for (const auto& [reason, names] : reasons)
    out += fmt::format("| {} | {} |\n", join(names, ", "), reason);
  return out;
}

// --- tile primitives -----------------------------------------------------------------------------

Rows primitives() {
  Rows out;
  for (const std::string_view name : ir::all_tile_op_names()) {
    const ir::TileOp op = *ir::find_tile_op(name);
    Words arguments;
    for (const ir::TileParam& param : ir::params_of(op))
      arguments.push_back(fmt::format("{}{}{}", param.name, param.default_text.empty() ? "" : "=",
                                      param.default_text) +
                          (param.required || !param.default_text.empty() ? "" : "?"));
    ReferenceRow row{.name = std::string(name), .text = join(arguments, ", ")};
    for (const lower::Variant* variant : lower::variants_of(op))
      row.words.emplace_back(variant->name);
    out.push_back(std::move(row));
  }
  return out;
}

std::string primitives_text(const Rows& rows) {
  std::string out = "| primitive | arguments | variants |\n|---|---|---|\n";
  for (const ReferenceRow& row : rows)
    out += fmt::format("| `{}` | `{}` | {} |\n", row.name, row.text,
                       row.words.empty() ? "none" : in_code(row.words));
  return out;
}

Rows settings() {
  Rows out;
  for (const ir::SettingFacts& facts : ir::all_setting_facts()) {
    const auto pairs = facts.memory_pairs();
    ReferenceRow row{
        .group = std::string(facts.ops),
        .name = std::string(facts.name),
        .text = pairs.empty() ? "any" : join(pairs, ", "),
    };
    for (const std::string_view word : facts.words()) row.words.emplace_back(word);
    if (row.words.empty()) row.words.push_back(fmt::format("({})", facts.values));
    out.push_back(std::move(row));
  }
  return out;
}

std::string settings_text(const Rows& rows) {
  std::string out = "| of | setting | values | memories |\n|---|---|---|---|\n";
  for (const ReferenceRow& row : rows) {
    const bool is_kind = row.words[0].starts_with('(');
    const std::string values =
        is_kind ? row.words[0].substr(1, row.words[0].size() - 2) : in_code(row.words);
    out += fmt::format("| {} | `{}` | {} | {} |\n", in_code(words_of(row.group, ' ')), row.name,
                       values, row.text);
  }
  return out;
}

// --- diagnostics ---------------------------------------------------------------------------------

Rows kinds() {
  Rows out;
  for (const DiagKind kind : all_diag_kinds())
    out.push_back({.group = std::string(group_of(kind)),
                   .name = std::string(name_of(kind)),
                   .text = std::string(meaning_of(kind))});
  return out;
}

std::string kinds_text(const Rows& rows) {
  std::string out = "| kind | meaning |\n|---|---|\n";
  std::string_view group;
  for (const ReferenceRow& row : rows) {
    if (row.group != group) out += fmt::format("| **{}** | |\n", row.group);
    group = row.group;
    out += fmt::format("| `{}` | {} |\n", row.name, row.text);
  }
  return out;
}

Rows rules() {
  Rows out;
  for (const lower::RuleFacts& rule : lower::kRules)
    out.push_back({.name = std::string(rule.name), .text = std::string(rule.about)});
  return out;
}

std::string rules_text(const Rows& rows) {
  std::string out = "| rule | what is wrong |\n|---|---|\n";
  for (const ReferenceRow& row : rows) out += fmt::format("| `{}` | {} |\n", row.name, row.text);
  return out;
}

Rows library() {
  Rows out;
  for (const script::LibraryClass& each : script::library_classes())
    out.push_back({.name = std::string(each.name), .text = std::string(each.text)});
  return out;
}

std::string library_text(const Rows&) { return std::string(script::library_text()); }

// --- all -----------------------------------------------------------------------------------------

struct Topic {
  std::string_view name;
  Rows (*rows)();
  std::string (*text)(const Rows&);
};
constexpr Topic kTopics[] = {{"names", names, names_text},
                             {"not-taken", not_taken, not_taken_text},
                             {"primitives", primitives, primitives_text},
                             {"settings", settings, settings_text},
                             {"kinds", kinds, kinds_text},
                             {"rules", rules, rules_text},
                             {"library", library, library_text}};
static_assert(std::ranges::equal(kTopics, kReferenceTopics, {}, &Topic::name));

const Topic& find_topic(std::string_view name) {
  const auto* found = std::ranges::find(kTopics, name, &Topic::name);
  WW_CHECK(found != std::end(kTopics), "no topic `{}`", name);
  return *found;
}

}  // namespace

std::vector<ReferenceRow> reference_rows(std::string_view topic) {
  return find_topic(topic).rows();
}

std::string reference_text(std::string_view topic) {
  const Topic& found = find_topic(topic);
  return found.text(found.rows());
}

Json reference_json(std::string_view topic) {
  Json rows = json_list(find_topic(topic).rows(), [](const ReferenceRow& row) -> Json {
    return {{"group", row.group}, {"name", row.name}, {"text", row.text}, {"words", row.words}};
  });
  return with_schema("reference", {{"topic", topic}, {"rows", rows}});
}

// --- variants ------------------------------------------------------------------------------------

namespace {

// Primitive by primitive in the order of their table, each in the order of trying.
std::vector<const lower::Variant*> in_order() {
  std::vector<const lower::Variant*> out;
  for (const std::string_view op : ir::all_tile_op_names())
    for (const lower::Variant* each : lower::variants_of(*ir::find_tile_op(op)))
      out.push_back(each);
  return out;
}

std::vector<std::string> aliases_of(const lower::Variant& variant) {
  const std::vector<std::string_view> words = split_words(variant.aliases);
  return {words.begin(), words.end()};
}

}  // namespace

std::string variants_text() {
  std::string out;
  for (const lower::Variant* each : in_order()) {
    const std::vector<std::string> aliases = aliases_of(*each);
    out += fmt::format("{:<15}{:<14}{:>3}  {}{}{}\n", ir::name_of(each->op), each->name,
                       each->priority, each->about, each->only_by_name ? "; only by name" : "",
                       aliases.empty() ? "" : fmt::format("; also {}", join(aliases, ", ")));
  }
  return out;
}

Json variants_json() {
  Json rows = json_list(in_order(), [&](const lower::Variant* each) -> Json {
    return {{"op", ir::name_of(each->op)},  {"name", each->name},
            {"priority", each->priority},   {"only_by_name", each->only_by_name},
            {"aliases", aliases_of(*each)}, {"about", each->about}};
  });
  return with_schema("variants", {{"variants", rows}});
}

}  // namespace ww::driver
