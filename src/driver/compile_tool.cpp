// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_io.h"
#include "base/printable.h"
#include "base/source.h"
#include "driver/args/file_plan.h"
#include "driver/args/kernel_args.h"
#include "driver/build.h"
#include "driver/call/launch_description.h"
#include "driver/expect/expect.h"
#include "driver/explain.h"
#include "driver/run/device_run.h"
#include "driver/sim/options.h"
#include "emit/cuda/emit.h"
#include "eval/eval.h"
#include "ir/launch/active_set.h"
#include "ir/print/print.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/register_class.h"

namespace ww::driver {
namespace {

// --- the host program ----------------------------------------------------------------------------
//
// The host program of `compile --emit cuda --main`: arguments as `warpwright run` gives them, and
// the results of the reference evaluator to compare with.

// Leaves the results in the arrays. No, when there are none that mean something.
Result<bool> evaluate(const ir::Function& tile, LaunchValues& values, const eval::Limits& limits) {
  auto report = eval::run(tile, eval_arguments(values), {.limits = limits});
  if (!report && report.error().kind == DiagKind::RunLimit) return std::move(report).failure();
  return report && report->good();
}

emit::HostArgument array_argument(const LaunchValue& value, std::vector<std::byte> contents) {
  emit::HostArgument out;
  out.name = value.name;
  out.dtype = value.array.dtype;
  out.elements = static_cast<std::int64_t>(contents.size()) * 8 / num::storage_bits(out.dtype);
  out.contents = std::move(contents);
  return out;
}

emit::HostArgument scalar_argument(const ir::Var& var, std::uint64_t bits) {
  emit::HostArgument out;
  out.name = var.name;
  out.dtype = var.type.dtype;
  out.is_array = false;
  out.scalar_bits = bits;
  return out;
}

emit::HostMap host_map(const runtime::MapArgument& given) {
  const sim::TensorMap& map = given.map;
  emit::HostMap out{.name = given.name,
                    .array = given.array,
                    .offset = given.offset,
                    .type = static_cast<int>(map.type)};
  out.dims.assign(map.dims.begin(), map.dims.begin() + map.rank);
  out.strides.assign(map.strides.begin(), map.strides.begin() + (map.rank - 1));
  out.box.assign(map.box.begin(), map.box.begin() + map.rank);
  out.swizzle = static_cast<int>(map.swizzle);
  out.promotion = static_cast<int>(map.promotion);
  out.fill = sim::driver_code(map.fill);
  return out;
}

void set_launch(emit::HostProgram& program, const runtime::Launch& launch) {
  for (std::size_t d = 0; d < 3; ++d) {
    program.grid[d] = launch.grid[d];
    program.block[d] = launch.block[d];
    if (launch.cluster) program.cluster[d] = (*launch.cluster)[d];
  }
  program.dynamic_shared_bytes = launch.dynamic_shared;
  program.is_cooperative = launch.is_cooperative;
  program.is_programmatic = launch.is_programmatic;
}

// For a lowered build. What the evaluator does not execute, or finds something wrong with, is not
// compared. Nothing when the arguments are wrong or the evaluator reaches one of its limits; why
// is added to `errors`.
std::optional<emit::HostProgram> host_program(const Build& build, const ArgRequest& request,
                                              const eval::Limits& limits, std::string& errors) {
  auto args = read_kernel_args(build.tile(), request, errors);
  if (!args) return std::nullopt;
  auto before = host_side(build, kernel_args(*args));
  if (!before) {
    errors += render(before.error());
    return std::nullopt;
  }
  emit::HostProgram out;
  set_launch(out, before->launch);
  const auto& params = build.lowered->params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ir::Var& var = (*build.lowered)[params[i].var];
    if (var.type.is_pointer())
      out.arguments.push_back(array_argument(args->all[i], std::move(before->memory[i])));
    else
      out.arguments.push_back(scalar_argument(var, before->launch.arguments[i].bits));
  }
  for (const runtime::MapArgument& map : before->launch.maps) out.maps.push_back(host_map(map));
  const auto is_evaluated = evaluate(build.tile(), *args, limits);
  if (!is_evaluated) {
    errors += build.compiled->render(is_evaluated.error());
    return std::nullopt;
  }
  if (!*is_evaluated) return out;
  auto after = host_side(build, kernel_args(*args));
  for (std::size_t i = 0; after && i < args->all.size(); ++i) {
    const Tolerance tolerance = default_tolerance(args->all[i].array);
    out.arguments[i].rtol = tolerance.rtol;
    out.arguments[i].atol = tolerance.atol;
    out.arguments[i].expected = std::move(after->memory[i]);
  }
  return out;
}

// --- the tool --------------------------------------------------------------------------------

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
