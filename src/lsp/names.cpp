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
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::lsp {

// --- scopes --------------------------------------------------------------------------------------

namespace {

using script::ExprId;
using script::ExprKind;
using script::ListOf;
using script::Param;
using script::Place;
using script::Stmt;
using script::StmtId;
using script::StmtKind;

bool holds(Place place, std::size_t offset) { return place.begin <= offset && offset <= place.end; }

class ScopeWalk {
 public:
  ScopeWalk(const Syntax& syntax, std::size_t offset) : syntax_(syntax), offset_(offset) {}

  // The scopes around the place, the innermost last; each with what it binds.
  std::vector<std::vector<Binding>> run() {
    scopes_.emplace_back();
    add_block(syntax_.ast.body, 0);
    add_expressions();
    return std::move(scopes_);
  }

 private:
  [[nodiscard]] std::string name(script::Symbol symbol) const {
    return std::string(syntax_.symbols.text(symbol));
  }

  void bind(std::size_t scope, Binding binding) { scopes_[scope].push_back(std::move(binding)); }

  void add_targets(ExprId target, std::size_t scope) {
    script::for_each_bound_name(syntax_.ast, target, [&](const script::Expr& e) {
      bind(scope, {Binding::Kind::Variable, name(e.name), e.place.span()});
    });
  }

  void add_params(ListOf<Param> params, std::size_t scope) {
    for (const Param& each : syntax_.ast.list(params))
      if (each.name.valid())
        bind(scope, {Binding::Kind::Parameter, name(each.name), each.place.span()});
  }

  void add_block(ListOf<StmtId> block, std::size_t scope) {
    for (const StmtId id : syntax_.ast.list(block)) add_stmt(syntax_.ast[id], scope);
  }

  void add_stmt(const Stmt& s, std::size_t scope) {
    switch (s.kind) {
      case StmtKind::Assign:
      case StmtKind::AugAssign:
      case StmtKind::AnnAssign:
      case StmtKind::For:
        for (const ExprId target : syntax_.ast.list(s.items)) add_targets(target, scope);
        break;
      case StmtKind::With:
        for (const script::WithItem& item : syntax_.ast.list(s.withs))
          if (item.target.valid()) add_targets(item.target, scope);
        break;
      case StmtKind::Import:
      case StmtKind::ImportFrom:
        return add_imports(s, scope);
      case StmtKind::FunctionDef:
      case StmtKind::ClassDef:
        return add_definition(s, scope);
      default:
        break;
    }
    add_block(s.body, scope);
    add_block(s.other, scope);
  }

  void add_imports(const Stmt& s, std::size_t scope) {
    for (const script::Import& each : syntax_.ast.list(s.imports)) {
      Binding binding{Binding::Kind::Import, name(each.as), each.place.span()};
      if (s.kind == StmtKind::ImportFrom) binding.module = syntax_.ast.strings[s.module];
      binding.imported = each.path;
      bind(scope, std::move(binding));
    }
  }

  void add_definition(const Stmt& s, std::size_t scope) {
    const bool is_class = s.kind == StmtKind::ClassDef;
    Binding binding{is_class ? Binding::Kind::Class : Binding::Kind::Function, name(s.name),
                    s.name_place.span()};
    if (!is_class) binding.parameters = parameters_of(s);
    bind(scope, std::move(binding));
    if (!holds(s.place, offset_)) return;
    scopes_.emplace_back();
    const std::size_t inner = scopes_.size() - 1;
    add_params(s.params, inner);
    add_block(s.body, inner);
  }

  // As it is written between the name and the colon.
  [[nodiscard]] std::string parameters_of(const Stmt& s) const {
    std::string_view head(syntax_.text->bytes());
    head = head.substr(s.name_place.end, s.head.end - s.name_place.end);
    std::string out;
    for (const char c : head) {
      const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
      if (!is_blank)
        out += c;
      else if (!out.empty() && out.back() != ' ')
        out += ' ';
    }
    while (!out.empty() && (out.back() == ':' || out.back() == ' ')) out.pop_back();
    return out;
  }

  // Lambdas and comprehensions around the place.
  void add_expressions() {
    scopes_.emplace_back();
    for (const script::Expr& e : syntax_.ast.exprs) {
      if (!holds(e.place, offset_)) continue;
      if (e.kind == ExprKind::Lambda) add_params(e.params, scopes_.size() - 1);
      for (const script::Clause& clause : syntax_.ast.list(e.clauses))
        add_targets(clause.target, scopes_.size() - 1);
    }
  }

  const Syntax& syntax_;
  std::size_t offset_;
  std::vector<std::vector<Binding>> scopes_;
};

// The last before the place first, then those behind it.
void put_nearest_first(std::vector<Binding>& scope, std::size_t offset) {
  const auto behind = std::stable_partition(
      scope.begin(), scope.end(), [&](const Binding& each) { return each.span.begin <= offset; });
  std::reverse(scope.begin(), behind);
}

}  // namespace

std::vector<Binding> visible_at(const Syntax& syntax, std::size_t offset) {
  std::vector<std::vector<Binding>> scopes = ScopeWalk(syntax, offset).run();
  std::vector<Binding> out;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    put_nearest_first(*scope, offset);
    std::ranges::move(*scope, std::back_inserter(out));
  }
  return out;
}

std::optional<Binding> binding_of(const Syntax& syntax, std::string_view name, std::size_t offset) {
  std::vector<Binding> all = visible_at(syntax, offset);
  const auto found = std::ranges::find(all, name, &Binding::name);
  return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

std::optional<Binding> binding_in_file(const Syntax& syntax, std::string_view name) {
  // No function has the place behind the end.
  return binding_of(syntax, name, syntax.text->bytes().size() + 1);
}

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
