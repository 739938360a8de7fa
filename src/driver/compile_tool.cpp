// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/check.h"
#include "base/file_io.h"
#include "base/printable.h"
#include "base/source.h"
#include "driver/args/file_plan.h"
#include "driver/call/launch_description.h"
#include "driver/explain.h"
#include "driver/run/host_program.h"
#include "driver/sim/options.h"
#include "emit/cuda/emit.h"
#include "ir/launch/active_set.h"
#include "ir/print/print.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/register_class.h"

namespace ww::driver {
namespace {

// --- who executes what --------------------------------------------------------------------------

bool is_worth_a_line(ir::StmtKind kind) {
  switch (kind) {
    case ir::StmtKind::Alloc:
    case ir::StmtKind::Declare:
    case ir::StmtKind::ScopeIds:
    case ir::StmtKind::LaunchThread:
    case ir::StmtKind::Attr:
      return false;
    default:
      return true;
  }
}

struct ThreadLine {
  std::size_t line;
  ir::StmtId stmt;
};

void collect(const ir::Function& f, const ir::Block& block, const SourceText& source,
             std::vector<ThreadLine>& out) {
  for (const ir::StmtId id : block) {
    const ir::Stmt& s = f[id];
    if (is_worth_a_line(s.kind) && s.span.known)
      out.push_back({source.line_number(s.span.begin), id});
    collect(f, s.body, source, out);
    collect(f, s.other, source, out);
  }
}

// The source lines of the device code, each with the threads that come there.
std::string threads_text(const script::Compiled& compiled) {
  const ir::Function& f = *compiled.function;
  const Result<ir::LaunchShape> shape = ir::launch_shape(f);
  if (!shape) return compiled.render(shape.error());
  const ir::ActiveSets sets = ir::ActiveSets::of(f, *shape);
  std::vector<ThreadLine> lines;
  collect(f, f.body, compiled.source, lines);
  std::size_t width = 0;
  const auto source_line = [&](const ThreadLine& line) {
    return printable_columns(compiled.source.line(line.line));
  };
  for (const ThreadLine& line : lines) width = std::max(width, source_line(line).size());
  width = std::min<std::size_t>(width, 90);
  std::string out;
  std::string last;
  for (const ThreadLine& line : lines) {
    const std::string text = fmt::format("{:>5}  {:<{}}  # {}\n", line.line, source_line(line),
                                         width, ir::to_text(sets[line.stmt], *shape));
    if (text != last) out += text;
    last = text;
  }
  return out;
}

// --- forms --------------------------------------------------------------------------------------

/// What a form is made from. What goes wrong is added to the errors.
struct Emission {
  const Build& build;
  const CompileRequest& request;
  const LimitChanges& limits;
  std::string& errors;

  void refuse(const Diag& problem) const {
    errors += problem.span.known ? build.compiled->render(problem) : render(problem);
  }
};

std::string tile_form(const Emission& emission) { return ir::print(emission.build.tile()); }

std::string threads_form(const Emission& emission) {
  return threads_text(*emission.build.compiled);
}

std::string ir_form(const Emission& emission) { return ir::print(*emission.build.lowered); }

std::string explain_form(const Emission& emission) { return explain_text(emission.build); }

std::string cuda_form(const Emission& emission) {
  const Build& build = emission.build;
  std::optional<emit::HostProgram> host;
  if (emission.request.with_main) {
    host = host_program(build, emission.request.arguments, emission.limits.on(eval::Limits{}),
                        emission.errors);
    if (!host) return "";
  }
  auto text = emit::cuda_source(*build.lowered, {.target = *build.target,
                                                 .source = &build.compiled->source,
                                                 .host = host ? &*host : nullptr});
  if (text) return *std::move(text);
  emission.refuse(text.error());
  return "";
}

std::string ptx_form(const Emission& emission) {
  if (emission.request.registers != "views") return emission.build.ptx;
  const ptx::ParseResult read = ptx::parse(emission.build.ptx);
  WW_CHECK(read.ok(), "PTX that was written cannot be read");
  const auto views = ptx::with_float_views(read.module);
  if (views) return ptx::print(*views);
  emission.refuse(views.error());
  return "";
}

std::string launch_form(const Emission& emission) {
  auto text = launch_json(emission.build);
  if (text) return *std::move(text);
  emission.refuse(text.error());
  return "";
}

std::string cubin_form(const Emission& emission) {
  const auto assembled = [&]() -> Result<std::string> {
    const std::string ptxas = WW_TRY(runtime::find_ptxas(emission.request.ptxas));
    const auto slow =
        emission.request.allow_slow ? runtime::SlowRemarks::Allow : runtime::SlowRemarks::Refuse;
    auto made = runtime::assemble(ptxas, emission.build.ptx, emission.build.target->arch, slow);
    if (made || slow == runtime::SlowRemarks::Allow) return made;
    return fail(std::move(made).error().with_note("`--allow-slow` takes it all the same"));
  };
  auto cubin = assembled();
  if (cubin) return *std::move(cubin);
  emission.refuse(cubin.error());
  return "";
}

struct EmitRow {
  EmitForm form;
  Phase needs;
  std::string (*run)(const Emission&);
};
const std::vector<EmitRow>& emit_rows() {
  static const std::vector<EmitRow> rows = {
      {{"tile", "the checked program in one spelling (default), which compiles to itself"},
       Phase::Tile,
       tile_form},
      {{"threads", "the lines of the kernel, each with the threads that execute it"},
       Phase::Tile,
       threads_form},
      {{"explain", "what the compiler chose for each primitive, and why"},
       Phase::Lowered,
       explain_form},
      {{"ir", "the lowered program: loops, flat buffers, PTX instructions"},
       Phase::Lowered,
       ir_form},
      {{"cuda", "self-contained CUDA C++; --main adds a host program"}, Phase::Lowered, cuda_form},
      {{"ptx", "PTX, with source locations"}, Phase::Ptx, ptx_form},
      {{"launch", "how to launch it: grid, block, shared memory, parameters, as JSON"},
       Phase::Ptx,
       launch_form},
      {{"cubin", "the PTX assembled by ptxas; needs -o"}, Phase::Ptx, cubin_form},
  };
  return rows;
}

const EmitRow* find_row(std::string_view form) {
  const auto& rows = emit_rows();
  const auto row = std::ranges::find(rows, form, [](const EmitRow& r) { return r.form.name; });
  return row == rows.end() ? nullptr : &*row;
}

// Options that do not go with the form.
std::optional<Diag> misused(const CompileRequest& request) {
  if (request.emit == "cubin" && request.output.empty())
    return diag(DiagKind::BadArgument, "`--emit cubin` gives bytes, and `-o` names no file");
  if (!request.registers.empty() && request.emit != "ptx")
    return diag(DiagKind::BadArgument, "`--registers` with `--emit {}`: it is for `--emit ptx`",
                request.emit);
  if (request.with_main && request.emit != "cuda")
    return diag(DiagKind::BadArgument, "`--main` with `--emit {}`: it is for `--emit cuda`",
                request.emit);
  if (!request.with_main && !request.arguments.args.empty())
    return diag(DiagKind::BadArgument, "`--arg` without `--main`: nothing takes arguments");
  if (!request.with_main && !request.limits.empty())
    return diag(DiagKind::BadArgument, "`--limit` without `--main`: nothing is evaluated");
  return std::nullopt;
}

Result<void> check_files(const CompileRequest& request) {
  if (request.output.empty()) return {};
  FilePlan files;
  files.reads(request.source);
  files.reads_args(request.arguments.args);
  auto good = files.writes(request.output, "`-o`");
  if (good) return {};
  return fail(std::move(good).error().with_span(Span::at(0, request.output.size())));
}

}  // namespace

const std::vector<EmitForm>& emit_forms() {
  static const std::vector<EmitForm> forms = [] {
    std::vector<EmitForm> out;
    for (const EmitRow& row : emit_rows()) out.push_back(row.form);
    return out;
  }();
  return forms;
}

std::string form_text(const Build& build, std::string_view form, std::string& errors) {
  const EmitRow* const row = find_row(form);
  WW_CHECK(row != nullptr && build.phase >= row->needs, "form `{}` of an unfinished build", form);
  return row->run({build, {}, {}, errors});
}

CompileOutcome run_compile(const CompileRequest& request) {
  const EmitRow* const row = find_row(request.emit);
  if (row == nullptr)
    return {.errors = render(diag(DiagKind::UnknownName, "no form `{}`", request.emit))};
  if (const auto problem = misused(request)) return {.errors = render(*problem)};
  const auto limits = parse_limits(request.limits);
  if (!limits) return {.errors = render(limits.error(), SourceText("--limit", request.limits))};
  if (const auto good = check_files(request); !good)
    return {.errors = render(good.error(), SourceText("-o", request.output))};
  Build build = build_file(request.source, row->needs);
  std::string text = build.good() ? row->run({build, request, *limits, build.errors}) : "";
  if (!build.good()) return {.errors = std::move(build.errors)};
  if (request.output.empty()) return {.out = std::move(text)};
  const auto written = write_file_atomically(request.output, text);
  return {.errors = written ? "" : render(written.error())};
}

}  // namespace ww::driver
