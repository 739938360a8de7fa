// SPDX-License-Identifier: Apache-2.0
#include "script/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "ir/indices.h"
#include "ir/name_parts.h"
#include "ir/verify/verify.h"
#include "script/interp/calls.h"
#include "script/interp/candidates.h"
#include "script/interp/conversions.h"
#include "script/interp/host_expr.h"
#include "script/interp/host_stmts.h"
#include "script/syntax/errors.h"
#include "script/syntax/parser.h"

namespace ww::script {
namespace {

// --- choosing ------------------------------------------------------------------------------------

struct Choice {
  std::string expression;
  std::string name;  // behind `::`, or empty
};

Choice split_choice(std::string_view text) {
  const std::size_t at = text.rfind("::");
  if (at == std::string_view::npos || at == 0) return {std::string(text), ""};
  const std::string_view name = text.substr(at + 2);
  const bool begins = !name.empty() && (name[0] < '0' || name[0] > '9');
  const bool is_name = begins && std::all_of(name.begin(), name.end(), [](char c) {
                         return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                (c >= 'A' && c <= 'Z');
                       });
  if (!is_name) return {std::string(text), ""};
  return {std::string(text.substr(0, at)), std::string(name)};
}

class Compilation {
 public:
  Compilation(Compiled& out, const Options& options) : out_(out), options_(options) {}

  void run() {
    Result<Ast> ast = parse_file(out_.source.text(), symbols_);
    if (!ast) return report(std::move(ast).error());
    file_.ast = *std::move(ast);
    if (!read_prelude()) return;
    out_.dialect = options_.dialect.value_or(written_dialect());
    Choice choice = split_choice(options_.kernel);
    if (options_.kernel.empty()) {
      const std::vector<Candidate> candidates =
          candidates_of(file_.ast, symbols_, out_.source.text());
      const bool is_clear =
          candidates.size() == 1 && (!candidates[0].is_builder || candidates[0].is_callable);
      if (!is_clear) return report(choose_one(candidates));
      choice.expression = candidates[0].is_builder ? candidates[0].name + "()" : candidates[0].name;
      if (candidates[0].kernels.size() == 1) choice.name = candidates[0].kernels[0];
    }
    place_prelude(choice.expression);
    Context in(options_, out_.dialect, std::move(symbols_));
    if (Result<void> done = run_module(in, prelude_); !done) return report(std::move(done).error());
    if (Result<void> done = run_module(in, file_); !done) return report(std::move(done).error());
    take(choose(in, choice));
  }

 private:
  // The text of the prelude is a caller's, not the user's: only its own fault can make it wrong.
  bool read_prelude() {
    Result<Ast> ast = parse_file(options_.prelude, symbols_);
    if (ast) {
      prelude_.ast = *std::move(ast);
      return true;
    }
    report(diag(DiagKind::Syntax, "the prelude cannot be read: {}", ast.error().text));
    return false;
  }
  [[nodiscard]] Dialect written_dialect() const {
    const bool is_new = dialect_of(file_.ast, symbols_) == Dialect::D2 ||
                        dialect_of(prelude_.ast, symbols_) == Dialect::D2;
    return is_new ? Dialect::D2 : Dialect::D1;
  }
  void place_prelude(const std::string& expression) {
    prelude_.base = out_.source.text().size() + 1 + expression.size() + 1;
    out_.expression = options_.prelude.empty()
                          ? SourceText("--kernel", expression)
                          : SourceText("--kernel", expression + "\n" + options_.prelude);
  }

  void report(Diag problem) { out_.errors.push_back(std::move(problem)); }

  // The kernel that the expression gives, or that was made under the wanted name on the way.
  KernelObject* choose(Context& in, const Choice& choice) {
    const std::size_t base = out_.source.text().size() + 1;
    ExprId root;
    Result<Ast> ast = parse_expression(choice.expression, in.symbols, root);
    if (!ast) {
      report(moved(std::move(ast).error(), base));
      return nullptr;
    }
    expression_.ast = *std::move(ast);
    expression_.base = base;
    const Span whole = Span::at(base, base + choice.expression.size());
    const std::size_t before = in.kernels.size();
    Result<Value> value = eval_in_module(in, expression_, root);
    if (!choice.name.empty()) return by_name(in, choice, before, value, whole);
    if (value && value->is(Kind::Jit)) {  // without constants
      CallArgs args;
      args.call = args.callee = whole;
      value = call(in, *value, args);
    }
    if (!value) {
      report(std::move(value).error().with_span(whole));
      return nullptr;
    }
    if (value->is(Kind::Kernel)) return &value->as<KernelObject>();
    report(value->is(Kind::Opaque) ? needs_opaque(in, *value, whole)
                                   : no_kernel(in, choice, before, *value).with_span(whole));
    return nullptr;
  }

  static Diag moved(Diag problem, std::size_t base) {
    problem.span = Span::at(problem.span.begin + base, problem.span.end + base);
    for (Note& note : problem.notes)
      if (note.span.known) note.span = Span::at(note.span.begin + base, note.span.end + base);
    return problem;
  }

  static Diag no_kernel(const Context& in, const Choice& choice, std::size_t before,
                        const Value& value) {
    Diag out =
        diag(DiagKind::NotAKernel, "the expression gives {}, expected a kernel", type_name(value));
    if (value.is(Kind::Function))
      out.notes.push_back({fmt::format("call it: `{}(…)`", choice.expression), {}});
    std::string made;
    for (std::size_t i = before; i < in.kernels.size(); ++i)
      made += fmt::format("{}`::{}`", made.empty() ? "" : ", ", in.kernels[i]->function.name);
    if (!made.empty())
      out.notes.push_back(
          {fmt::format("kernels were defined on the way; take one with {}", made), {}});
    return out;
  }

  KernelObject* by_name(Context& in, const Choice& choice, std::size_t before,
                        const Result<Value>& value, Span whole) {
    const std::vector<KernelObject*>& all = in.kernels;
    for (std::size_t i = all.size(); i-- > before;)
      if (all[i]->function.name == choice.name) return all[i];
    // Not made by the call itself; a kernel that the call returns may have been made before.
    if (value && value->is(Kind::Kernel) && value->as<KernelObject>().function.name == choice.name)
      return &value->as<KernelObject>();
    if (!value) {
      report(Diag(value.error()).with_span(whole));
      return nullptr;
    }
    std::vector<std::string_view> known;
    for (std::size_t i = before; i < all.size(); ++i) known.push_back(all[i]->function.name);
    Diag none = diag_at(whole, DiagKind::NotAKernel, "no kernel `{}` was defined by `{}`{}",
                        choice.name, choice.expression, did_you_mean(choice.name, known));
    if (known.empty())
      none.notes.push_back(
          {"`@T.prim_func` defines one where `T` is `from tvm.script import tirx as T`", {}});
    report(std::move(none));
    return nullptr;
  }

  void take(KernelObject* kernel) {
    if (kernel == nullptr) return;
    for (const Diag& problem : kernel->errors) report(problem);
    if (!out_.errors.empty()) return;
    if (Result<void> named = ir::name_parts(kernel->function); !named)
      return report(std::move(named).error());
    infer::Outcome inferred =
        infer::infer_layouts(kernel->function, {.locals_by_place = out_.dialect == Dialect::D2});
    for (Diag& problem : inferred.errors) report(std::move(problem));
    if (!out_.errors.empty()) return;
    out_.layouts = std::move(inferred.layouts);
    for (Diag& finding : ir::verify(kernel->function, {.target = options_.target}))
      report(std::move(finding));
    if (!out_.errors.empty()) return;
    ir::mark_indices(kernel->function);
    out_.function = std::move(kernel->function);
  }

  Compiled& out_;
  const Options& options_;
  SymbolTable symbols_;
  Unit file_;
  Unit prelude_;
  Unit expression_;
};

}  // namespace

std::string_view name_of(Dialect dialect) { return dialect == Dialect::D1 ? "d1" : "d2"; }

Compiled compile(const SourceText& source, const Options& options) {
  Compiled out{std::nullopt, {}, {}, Dialect::D1, source, SourceText("--kernel", "")};
  Compilation(out, options).run();
  std::stable_sort(out.errors.begin(), out.errors.end(),
                   [](const Diag& a, const Diag& b) { return a.span.begin < b.span.begin; });
  return out;
}

std::string Compiled::render(const Diag& diag) const {
  return ww::render(diag, source, expression);
}

Result<void> check_kernel_syntax(std::string_view kernel) {
  return check_host_syntax(split_choice(kernel).expression);
}

}  // namespace ww::script
