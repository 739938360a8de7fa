// SPDX-License-Identifier: Apache-2.0
#include "script/interp/candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "script/interp/evaluator.h"

namespace ww::script {
namespace {

constexpr std::size_t kShown = 20;

// The file's names for the language: `T`, or what its imports call it.
class Finder {
 public:
  Finder(const Ast& ast, const SymbolTable& symbols) : ast_(ast), symbols_(symbols) {
    for (const Stmt& s : ast.stmts)
      for (const Import& import : ast.list(s.imports)) add(s, import);
  }

  bool imports_tile = false;

  [[nodiscard]] bool is_language(ExprId id) const {
    const Expr& e = ast_[id];
    return e.kind == ExprKind::Name && is_one_of(e.name, language_, "T");
  }

  [[nodiscard]] bool is_package(ExprId id) const {
    const Expr& e = ast_[id];
    return e.kind == ExprKind::Name && is_one_of(e.name, packages_, "warpwright");
  }

  // `@T.prim_func`, `@ww.kernel`, `@T.jit(…)`, `@prim_func`; but not `@torch.jit`.
  [[nodiscard]] bool is_kernel_decorator(ExprId id) const {
    const Expr* e = &ast_[id];
    if (e->kind == ExprKind::Call) e = &ast_[e->a];
    if (e->kind == ExprKind::Name)
      return is_one_of(e->name, decorators_, "") ||
             (imports_all_ && is_decorator(symbols_.text(e->name)));
    if (e->kind != ExprKind::Attribute) return false;
    const std::string_view name = symbols_.text(e->name);
    if (name == "kernel") return is_package(e->a);
    return name == "prim_func" || ((name == "jit" || name == "function") && is_language(e->a));
  }

  [[nodiscard]] bool is_kernel(const Stmt& s) const {
    if (s.kind != StmtKind::FunctionDef) return false;
    const std::span<const ExprId> decorators = ast_.list(s.decorators);
    return std::ranges::any_of(decorators, [&](ExprId id) { return is_kernel_decorator(id); });
  }

  void kernels_inside(ListOf<StmtId> block, std::vector<std::string>& out) const {
    for (const StmtId id : ast_.list(block)) {
      const Stmt& s = ast_[id];
      if (is_kernel(s)) {
        const std::string name(symbols_.text(s.name));
        if (std::ranges::find(out, name) == out.end()) out.push_back(name);
        continue;
      }
      if (s.kind == StmtKind::ClassDef) continue;
      kernels_inside(s.body, out);
      kernels_inside(s.other, out);
    }
  }

 private:
  void add(const Stmt& s, const Import& import) {
    const bool is_from = s.kind == StmtKind::ImportFrom;
    const std::string module = is_from ? ast_.strings[s.module] : "";
    const std::string path = is_from ? module + "." + import.path : import.path;
    const std::string_view space = known_module(path).value_or("");
    if (space == "T") language_.push_back(import.as);
    if (space == "warpwright") packages_.push_back(import.as);
    if (path == "warpwright.kernel") decorators_.push_back(import.as);
    if (space == "Tx" || (is_from && known_module(module) == "Tx")) imports_tile = true;
    // The package has one dialect, the newer.
    if (path.starts_with("warpwright.lang")) imports_tile = true;
    if (!is_from || known_module(module) != "T") return;
    imports_all_ |= import.path == "*";
    if (is_decorator(import.path)) decorators_.push_back(import.as);
  }

  static bool is_decorator(std::string_view name) {
    return name == "prim_func" || name == "jit" || name == "function";
  }

  [[nodiscard]] bool is_one_of(Symbol name, const std::vector<Symbol>& known,
                               std::string_view other) const {
    return symbols_.text(name) == other || std::ranges::find(known, name) != known.end();
  }

  const Ast& ast_;
  const SymbolTable& symbols_;
  std::vector<Symbol> language_;
  std::vector<Symbol> packages_;  // names of the package `warpwright`
  std::vector<Symbol> decorators_;
  bool imports_all_ = false;  // `from tvm.script.tirx import *`
};

bool uses_tile_of_t(const Ast& ast, const SymbolTable& symbols, const Finder& finder) {
  static constexpr std::string_view kTileScopes[] = {"tile",      "thread", "warp",   "wg",
                                                     "warpgroup", "cta",    "cluster"};
  return std::ranges::any_of(ast.exprs, [&](const Expr& e) {
    if (e.kind != ExprKind::Attribute) return false;
    // `T.cuda.tile`
    const Expr& inner = ast[e.a];
    if (inner.kind == ExprKind::Attribute && symbols.text(inner.name) == "cuda" &&
        finder.is_language(inner.a))
      return symbols.text(e.name) == "tile";
    if (!finder.is_language(e.a)) return false;
    return std::find(std::begin(kTileScopes), std::end(kTileScopes), symbols.text(e.name)) !=
           std::end(kTileScopes);
  });
}

std::string parameters_text(const Ast& ast, const SymbolTable& symbols, std::string_view source,
                            const Stmt& s) {
  const auto text_at = [&](ExprId id) {
    const Place place = ast[id].place;
    return std::string(source.substr(place.begin, place.end - place.begin));
  };
  std::string out;
  bool has_star = false;
  for (const Param& p : ast.list(s.params)) {
    if (!out.empty()) out += ", ";
    if (p.kind == Param::Kind::KeywordOnly && !has_star) out += "*, ";
    has_star = has_star || p.kind == Param::Kind::Star || p.kind == Param::Kind::KeywordOnly;
    if (p.kind == Param::Kind::Star) out += "*";
    if (p.kind == Param::Kind::DoubleStar) out += "**";
    if (p.name.valid()) out += symbols.text(p.name);
    if (p.annotation.valid()) out += ": " + text_at(p.annotation);
    if (p.default_value.valid()) out += "=" + text_at(p.default_value);
  }
  return "(" + out + ")";
}

bool needs_no_arguments(const Ast& ast, const Stmt& s) {
  const std::span<const Param> params = ast.list(s.params);
  return std::ranges::all_of(params, [](const Param& p) {
    return p.default_value.valid() || p.kind == Param::Kind::Star ||
           p.kind == Param::Kind::DoubleStar;
  });
}

std::string candidate_text(const Candidate& c) {
  if (!c.is_builder) return fmt::format("kernel `{}{}`", c.name, c.parameters);
  std::string inside;
  for (const std::string& kernel : c.kernels)
    inside += fmt::format("{}`{}`", inside.empty() ? "" : ", ", kernel);
  return fmt::format("builder `{}{}`, with {} inside", c.name, c.parameters, inside);
}

}  // namespace

Dialect dialect_of(const Ast& ast, const SymbolTable& symbols) {
  const Finder finder(ast, symbols);
  const bool is_new = finder.imports_tile || uses_tile_of_t(ast, symbols, finder);
  return is_new ? Dialect::D2 : Dialect::D1;
}

std::vector<Candidate> candidates_of(const Ast& ast, const SymbolTable& symbols,
                                     std::string_view source) {
  const Finder finder(ast, symbols);
  std::vector<Candidate> out;
  const auto place = [](Candidate& c, const Stmt& s) {
    c.name_span = s.name_place.span();
    c.span = s.place.span();
  };
  // The kernels of a class, as `@I.ir_module` has them, by its name and theirs.
  const auto add_class = [&](const Stmt& type) {
    for (const StmtId id : ast.list(type.body)) {
      const Stmt& s = ast[id];
      if (!finder.is_kernel(s)) continue;
      Candidate c;
      c.name = fmt::format("{}.{}", symbols.text(type.name), symbols.text(s.name));
      c.parameters = parameters_text(ast, symbols, source, s);
      place(c, s);
      out.push_back(std::move(c));
    }
  };
  const auto add_block = [&](const auto& self, ListOf<StmtId> block) -> void {
    for (const StmtId id : ast.list(block)) {
      const Stmt& s = ast[id];
      if (s.kind == StmtKind::ClassDef) {
        add_class(s);
        continue;
      }
      if (s.kind != StmtKind::FunctionDef) {  // `if`, `for`, `try`: their names are the file's
        self(self, s.body);
        self(self, s.other);
        continue;
      }
      Candidate c;
      c.name = std::string(symbols.text(s.name));
      c.parameters = parameters_text(ast, symbols, source, s);
      place(c, s);
      c.is_builder = !finder.is_kernel(s);
      c.is_callable = c.is_builder && needs_no_arguments(ast, s);
      if (c.is_builder) finder.kernels_inside(s.body, c.kernels);
      const bool is_known =
          std::ranges::any_of(out, [&](const Candidate& k) { return k.name == c.name; });
      if (!is_known && (!c.is_builder || !c.kernels.empty())) out.push_back(std::move(c));
    }
  };
  add_block(add_block, ast.body);
  return out;
}

bool binds_kernel(const Ast& ast, const SymbolTable& symbols) {
  bool is_bound = false;
  for (const StmtId id : ast.list(ast.body)) {
    if (ast[id].kind != StmtKind::Assign) continue;
    for (const ExprId target : ast.list(ast[id].items))
      for_each_bound_name(ast, target, [&](const Expr& name) {
        is_bound = is_bound || symbols.text(name.name) == "kernel";
      });
  }
  return is_bound;
}

std::string Candidate::expression() const {
  if (!is_builder) return name;
  if (!is_callable) return "";
  return kernels.size() == 1 ? fmt::format("{}()::{}", name, kernels[0]) : name + "()";
}

Diag choose_one(const std::vector<Candidate>& candidates) {
  if (candidates.empty())
    return diag(DiagKind::NotAKernel,
                "no kernel in this file: no function is decorated with `@T.prim_func` or `@T.jit`");
  Diag out = diag(DiagKind::NotAKernel,
                  "{} kernels or builders in this file; choose one with `--kernel EXPR`",
                  candidates.size());
  if (candidates.size() == 1)
    out = diag(DiagKind::NotAKernel,
               "the only builder of this file needs arguments; call it with `--kernel EXPR`");
  for (std::size_t i = 0; i < std::min(candidates.size(), kShown); ++i)
    out.notes.push_back({candidate_text(candidates[i]), {}});
  if (candidates.size() > kShown)
    out.notes.push_back({fmt::format("and {} more", candidates.size() - kShown), {}});
  return out;
}

}  // namespace ww::script
