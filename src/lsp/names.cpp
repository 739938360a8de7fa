// SPDX-License-Identifier: Apache-2.0
#include "lsp/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/join.h"
#include "base/split.h"
#include "driver/reference.h"
#include "ir/settings.h"
#include "lower/variant.h"
#include "num/dtype.h"
#include "script/api/tile_calls.h"
#include "script/interp/imports.h"

namespace ww::lsp {
namespace {

using driver::ReferenceRow;

// The rows of the reference, by name.
const std::map<std::string, ReferenceRow, std::less<>>& name_rows() {
  static const auto rows = [] {
    std::map<std::string, ReferenceRow, std::less<>> out;
    for (ReferenceRow& row : driver::reference_rows("names")) out.try_emplace(row.name, row);
    return out;
  }();
  return rows;
}

std::string plain_parameter(std::string_view word) {
  while (word.starts_with('*')) word.remove_prefix(1);
  return std::string(word.substr(0, word.find_first_of("?=")));
}

ApiName api_of_row(const ReferenceRow& row) {
  ApiName out{.name = std::string(last_word(row.name)),
              .signature = row.text,
              .about = row.group,
              .is_function = row.text.ends_with(')')};
  for (const std::string& word : row.words) out.parameters.push_back(plain_parameter(word));
  return out;
}

bool has_word(std::string_view words, std::string_view wanted) {
  const auto all = split_words(words, ' ');
  return std::ranges::find(all, wanted) != all.end();
}

std::vector<const ReferenceRow*> settings_of_op(std::string_view op) {
  static const std::vector<ReferenceRow> rows = driver::reference_rows("settings");
  std::vector<const ReferenceRow*> out;
  for (const ReferenceRow& row : rows)
    if (has_word(row.group, op)) out.push_back(&row);
  return out;
}

ApiName api_of_primitive(std::string_view path) {
  static const std::vector<ReferenceRow> rows = driver::reference_rows("primitives");
  const std::string_view op = last_word(path);
  const auto row = std::ranges::find(rows, op, &ReferenceRow::name);
  ApiName out{.name = std::string(op), .signature = {}, .about = "Tile primitive"};
  if (row == rows.end()) return out;
  std::vector<std::string> shown;
  for (const ir::TileParam& param : ir::params_of(*ir::find_tile_op(op))) {
    const std::string_view value = !param.default_text.empty() ? param.default_text
                                   : param.required            ? ""
                                                               : "None";
    shown.push_back(value.empty() ? std::string(param.name)
                                  : fmt::format("{}={}", param.name, value));
    out.parameters.emplace_back(param.name);
  }
  out.signature = fmt::format("{}({})", path, join(shown, ", "));
  out.about += fmt::format("; variants: {}", join(row->words, ", "));
  for (const ReferenceRow* setting : settings_of_op(op)) out.keywords.push_back(setting->name);
  if (!out.keywords.empty()) out.about += fmt::format("; settings: {}", join(out.keywords, ", "));
  out.keywords.emplace_back("dispatch");
  return out;
}

// What the file's import of a name stands for in the reference.
std::optional<std::string> imported_path(const Syntax& syntax, std::string_view name) {
  for (const script::Stmt& s : syntax.ast.stmts)
    for (const script::Import& import : syntax.ast.list(s.imports)) {
      if (syntax.symbols.text(import.as) != name) continue;
      const bool is_from = s.kind == script::StmtKind::ImportFrom;
      const std::string module = is_from ? syntax.ast.strings[s.module] : "";
      if (const auto space =
              script::known_module(is_from ? module + "." + import.path : import.path))
        return std::string(*space);
      const auto space = is_from ? script::known_module(module) : std::nullopt;
      if (space) return fmt::format("{}.{}", *space, import.path);
    }
  return std::nullopt;
}

constexpr std::string_view kLayoutSpace = "layout.";  // its names stand alone in the reference

}  // namespace

std::string_view last_word(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string reference_path(const Analysis& analysis, std::string_view path) {
  const std::string_view first = path.substr(0, path.find('.'));
  const std::string_view rest = path.substr(first.size());
  std::optional<std::string> space;
  if (analysis.syntax != nullptr) space = imported_path(*analysis.syntax, first);
  if (!space && std::ranges::binary_search(analysis.buffers, first)) space = "B";
  std::string out = space.value_or(std::string(first)) + std::string(rest);
  return out.starts_with(kLayoutSpace) ? out.substr(kLayoutSpace.size()) : out;
}

std::optional<ApiName> find_api(std::string_view path) {
  if (const auto row = name_rows().find(path); row != name_rows().end())
    return api_of_row(row->second);
  if (script::parse_tile_path(path)) return api_of_primitive(path);
  return std::nullopt;
}

std::vector<ApiName> api_members(std::string_view path) {
  std::vector<ApiName> out;
  const std::string prefix = path.empty() ? "" : fmt::format("{}.", path);
  for (const auto& [name, row] : name_rows())
    if (name.starts_with(prefix) && name.find('.', prefix.size()) == std::string::npos)
      out.push_back(api_of_row(row));
  if (script::is_tile_namespace(path))
    for (const std::string_view op : ir::all_tile_op_names())
      out.push_back(api_of_primitive(fmt::format("{}.{}", path, op)));
  return out;
}

std::vector<std::string> api_namespaces(std::string_view path) {
  std::vector<std::string> out;
  const std::string prefix = fmt::format("{}.", path);
  for (const auto& [name, row] : name_rows()) {
    if (!name.starts_with(prefix)) continue;
    const std::size_t dot = name.find('.', prefix.size());
    if (dot == std::string::npos) continue;
    const std::string space = name.substr(prefix.size(), dot - prefix.size());
    if (std::ranges::find(out, space) == out.end()) out.push_back(space);
  }
  for (const std::string_view scope : {"thread", "warp", "wg", "cta", "cluster"})
    if (script::is_tile_namespace(prefix + std::string(scope))) out.emplace_back(scope);
  return out;
}

std::vector<std::string> values_of(std::string_view path, std::string_view parameter) {
  std::vector<std::string> out;
  if (script::parse_tile_path(path)) {
    const std::string_view op = last_word(path);
    if (parameter == "dispatch")
      for (const lower::Variant* variant : lower::variants_of(*ir::find_tile_op(op)))
        out.emplace_back(variant->name);
    for (const ReferenceRow* row : settings_of_op(op))
      if (row->name == parameter && !row->words[0].starts_with('(')) out = row->words;
    return out;
  }
  if (parameter == "dtype")
    for (const num::DType type : num::all_dtypes()) out.emplace_back(num::name_of(type));
  if (parameter == "scope")
    for (const ir::Scope scope : {ir::Scope::Global, ir::Scope::Shared, ir::Scope::SharedDyn,
                                  ir::Scope::Local, ir::Scope::Tmem})
      out.emplace_back(ir::name_of(scope));
  if (parameter == "layout") out.emplace_back("auto");
  return out;
}

}  // namespace ww::lsp
