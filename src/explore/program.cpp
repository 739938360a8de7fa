// SPDX-License-Identifier: Apache-2.0
// The calls about a program: what is wrong with it, which functions it has, what was chosen for its
// primitives.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/proposal.h"
#include "base/utf8.h"
#include "driver/explain.h"
#include "explore/calls.h"
#include "layout/text.h"
#include "script/interp/candidates.h"
#include "script/syntax/parser.h"

namespace ww::explore {
namespace {

// --- places --------------------------------------------------------------------------------------

/// 1-based, columns in UTF-16 units as browsers count them.
struct PagePlace {
  std::size_t line = 0, column = 0;
};

PagePlace page_place(const SourceText& source, std::size_t offset) {
  const std::string_view text = source.text();
  offset = std::min(offset, text.size());
  const SourceText::Position at = source.position(offset);
  std::size_t begin = offset;
  while (begin > 0 && text[begin - 1] != '\n') --begin;
  std::size_t column = 1;
  for (std::string_view rest = text.substr(begin, offset - begin); !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    column += point.value > 0xFFFF ? 2 : 1;
    rest.remove_prefix(std::max<std::size_t>(point.bytes, 1));
  }
  return {at.line, column};
}

// Of a place behind the file's text, in the kernel expression, nothing.
bool is_in_file(const SourceText& source, Span span) {
  return span.known && span.begin <= source.text().size() && source.file_count() == 1;
}

void add_place(Json& out, const SourceText& source, Span span) {
  PagePlace begin, end;
  if (is_in_file(source, span)) {
    begin = page_place(source, span.begin);
    end = page_place(source, std::max(span.end, span.begin));
  }
  out["line"] = begin.line;
  out["column"] = begin.column;
  out["end_line"] = end.line;
  out["end_column"] = end.column;
}

// --- diagnostics ---------------------------------------------------------------------------------

Json fix_of(const Diag& problem, const SourceText& source) {
  if (!is_in_file(source, problem.span)) return nullptr;
  const auto proposal = proposal_of(problem, source.text());
  if (!proposal) return nullptr;
  Json edit;
  add_place(edit, source, proposal->span);
  edit["text"] = proposal->text;
  return {{"title", fmt::format("use `{}`", proposal->text)}, {"edits", Json::array({edit})}};
}

Json diagnostic_json(const Diag& problem, const SourceText& source) {
  Json out;
  add_place(out, source, problem.span);
  out["severity"] = "error";
  out["rule"] = name_of(problem.kind);
  out["message"] = problem.text;
  out["notes"] = Json::array();
  for (const Note& note : problem.notes) {
    Json each = {{"text", note.text}};
    add_place(each, source, note.span);
    out["notes"].push_back(std::move(each));
  }
  out["fix"] = fix_of(problem, source);
  return out;
}

// --- functions of the file -----------------------------------------------------------------------

Json params_json(const script::Ast& ast, const script::SymbolTable& symbols,
                 const script::Stmt& function, std::string_view text) {
  const auto text_of = [&](script::ExprId id) -> Json {
    if (!id.valid()) return nullptr;
    const script::Place place = ast[id].place;
    return text.substr(place.begin, place.end - place.begin);
  };
  return json_list(ast.list(function.params), [&](const script::Param& param) -> Json {
    return {{"name", symbols.text(param.name)},
            {"default", text_of(param.default_value)},
            {"annotation", text_of(param.annotation)}};
  });
}

Json functions_json(const SourceText& source) {
  Json out = Json::array();
  script::SymbolTable symbols;
  const auto ast = script::parse_file(source.text(), symbols);
  if (!ast) return out;
  const auto candidates = script::candidates_of(*ast, symbols, source.text());
  for (const script::StmtId id : ast->list(ast->body)) {
    const script::Stmt& stmt = (*ast)[id];
    if (stmt.kind != script::StmtKind::FunctionDef) continue;
    const std::string_view name = symbols.text(stmt.name);
    const auto offered = std::ranges::find(candidates, name, &script::Candidate::name);
    const bool is_offered = offered != candidates.end();
    out.push_back({{"name", name},
                   {"line", source.position(stmt.place.begin).line},
                   {"params", params_json(*ast, symbols, stmt, source.text())},
                   {"is_kernel", is_offered && !offered->is_builder},
                   {"kernels", is_offered ? Json(offered->kernels) : Json::array()}});
  }
  return out;
}

// --- buffers -------------------------------------------------------------------------------------

Json buffer_row(const driver::Build& build, ir::BufferId id) {
  const ir::Function& f = build.tile();
  const ir::Buffer& buffer = f[id];
  Json shape = Json::array();
  for (const ir::ExprId extent : buffer.shape) {
    const auto value = ir::const_int(f, extent);
    if (!value) return nullptr;
    shape.push_back(*value);
  }
  Json layout = nullptr;
  if (buffer.layout) layout = layout::to_text(*buffer.layout);
  return {{"name", buffer.name},
          {"layout", std::move(layout)},
          {"shape", std::move(shape)},
          {"dtype", num::name_of(buffer.dtype)},
          {"scope", ir::name_of(buffer.scope)},
          {"line", line_in_file(build, buffer.span)}};
}

Json buffers_json(const driver::Build& build) {
  Json out = Json::array();
  for (std::uint32_t i = 0; i < build.tile().buffer_count(); ++i) {
    if (build.tile()[ir::BufferId{i}].is_scalar) continue;
    Json row = buffer_row(build, ir::BufferId{i});
    if (!row.is_null()) out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

std::size_t line_in_file(const driver::Build& build, Span span) {
  const SourceText& source = build.compiled->source;
  return is_in_file(source, span) ? source.position(span.begin).line : 0;
}

void add_diagnostics(Json& out, const driver::Build& build) {
  out["diagnostics"] = Json::array();
  for (const Diag& problem : build.diags)
    out["diagnostics"].push_back(diagnostic_json(problem, build.compiled->source));
  out["text"] = build.errors;
}

Result<Json> call_check(Session& /*session*/, const Json& request) {
  const Program program = WW_TRY(program_field(request));
  const driver::Build build = build_program(program, driver::Phase::Ptx);
  Json out = driver::with_schema("explore-check");
  add_diagnostics(out, build);
  out["functions"] = functions_json(SourceText(program.file, program.source));
  const bool has_kernel = build.phase >= driver::Phase::Tile;
  out["kernel"] = has_kernel ? Json(build.tile().name) : Json(nullptr);
  out["good"] = build.good();
  return out;
}

Result<Json> call_explain(Session& /*session*/, const Json& request) {
  const driver::Build build = build_program(WW_TRY(program_field(request)), driver::Phase::Lowered);
  Json out = driver::with_schema("explore-explain");
  add_diagnostics(out, build);
  const bool has_report = build.phase >= driver::Phase::Tile && build.target.has_value();
  out["explain"] = has_report ? driver::explain_json(build) : Json(nullptr);
  out["buffers"] = build.phase >= driver::Phase::Tile ? buffers_json(build) : Json::array();
  return out;
}

}  // namespace ww::explore
