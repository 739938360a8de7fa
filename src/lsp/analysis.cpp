// SPDX-License-Identifier: Apache-2.0
#include "lsp/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "driver/explain.h"
#include "script/syntax/parser.h"

namespace ww::lsp {

// --- directives ----------------------------------------------------------------------------------

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

namespace {

// --- which kernels -------------------------------------------------------------------------------

// Whether a file that cannot be parsed is ours to complain about, and no other Python.
bool mentions_kernels(std::string_view text) {
  constexpr std::string_view kWords[] = {"prim_func", "tvm.script", "warpwright", "T.jit"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// "build" of "build(2)::gemm".
std::string_view first_name(std::string_view expression) {
  return expression.substr(0, expression.find_first_of("([:. "));
}

void take_arguments(KernelChoice& choice, const Directive& directive) {
  choice.target = directive.target;
  choice.args = directive.args;
  choice.expects = directive.expects;
}

class Chooser {
 public:
  Chooser(const Syntax& syntax, std::string_view path, Analysis& out)
      : candidates_(syntax.candidates), directives_(directives_of(*syntax.text, path)), out_(out) {}

  std::vector<KernelChoice> choose() {
    for (const script::Candidate& each : candidates_)
      if (!add_ordered(each)) add_candidate(each);
    for (const Directive& each : directives_)
      if (each.is_order && !candidate_of(each)) add_order(each, nullptr);
    if (choices_.size() > kMaxKernels) {
      remark(Severity::Information, choices_[kMaxKernels].at,
             fmt::format("{} kernels in this file: those from here on are not checked",
                         choices_.size()));
      choices_.resize(kMaxKernels);
    }
    return std::move(choices_);
  }

 private:
  [[nodiscard]] const script::Candidate* candidate_of(const Directive& order) const {
    const auto found = std::ranges::find(candidates_, first_name(order.kernel),
                                         [](const auto& each) { return first_name(each.name); });
    return found == candidates_.end() ? nullptr : &*found;
  }

  bool add_ordered(const script::Candidate& candidate) {
    bool is_ordered = false;
    for (const Directive& each : directives_) {
      if (!each.is_order || candidate_of(each) != &candidate) continue;
      is_ordered = true;
      add_order(each, &candidate);
    }
    return is_ordered;
  }

  void add_order(const Directive& order, const script::Candidate* candidate) {
    if (order.problem) {
      out_.problems.push_back({.severity = Severity::Warning,
                               .code = std::string(name_of(order.problem->kind)),
                               .text = order.problem->text,
                               .span = order.problem->span,
                               .notes = {}});
      return;
    }
    KernelChoice choice{.expression = order.kernel,
                        .at = candidate != nullptr ? candidate->name_span : order.kernel_span,
                        .body = candidate != nullptr ? candidate->span : Span(),
                        .written = order.kernel_span};
    take_arguments(choice, order);
    choices_.push_back(std::move(choice));
  }

  // By the first command line for it, if there is one.
  void add_candidate(const script::Candidate& candidate) {
    KernelChoice choice{
        .expression = candidate.expression(), .at = candidate.name_span, .body = candidate.span};
    const Directive* const command = command_for(candidate);
    if (choice.expression.empty() && command != nullptr) choice.expression = command->kernel;
    if (command != nullptr) take_arguments(choice, *command);
    if (!choice.expression.empty()) return choices_.push_back(std::move(choice));
    remark(Severity::Information, candidate.name_span,
           fmt::format("`{}{}` needs arguments, so nothing of it is checked; a comment "
                       "`# warpwright: {}(…)` gives them",
                       candidate.name, candidate.parameters, candidate.name));
  }

  [[nodiscard]] const Directive* command_for(const script::Candidate& candidate) const {
    const std::string plain = candidate.expression();
    for (const Directive& each : directives_) {
      if (each.is_order) continue;
      const bool is_it = plain.empty() ? each.kernel.starts_with(candidate.name + "(")
                         : each.kernel.empty()
                             ? candidates_.size() == 1
                             : each.kernel == plain || each.kernel == candidate.name + "()";
      if (is_it) return &each;
    }
    return nullptr;
  }

  void remark(Severity severity, Span span, std::string text) {
    out_.problems.push_back({.severity = severity,
                             .code = std::string(name_of(DiagKind::NotAKernel)),
                             .text = std::move(text),
                             .span = span,
                             .notes = {}});
  }

  const std::vector<script::Candidate>& candidates_;
  const std::vector<Directive> directives_;
  Analysis& out_;
  std::vector<KernelChoice> choices_;
};

// --- problems ------------------------------------------------------------------------------------

Problem problem_of(const Analysis& analysis, const KernelAnalysis& kernel, const Diag& diag) {
  Problem out{.code = std::string(name_of(diag.kind)), .text = diag.text, .span = {}, .notes = {}};
  // A kernel of the Python package gets such values from Python when it is called.
  if (diag.kind == DiagKind::Opaque &&
      analysis.text->bytes().find("import warpwright") != std::string::npos)
    out.severity = Severity::Information;
  const auto at = place_in_document(kernel, diag.span);
  out.span = at.value_or(kernel.choice.at);
  for (const Note& note : diag.notes)
    out.notes.push_back({note.text, place_in_document(kernel, note.span).value_or(Span())});
  if (at) {
    Diag here = diag;
    here.span = *at;
    out.fix = proposal_of(here, analysis.text->bytes());
  }
  return out;
}

void add_problems(Analysis& out, const KernelAnalysis& kernel) {
  for (const Diag& each : kernel.build.diags) out.problems.push_back(problem_of(out, kernel, each));
  // What has no place anywhere, such as an unknown target.
  if (!kernel.build.good() && kernel.build.diags.empty())
    out.problems.push_back({.code = std::string(name_of(DiagKind::BadArgument)),
                            .text = kernel.build.errors,
                            .span = kernel.choice.at,
                            .notes = {}});
  for (const lower::CallReport& call : kernel.build.report.calls) {
    const auto at = place_in_document(kernel, call.span);
    if (!at || !driver::is_slow(call)) continue;
    Problem slow{.severity = Severity::Information,
                 .code = "slow",
                 .text = fmt::format("wavefronts of shared memory: {}",
                                     driver::wavefronts_text(*call.plan.wavefronts)),
                 .span = *at,
                 .notes = {}};
    if (!call.plan.remedy.empty()) slow.notes.push_back({call.plan.remedy, {}});
    out.problems.push_back(std::move(slow));
  }
}

void put_in_order(std::vector<Problem>& problems) {
  std::ranges::stable_sort(problems, [&](const Problem& a, const Problem& b) {
    return std::pair(a.span.begin, a.span.end) < std::pair(b.span.begin, b.span.end);
  });
  std::vector<Problem> out;
  for (Problem& each : problems) {
    const bool is_known = std::ranges::any_of(out, [&](const Problem& other) {
      return other.span == each.span && other.severity == each.severity &&
             other.code == each.code && other.text == each.text;
    });
    if (!is_known) out.push_back(std::move(each));
  }
  problems = std::move(out);
}

// Names of a document before stay only while something is wrong.
void collect_buffers(Analysis& out) {
  const auto is_whole = [](const KernelAnalysis& each) {
    return each.build.phase >= driver::Phase::Tile;
  };
  if (std::ranges::all_of(out.kernels, is_whole)) out.buffers.clear();
  for (const KernelAnalysis& each : out.kernels) {
    if (!is_whole(each)) continue;
    const ir::Function& f = each.build.tile();
    for (std::uint32_t i = 0; i < f.buffer_count(); ++i)
      out.buffers.push_back(f[ir::BufferId{i}].name);
  }
  std::ranges::sort(out.buffers);
  out.buffers.erase(std::unique(out.buffers.begin(), out.buffers.end()), out.buffers.end());
}

}  // namespace

std::optional<Span> place_in_document(const KernelAnalysis& kernel, Span span) {
  if (!span.known || !kernel.build.compiled) return std::nullopt;
  const SourceText& source = kernel.build.compiled->source;
  if (span.begin <= source.file_text(0).size()) return span;
  const std::size_t expression = source.text().size() + 1;
  const Span& written = kernel.choice.written;
  if (span.begin < expression || !written.known) return std::nullopt;
  const std::size_t size = written.end - written.begin;
  return Span::at(written.begin + std::min(size, span.begin - expression),
                  written.begin + std::min(size, span.end - expression));
}

const KernelAnalysis* Analysis::kernel_at(std::size_t offset) const {
  for (const KernelAnalysis& each : kernels) {
    const Span& body = each.choice.body;
    if (body.known && body.begin <= offset && offset <= body.end) return &each;
  }
  return kernels.empty() ? nullptr : &kernels.front();
}

Analysis analyse(const Document& document, const Analysis* last) {
  Analysis out{.path = document.path,
               .version = document.version,
               .text = document.text,
               .syntax = last != nullptr ? last->syntax : nullptr,
               .kernels = {},
               .problems = {},
               .buffers = last != nullptr ? last->buffers : std::vector<std::string>()};
  auto syntax = std::make_shared<Syntax>();
  const std::string& bytes = document.text->bytes();
  const SourceText source(document.path, bytes);
  Result<script::Ast> ast = script::parse_file(bytes, syntax->symbols);
  if (!ast) {
    if (!mentions_kernels(bytes)) return out;
    KernelAnalysis whole{.choice = {}, .build = {}};
    whole.build.compiled.emplace(script::Compiled{
        std::nullopt, {}, {}, script::Dialect::D1, source, SourceText("--kernel", "")});
    whole.choice.at = Span::at(0, 0);
    out.problems.push_back(problem_of(out, whole, ast.error()));
    return out;
  }
  syntax->ast = *std::move(ast);
  syntax->text = document.text;
  syntax->candidates = script::candidates_of(syntax->ast, syntax->symbols, bytes);
  out.syntax = syntax;
  for (KernelChoice& choice : Chooser(*syntax, document.path, out).choose()) {
    driver::BuildOptions options{
        .kernel = choice.expression, .target = choice.target, .until = driver::Phase::Lowered};
    out.kernels.push_back({std::move(choice), driver::build_kernel(source, options)});
  }
  for (const KernelAnalysis& each : out.kernels) add_problems(out, each);
  put_in_order(out.problems);
  collect_buffers(out);
  return out;
}

std::vector<Problem> emission_problems(const Analysis& analysis) {
  std::vector<Problem> out;
  for (const KernelAnalysis& each : analysis.kernels) {
    if (each.build.phase != driver::Phase::Lowered) continue;
    if (const auto problem = driver::ptx_problem(each.build))
      out.push_back(problem_of(analysis, each, *problem));
  }
  put_in_order(out);
  return out;
}

}  // namespace ww::lsp
