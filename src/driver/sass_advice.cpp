// SPDX-License-Identifier: Apache-2.0
#include "driver/sass_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/append.h"
#include "base/ascii.h"
#include "base/join.h"
#include "base/printable.h"
#include "base/split.h"
#include "driver/report_parts.h"
#include "ptx/parser.h"

namespace ww::driver {

namespace {

std::string_view without_margins(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// In one line: what went wrong, and the first thing to know about it.
std::string reason(const Diag& problem) {
  return problem.notes.empty() ? problem.text
                               : fmt::format("{}; {}", problem.text, problem.notes.front().text);
}

std::string source_text(const ptx::SourceLine& at) {
  return at.column == 0 ? fmt::format("{}:{}", printable_name(at.file), at.line)
                        : fmt::format("{}:{}:{}", printable_name(at.file), at.line, at.column);
}

std::string place_text(const SassNote& note, SassPlaces places) {
  const std::uint32_t line = note.remark.line;
  const std::string ptx = line == 0 ? "no line" : fmt::format("line {}", line);
  if (places == SassPlaces::Source) return note.source ? source_text(*note.source) : "PTX, " + ptx;
  return note.source ? fmt::format("{} ({})", ptx, source_text(*note.source)) : ptx;
}

}  // namespace

SassAdvice sass_advice(const runtime::SassTools& tools, std::string_view ptx, target::Arch arch,
                       const std::string& kernel) {
  auto remarks = runtime::read_sass(tools, ptx, arch, kernel);
  if (!remarks) return {.not_read = reason(remarks.error())};
  SassAdvice out;
  const std::vector<std::string_view> lines = ww::split(ptx, '\n');
  const ptx::ParseResult parsed = ptx::parse(ptx);
  for (runtime::SassRemark& remark : *remarks) {
    SassNote& note = out.notes.emplace_back(SassNote{std::move(remark)});
    const std::uint32_t line = note.remark.line;
    if (line == 0 || line > lines.size()) continue;
    const std::string_view text = lines[line - 1];
    note.instruction = without_margins(text);
    const auto begin = static_cast<std::size_t>(text.data() - ptx.data());
    note.source = ptx::source_line(parsed.module, Span::at(begin + text.size(), 0));
  }
  return out;
}

std::string sass_text(const SassAdvice& advice, SassPlaces places) {
  if (!advice.not_read.empty()) return fmt::format("  SASS not read: {}\n", advice.not_read);
  if (advice.notes.empty()) return "  SASS: nothing found\n";
  std::string out;
  std::vector<std::string_view> done;
  for (const SassNote& first : advice.notes) {
    const std::string_view text = first.remark.text;
    if (std::ranges::find(done, text) != done.end()) continue;
    done.push_back(text);
    std::vector<std::string> at;
    for (const SassNote& each : advice.notes) {
      if (each.remark.text != text) continue;
      std::string place = place_text(each, places);
      if (std::ranges::find(at, place) == at.end()) at.push_back(std::move(place));
    }
    append(out, "  {}: {}\n", join(at, ", "), text);
    if (!first.instruction.empty()) append(out, "    {}\n", first.instruction);
  }
  return out;
}

// --- sass json -----------------------------------------------------------------------------------
//
// Remarks on machine code as JSON, the same in the reports of all commands.

Json sass_json(const SassAdvice& advice) {
  Json remarks = Json::array();
  for (const SassNote& each : advice.notes) {
    const auto& source = each.source;
    remarks.push_back(
        {{"kind", name_of(each.remark.kind)},
         {"line", each.remark.line},
         {"instruction", each.instruction},
         {"source",
          source ? Json{{"file", source->file}, {"line", source->line}, {"column", source->column}}
                 : Json()},
         {"sass", text_or_null(each.remark.sass)},
         {"count", each.remark.count},
         {"depth", each.remark.depth},
         {"message", each.remark.text}});
  }
  return {{"not_read", text_or_null(advice.not_read)}, {"remarks", remarks}};
}

}  // namespace ww::driver
