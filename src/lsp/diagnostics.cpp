// SPDX-License-Identifier: Apache-2.0
#include "lsp/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/join.h"
#include "base/utf8.h"
#include "lsp/names.h"
#include "script/syntax/lexer.h"

namespace ww::lsp {
namespace {

// Notes with a place are related places, the others lines of the message; clients without related
// places get all of them as lines.
std::string message_of(const Problem& problem, const Question& about) {
  std::string out = problem.text;
  for (const Note& note : problem.notes)
    if (!note.span.known) {
      out += "\nnote: " + note.text;
    } else if (!about.client.has_related_places) {
      const auto at = about.analysis.text->position(note.span.begin, about.client.encoding);
      out += fmt::format("\nnote, line {}: {}", at.line + 1, note.text);
    }
  return out;
}

Json problem_json(const Problem& problem, const Question& about) {
  Json out = {{"range", about.range(problem.span)},
              {"severity", std::to_underlying(problem.severity)},
              {"code", problem.code},
              {"source", "warpwright"},
              {"message", message_of(problem, about)}};
  Json related = Json::array();
  for (const Note& note : problem.notes)
    if (note.span.known && about.client.has_related_places)
      related.push_back({{"location", {{"uri", about.uri}, {"range", about.range(note.span)}}},
                         {"message", note.text}});
  if (related.size() > 0) out["relatedInformation"] = std::move(related);
  return out;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// From a column in characters (from 1) to the end of the line.
std::optional<Span> rest_of_line(const Text& text, std::size_t line, std::size_t column) {
  if (line == 0 || line > text.line_count()) return std::nullopt;
  const std::string_view all = text.line(line - 1);
  std::size_t at = 0;
  for (std::size_t i = 1; i < column && at < all.size(); ++i)
    at += std::max<std::size_t>(1, decode_utf8(all.substr(at)).bytes);
  const std::size_t begin = text.line_begin(line - 1);
  return Span::at(begin + at, begin + all.size());
}

}  // namespace

Json diagnostics_json(const Question& about, std::span<const Problem> more) {
  Json all = Json::array();
  for (const Problem& each : about.analysis.problems) all.push_back(problem_json(each, about));
  for (const Problem& each : more) all.push_back(problem_json(each, about));
  return {{"uri", about.uri}, {"version", about.analysis.version}, {"diagnostics", std::move(all)}};
}

std::vector<Problem> problems_of_run(const driver::RunReport& report, const Text& text,
                                     Span kernel) {
  std::vector<Problem> out;
  const auto place = [&](const driver::RunFinding::Place& at) {
    return at.file.empty() ? rest_of_line(text, at.line, at.column) : std::nullopt;
  };
  for (const driver::RunFinding& each : report.findings) {
    Problem problem{.severity = Severity::Warning,
                    .code = each.check,
                    .text = fmt::format("on the virtual GPU: {}", each.text),
                    .span = place(each.at).value_or(kernel),
                    .notes = {}};
    if (each.count > 1) problem.text += fmt::format("; {} times", each.count);
    if (!each.note.empty())
      problem.notes.push_back({each.note, place(each.note_at).value_or(Span())});
    out.push_back(std::move(problem));
  }
  for (const driver::ExpectReport& each : report.expectations)
    if (!each.result.holds)
      out.push_back({.severity = Severity::Warning,
                     .code = "expect",
                     .text = fmt::format("on the virtual GPU: {}", first_line(each.result.text)),
                     .span = kernel,
                     .notes = {}});
  return out;
}

// --- actions -------------------------------------------------------------------------------------
//
// What an editor offers to write: the word that a message proposes, the layout that was inferred
// for `layout="auto"` (with the imports it needs), the comment for a builder that needs arguments.

namespace {

bool overlaps(Span a, Span b) { return a.begin <= b.end && b.begin <= a.end; }

Json edit_json(const Question& about, Span span, const std::string& text) {
  return {{"range", about.range(span)}, {"newText", text}};
}

Json action_json(const Question& about, const std::string& title, std::string_view kind,
                 Json edits) {
  return {
      {"title", title}, {"kind", kind}, {"edit", {{"changes", {{about.uri, std::move(edits)}}}}}};
}

void add_fixes(Json& out, const Question& about, Span range) {
  for (const Problem& each : about.analysis.problems) {
    if (!each.fix || !overlaps(each.span, range)) continue;
    out.push_back(action_json(about, fmt::format("change to `{}`", each.fix->text), "quickfix",
                              Json::array({edit_json(about, each.fix->span, each.fix->text)})));
  }
}

// The names in a layout's text that the file does not have: all of them are of one module.
std::vector<std::string> missing_names(const Syntax& syntax, const std::string& layout) {
  const auto tokens = script::tokenize(layout, script::Layout::Free).tokens;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != script::TokenKind::Name) continue;
    const bool is_keyword =
        i + 1 < tokens.size() && tokens[i + 1].kind == script::TokenKind::Assign;
    const std::string name = layout.substr(tokens[i].begin, tokens[i].end - tokens[i].begin);
    if (!is_keyword && !binding_in_file(syntax, name) && std::ranges::find(out, name) == out.end())
      out.push_back(name);
  }
  return out;
}

// Behind the last import of the file, or at its begin.
std::size_t place_for_imports(const Syntax& syntax) {
  std::size_t end = 0;
  for (const script::StmtId id : syntax.ast.list(syntax.ast.body)) {
    const script::Stmt& s = syntax.ast[id];
    if (s.kind != script::StmtKind::Import && s.kind != script::StmtKind::ImportFrom) continue;
    const std::size_t line = syntax.text->line_of(s.place.end);
    end = line + 1 < syntax.text->line_count() ? syntax.text->line_begin(line + 1) : end;
  }
  return end;
}

void add_layouts(Json& out, const Question& about, Span range) {
  constexpr std::string_view kAuto[] = {"\"auto\"", "'auto'"};
  const std::string& bytes = about.analysis.text->bytes();
  for (const KernelAnalysis& kernel : about.analysis.kernels) {
    if (kernel.build.phase < driver::Phase::Tile) continue;
    for (const infer::Inferred& each : kernel.build.compiled->layouts.buffers) {
      const auto at = place_in_document(kernel, kernel.build.tile()[each.buffer].span);
      if (!at || !overlaps(*at, range)) continue;
      const std::string_view call = std::string_view(bytes).substr(at->begin, at->end - at->begin);
      for (const std::string_view word : kAuto) {
        const std::size_t found = call.find(word);
        if (found == std::string_view::npos) continue;
        const std::size_t begin = at->begin + found;
        Json edits =
            Json::array({edit_json(about, Span::at(begin, begin + word.size()), each.text)});
        const auto missing = missing_names(*about.analysis.syntax, each.text);
        const std::size_t imports = place_for_imports(*about.analysis.syntax);
        if (!missing.empty())
          edits.push_back(
              edit_json(about, Span::at(imports, imports),
                        fmt::format("from tvm.tirx.layout import {}\n", join(missing, ", "))));
        out.push_back(action_json(about, fmt::format("write the inferred layout, `{}`", each.text),
                                  "refactor.rewrite", std::move(edits)));
      }
    }
  }
}

// A builder that needs arguments: above it, where someone fills them in.
void add_orders(Json& out, const Question& about, Span range) {
  if (about.analysis.syntax == nullptr || about.analysis.syntax->text != about.analysis.text)
    return;
  for (const script::Candidate& each : about.analysis.syntax->candidates) {
    if (!each.expression().empty() || !overlaps(each.name_span, range)) continue;
    const std::size_t line =
        about.analysis.text->line_begin(about.analysis.text->line_of(each.span.begin));
    out.push_back(
        action_json(about, fmt::format("say which kernel of `{}` to check", each.name), "quickfix",
                    Json::array({edit_json(about, Span::at(line, line),
                                           fmt::format("# warpwright: {}()\n", each.name))})));
  }
}

}  // namespace

Json code_actions(const Question& about, Span range) {
  Json out = Json::array();
  add_fixes(out, about, range);
  add_layouts(out, about, range);
  add_orders(out, about, range);
  return out;
}

}  // namespace ww::lsp
