// SPDX-License-Identifier: Apache-2.0
// The program in all its forms, each line with the line of the source that it comes from.
#include <fmt/format.h>

#include <algorithm>

#include "base/split.h"
#include "emit/cuda/emit.h"
#include "explore/calls.h"
#include "ir/print/print.h"
#include "ptx/parser.h"
#include "runtime/assembler.h"
#include "runtime/sass.h"

namespace ww::explore {
namespace {

using Lines = std::vector<std::size_t>;  // of the source; 0: none

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return ww::split(text, '\n');
}

Json column(std::string_view form, std::string_view text, const Lines& lines) {
  return {{"form", form}, {"text", lines_of(text)}, {"source_lines", lines}, {"error", nullptr}};
}

Json missing_column(std::string_view form, const std::string& why) {
  return {{"form", form}, {"text", Json::array()}, {"source_lines", Json::array()}, {"error", why}};
}

Lines source_lines(const driver::Build& build, const std::vector<Span>& spans) {
  Lines out;
  for (const Span& span : spans) out.push_back(line_in_file(build, span));
  return out;
}

Json printed_column(const driver::Build& build, std::string_view form, const ir::Function& f) {
  const ir::PrintedLines printed = ir::print_lines(f);
  return column(form, printed.text, source_lines(build, printed.spans));
}

Json cuda_column(const driver::Build& build) {
  const auto made = emit::cuda_lines(
      *build.lowered,
      {.target = *build.target, .source = &build.compiled->source, .host = nullptr});
  if (!made) return missing_column("cuda", build.compiled->render(made.error()));
  return column("cuda", made->text, source_lines(build, made->spans));
}

/// From here on, instructions come from this line of the source.
struct LocPoint {
  std::size_t offset = 0, line = 0;
};

std::vector<LocPoint> loc_points(const ptx::Module& module) {
  std::vector<LocPoint> out;
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Statement& statement : function.statements)
      if (statement.kind == ptx::StatementKind::Loc)
        out.push_back({statement.offset, function.locs[statement.index].at.line});
  }
  return out;
}

// `.loc FILE LINE COLUMN` holds for the instructions behind it.
Lines ptx_lines(std::string_view ptx) {
  const ptx::ParseResult parsed = ptx::parse(ptx);
  const std::vector<LocPoint> points = loc_points(parsed.module);
  auto next = points.begin();
  Lines out;
  std::size_t now = 0;
  for (const std::string_view line : lines_of(ptx)) {
    const auto end = static_cast<std::size_t>(line.data() - ptx.data()) + line.size();
    for (; next != points.end() && next->offset < end; ++next) now = next->line;
    if (line.starts_with('}')) now = 0;
    const bool is_code = line.starts_with('\t') && line.ends_with(';') && !line.starts_with("\t.");
    out.push_back(is_code ? now : 0);
  }
  return out;
}

std::string sass_line(const runtime::SassInstruction& each) {
  return fmt::format("{:04x}  {}{}{}{}{}", each.address, each.guard, each.guard.empty() ? "" : " ",
                     each.opcode, each.operands.empty() ? "" : " ", each.operands);
}

Json sass_column(const Session& session, const driver::Build& build, const Lines& ptx) {
  const auto listing =
      runtime::sass_listing(session.options.sass, build.ptx, build.target->arch, build.entry);
  if (!listing) return missing_column("sass", render(listing.error()));
  const auto functions = runtime::read_listing(*listing);
  if (!functions) return missing_column("sass", render(functions.error()));
  Json text = Json::array(), lines = Json::array(), ptx_lines = Json::array();
  for (const runtime::SassFunction& function : *functions) {
    for (const runtime::SassInstruction& each : function.code) {
      text.push_back(sass_line(each));
      ptx_lines.push_back(each.line);
      lines.push_back(each.line > 0 && each.line <= ptx.size() ? ptx[each.line - 1] : 0);
    }
  }
  return {{"form", "sass"},
          {"text", std::move(text)},
          {"source_lines", std::move(lines)},
          {"ptx_lines", std::move(ptx_lines)},
          {"error", nullptr}};
}

}  // namespace

Result<Json> call_code(Session& session, const Json& request) {
  const driver::Build build = build_program(WW_TRY(program_field(request)), driver::Phase::Ptx);
  std::vector<std::string> forms = WW_TRY(texts_field(request, "forms"));
  if (forms.empty()) forms = {"tile", "ir", "cuda", "ptx"};
  const auto wants = [&](std::string_view form) {
    return std::ranges::find(forms, form) != forms.end();
  };
  Json out = driver::with_schema("explore-code");
  Json& columns = out["columns"] = Json::array();
  if (build.phase >= driver::Phase::Tile && wants("tile"))
    columns.push_back(printed_column(build, "tile", build.tile()));
  if (build.phase >= driver::Phase::Lowered && wants("ir"))
    columns.push_back(printed_column(build, "ir", *build.lowered));
  if (build.phase >= driver::Phase::Lowered && wants("cuda")) columns.push_back(cuda_column(build));
  if (build.phase >= driver::Phase::Ptx && (wants("ptx") || wants("sass"))) {
    const Lines lines = ptx_lines(build.ptx);
    if (wants("ptx")) columns.push_back(column("ptx", build.ptx, lines));
    if (wants("sass")) columns.push_back(sass_column(session, build, lines));
  }
  out["target"] = build.target ? Json(target::info(build.target->arch).name) : Json(nullptr);
  add_diagnostics(out, build);
  return out;
}

}  // namespace ww::explore
