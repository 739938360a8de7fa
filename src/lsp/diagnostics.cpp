// SPDX-License-Identifier: Apache-2.0
#include "lsp/diagnostics.h"

#include <fmt/format.h>

#include <utility>

#include "base/utf8.h"

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

}  // namespace ww::lsp
