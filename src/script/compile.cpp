// SPDX-License-Identifier: Apache-2.0
#include "script/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/check.h"
#include "base/fail_at.h"
#include "base/suggest.h"
#include "ir/indices.h"
#include "ir/name_parts.h"
#include "ir/verify/verify.h"
#include "script/interp/candidates.h"
#include "script/interp/evaluator.h"
#include "script/interp/host_expr.h"
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
  const bool is_name = begins && std::ranges::all_of(name, [](char c) {
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
    if (!read_files() || !read_prelude(options_.prelude, prelude_)) return;
    out_.dialect = options_.dialect.value_or(written_dialect());
    Choice choice = split_choice(options_.kernel);
    if (options_.kernel.empty()) {
      const std::vector<Candidate> candidates =
          candidates_of(file_.ast, symbols_, out_.source.file_text(0));
      const bool is_value = candidates.empty() && binds_kernel(file_.ast, symbols_);
      const bool is_clear =
          candidates.size() == 1 && (!candidates[0].is_builder || candidates[0].is_callable);
      if (!is_clear && !is_value) return report(choose_one(candidates));
      choice = split_choice(is_value ? "kernel" : candidates[0].expression());
    }
    place_preludes(choice.expression);
    Context in(options_, out_.dialect, std::move(symbols_));
    if (Result<void> done = run_files(in); !done) return report(std::move(done).error());
    take(choose(in, choice));
  }

 private:
  /// A file behind the first.
  struct Module {
    Unit file;
    Unit prelude;
    Env* env = nullptr;
  };

  bool read_files() {
    WW_CHECK(options_.modules.size() + 1 == out_.source.file_count(), "{} modules for {} files",
             options_.modules.size(), out_.source.file_count());
    modules_.resize(options_.modules.size());
    const std::size_t given = out_.source.file_count();
    if (names_library_class(out_.source.text()))
      out_.source.add_file(std::string(kLibraryModule), std::string(library_text()));
    for (std::size_t i = 0; i < out_.source.file_count(); ++i) {
      Unit& unit = i == given ? library_ : i == 0 ? file_ : modules_[i - 1].file;
      unit.is_library = i == given;
      unit.base = out_.source.file_begin(i);
      Result<Ast> ast = parse_file(out_.source.file_text(i), symbols_);
      if (!ast) {
        report(moved(std::move(ast).error(), unit.base));
        return false;
      }
      unit.ast = *std::move(ast);
    }
    for (std::size_t i = 0; i < modules_.size(); ++i)
      if (!read_prelude(options_.modules[i].prelude, modules_[i].prelude)) return false;
    return true;
  }

  // The text of a prelude is a caller's, not the user's: only its own fault can make it wrong.
  bool read_prelude(const std::string& text, Unit& unit) {
    Result<Ast> ast = parse_file(text, symbols_);
    if (ast) {
      unit.ast = *std::move(ast);
      return true;
    }
    report(diag(DiagKind::Syntax, "the prelude cannot be read: {}", ast.error().text));
    return false;
  }
  [[nodiscard]] Dialect written_dialect() const {
    const auto is_new = [&](const Unit& unit) {
      return dialect_of(unit.ast, symbols_) == Dialect::D2;
    };
    const auto is_new_module = [&](const Module& each) {
      return is_new(each.file) || is_new(each.prelude);
    };
    return is_new(file_) || is_new(prelude_) || std::ranges::any_of(modules_, is_new_module)
               ? Dialect::D2
               : Dialect::D1;
  }
  void place_preludes(const std::string& expression) {
    std::string text = expression;
    const auto place = [&](Unit& unit, const std::string& prelude) {
      unit.base = out_.source.text().size() + 1 + text.size() + 1;
      if (!prelude.empty()) text += "\n" + prelude;
    };
    place(prelude_, options_.prelude);
    for (std::size_t i = 0; i < modules_.size(); ++i)
      place(modules_[i].prelude, options_.modules[i].prelude);
    out_.expression = SourceText("--kernel", text);
  }

  // Preludes import from other files. What one imports of a file that has not run yet it finds when
  // the preludes run again, before anything is called.
  Result<void> run_files(Context& in) {
    Env* const main = in.module;
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      modules_[i].env = new_env(in, nullptr);
      in.files.emplace(options_.modules[i].module, FileScope{modules_[i].env});
    }
    if (!options_.module.empty()) in.files.emplace(options_.module, FileScope{main});
    const auto run = [&](Env* env, const Unit& unit) {
      const Saved scope(in.module, env);
      return run_module(in, unit);
    };
    const auto prepare = [&](Env* env, const Unit& prelude) {
      const Saved scope(in.module, env);
      return run_prelude(in, prelude);
    };
    if (library_.base != 0) {
      Env* const library = new_env(in, nullptr);
      WW_TRY_VOID(run(library, library_));
      in.library = library;
    }
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      WW_TRY_VOID(prepare(modules_[i].env, modules_[i].prelude));
      Result<void> done = run(modules_[i].env, modules_[i].file);
      if (done) continue;
      if (done.error().kind != DiagKind::HostError) return done;
      in.files.at(options_.modules[i].module).failure = std::move(done).error();
    }
    const auto import_again = [&]() -> Result<void> {
      for (const Module& each : modules_) WW_TRY_VOID(prepare(each.env, each.prelude));
      return {};
    };
    WW_TRY_VOID(import_again());
    WW_TRY_VOID(prepare(main, prelude_));
    WW_TRY_VOID(run(main, file_));
    if (options_.module.empty()) return {};
    WW_TRY_VOID(prepare(main, prelude_));
    return import_again();
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
    if (value && value->is(Kind::Jit)) value = call(in, *value, {}, whole);  // without constants
    if (!value) {
      report(std::move(value).error().with_span(whole));
      return nullptr;
    }
    if (value->is(Kind::Kernel)) return &value->as<KernelObject>();
    report(value->is(Kind::Opaque) ? needs_opaque(in, {*value, whole})
                                   : no_kernel(in, choice, before, *value).with_span(whole));
    return nullptr;
  }

  static Diag moved(Diag problem, std::size_t base) {
    const auto move = [&](Span& span) {
      if (span.known) span = Span::at(span.begin + base, span.end + base);
    };
    move(problem.span);
    for (Note& note : problem.notes) move(note.span);
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
  Unit library_;  // its places are behind the others', or it is not there
  std::vector<Module> modules_;
  Unit expression_;
};

}  // namespace

std::string_view name_of(Dialect dialect) { return dialect == Dialect::D1 ? "d1" : "d2"; }

Compiled compile(const SourceText& source, const Options& options) {
  Compiled out{std::nullopt, {}, {}, Dialect::D1, source, SourceText("--kernel", "")};
  Compilation(out, options).run();
  std::ranges::stable_sort(
      out.errors, [](const Diag& a, const Diag& b) { return a.span.begin < b.span.begin; });
  return out;
}

std::string Compiled::render(const Diag& diag) const {
  return ww::render(diag, source, expression);
}

Result<void> check_kernel_syntax(std::string_view kernel) {
  return check_host_syntax(split_choice(kernel).expression);
}

// --- modules that a text imports -----------------------------------------------------------------

namespace {

constexpr std::string_view kBlank = " \t";
constexpr std::string_view kImport = "import";

/// Whether an import of this module can name a file of the folder.
bool may_be_beside(std::string_view module) {
  return !module.empty() && module.find('.') == std::string_view::npos && !known_module(module);
}

/// The words of a line's part that has nothing but words with dots and blanks; none where it has more.
std::vector<std::string_view> plain_words(std::string_view part) {
  const auto is_plain = [](char c) { return is_name_char(c) || c == '.' || kBlank.contains(c); };
  std::vector<std::string_view> out;
  if (!std::ranges::all_of(part, is_plain)) return out;
  for (std::size_t at = part.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(part.find_first_of(kBlank, at), part.size());
    out.push_back(part.substr(at, end - at));
    at = part.find_first_not_of(kBlank, end);
  }
  return out;
}

/// Whether the word `import` between these parts of a line is that of a statement `from MODULE import ...` or
/// `import MODULE`, by itself in the line, of a module that is in no file of the folder.
bool is_of_the_language(std::string_view before, std::string_view after) {
  const auto head = plain_words(before);
  if (head.size() == 2 && head[0] == "from") return !may_be_beside(head[1]);
  const auto tail = plain_words(after);
  return before.find_first_not_of(kBlank) == std::string_view::npos && !tail.empty() &&
         !may_be_beside(tail[0]);
}

/// Whether a look at the lines with the word `import` shows that there is nothing to find. Most files import
/// what the language has, a statement in a line; to parse them for this would take as long as to compile them.
bool imports_only_the_language(std::string_view text) {
  for (std::size_t at = text.find(kImport); at != std::string_view::npos;) {
    const std::size_t begin = text.find_last_of('\n', at) + 1;  // npos + 1: the first line
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t behind = at + kImport.size();
    const bool is_word = (at == 0 || !is_name_char(text[at - 1])) &&
                         (behind == text.size() || !is_name_char(text[behind]));
    if (is_word &&
        !is_of_the_language(text.substr(begin, at - begin), text.substr(behind, end - behind)))
      return false;
    at = text.find(kImport, behind);
  }
  return true;
}

}  // namespace

std::vector<std::string> imported_modules(std::string_view text) {
  std::vector<std::string> out;
  if (imports_only_the_language(text)) return out;
  SymbolTable symbols;
  const Result<Ast> ast = parse_file(text, symbols);
  if (!ast) return out;
  const auto add = [&](const std::string& module) {
    if (may_be_beside(module) && std::ranges::find(out, module) == out.end()) out.push_back(module);
  };
  for (const Stmt& s : ast->stmts) {
    if (s.kind == StmtKind::ImportFrom) add(ast->strings[s.module]);
    if (s.kind == StmtKind::Import)
      for (const Import& import : ast->list(s.imports)) add(import.path);
  }
  return out;
}

// --- the library of classes ----------------------------------------------------------------------

const std::vector<LibraryClass>& library_classes() {
  static const std::vector<LibraryClass> all = [] {
    constexpr std::string_view kClass = "\nclass ";
    std::vector<LibraryClass> out;
    const std::string_view text = library_text();
    for (std::size_t at = text.find(kClass); at != std::string_view::npos;) {
      const std::size_t next = text.find(kClass, at + 1), name = at + kClass.size();
      out.push_back({.name = text.substr(name, text.find_first_of("(:", name) - name),
                     .text = text.substr(at + 1, std::min(next, text.size()) - at - 1)});
      at = next;
    }
    return out;
  }();
  return all;
}

bool names_library_class(std::string_view text) {
  return std::ranges::any_of(library_classes(),
                             [&](const LibraryClass& each) { return text.contains(each.name); });
}

}  // namespace ww::script
