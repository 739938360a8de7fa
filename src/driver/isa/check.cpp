// SPDX-License-Identifier: Apache-2.0
// `warpwright isa check`: a PTX file against the catalogue.
#include <fmt/format.h>

#include "base/printable.h"
#include "driver/isa/tool.h"
#include "driver/report_json.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/source_place.h"

namespace ww::driver {
namespace {

Json finding_json(const Diag& problem, const SourceText& source) {
  Json result;
  if (problem.span.known) {
    const SourceText::Position at = source.position(problem.span.begin);
    result["line"] = at.line;
    result["column"] = at.column;
  }
  result["kind"] = name_of(problem.kind);
  result["message"] = problem.text;
  Json notes = Json::array();
  for (const Note& note : problem.notes) notes.push_back(note.text);
  result["notes"] = notes;
  return result;
}

struct Judged {
  std::vector<Diag> errors;
  std::vector<Note> notes;
  std::string target;  // empty if the module could not be read that far
  std::string ptx;
  std::size_t instructions = 0;
  std::size_t kernels = 0;
};

// With the lines that they were made from, where a `.loc` tells.
std::vector<Diag> with_sources(std::vector<Diag> errors, const ptx::Module& module) {
  for (Diag& problem : errors)
    if (std::optional<Note> note = ptx::source_note(module, problem.span))
      problem.notes.push_back(*std::move(note));
  return errors;
}

Judged judge(const SourceText& source) {
  const ptx::ParseResult parsed = ptx::parse(source.text());
  if (!parsed.ok()) return {with_sources(parsed.errors, parsed.module), {}, "", "", 0, 0};
  const ptx::CheckResult checked = ptx::check(parsed.module);
  Judged result{with_sources(checked.errors, parsed.module),
                checked.notes,
                std::string(info(checked.target.arch).name),
                target::ptx_version_text(checked.target.ptx),
                checked.instructions,
                0};
  for (const ptx::Function& function : parsed.module.functions) {
    result.kernels += function.kind == ptx::FunctionKind::Entry && function.has_body ? 1U : 0U;
  }
  return result;
}

std::string to_json(const Judged& judged, const SourceText& source) {
  Json findings = Json::array();
  for (const Diag& problem : judged.errors) findings.push_back(finding_json(problem, source));
  Json notes = Json::array();
  for (const Note& note : judged.notes) notes.push_back(note.text);
  return json_lines(with_schema("isa-check", {{"file", source.name()},
                                              {"legal", judged.errors.empty()},
                                              {"target", judged.target},
                                              {"ptx", judged.ptx},
                                              {"notes", notes},
                                              {"kernels", judged.kernels},
                                              {"instructions", judged.instructions},
                                              {"findings", findings}}));
}

}  // namespace

IsaCheck isa_check(const SourceText& source, IsaFormat format) {
  const Judged judged = judge(source);
  IsaCheck result;
  result.legal = judged.errors.empty();
  if (format == IsaFormat::Json) {
    result.out = to_json(judged, source);
    return result;
  }
  for (const Diag& problem : judged.errors) result.err += render(problem, source);
  for (const Note& note : judged.notes) {
    result.out += fmt::format("{}:{}: note: {}\n", printable_name(source.name()),
                              source.position(note.span.begin).line, note.text);
  }
  if (result.legal) {
    result.out +=
        fmt::format("{}: {} in {}, all legal for {}, PTX {}\n", printable_name(source.name()),
                    plural(judged.instructions, "instruction"), plural(judged.kernels, "kernel"),
                    judged.target, judged.ptx);
  } else {
    result.out += fmt::format("{}: {}\n", printable_name(source.name()),
                              plural(judged.errors.size(), "error"));
  }
  return result;
}

}  // namespace ww::driver
