// SPDX-License-Identifier: Apache-2.0
#include "lsp/scopes.h"

#include <algorithm>

namespace ww::lsp {
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

}  // namespace ww::lsp
