// SPDX-License-Identifier: Apache-2.0
#include "driver/compile_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/file_io.h"
#include "base/source.h"
#include "ir/active_set.h"
#include "ir/print.h"
#include "script/parser.h"

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
      out.push_back({source.position(s.span.begin).line, id});
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
  for (const ThreadLine& line : lines)
    width = std::max(width, compiled.source.line(line.line).size());
  width = std::min<std::size_t>(width, 90);
  std::string out;
  std::string last;
  for (const ThreadLine& line : lines) {
    const std::string text =
        fmt::format("{:>5}  {:<{}}  # {}\n", line.line, compiled.source.line(line.line), width,
                    ir::to_text(sets[line.stmt], *shape));
    if (text != last) out += text;
    last = text;
  }
  return out;
}

std::string tile_text(const script::Compiled& compiled) { return ir::print(*compiled.function); }

struct EmitRow {
  EmitForm form;
  std::string (*run)(const script::Compiled&);
};
const std::vector<EmitRow>& emit_rows() {
  static const std::vector<EmitRow> rows = {
      {{"tile", "the tile program, checked, in one spelling; it compiles back to itself"},
       tile_text},
      {{"threads", "the source lines of the kernel, each with the threads that execute it"},
       threads_text},
  };
  return rows;
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

LoadedKernel load_kernel(const SourceRequest& request) {
  LoadedKernel out;
  if (!request.target.empty() && request.target != "auto") {
    const auto arch = target::parse_arch(request.target);
    if (!arch) {
      out.errors = render(arch.error(), SourceText("--target", request.target));
      return out;
    }
    out.target = target::Target{.arch = *arch, .ptx = target::ptx_versions().back()};
  }
  const auto text = read_file(request.path, script::kMaxSourceBytes);
  if (!text) {
    out.errors = render(text.error());
    return out;
  }
  script::Options options;
  options.kernel = request.kernel;
  options.target = out.target;
  if (!request.dialect.empty())
    options.dialect = request.dialect == "d1" ? script::Dialect::D1 : script::Dialect::D2;
  script::Compiled compiled = script::compile(SourceText(request.path, *text), options);
  for (const Diag& error : compiled.errors)
    out.errors += error.span.known ? compiled.render(error)
                                   : fmt::format("{}: {}", request.path, compiled.render(error));
  if (out.errors.empty()) out.compiled = std::move(compiled);
  return out;
}

CompileOutcome run_compile(const CompileRequest& request) {
  CompileOutcome out;
  const auto& rows = emit_rows();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const EmitRow& r) { return r.form.name == request.emit; });
  LoadedKernel loaded = load_kernel(request.source);
  out.errors = std::move(loaded.errors);
  if (!loaded.compiled || row == rows.end()) return out;
  std::string text = row->run(*loaded.compiled);
  if (request.output.empty()) {
    out.out = std::move(text);
    return out;
  }
  const auto written = write_file_atomically(request.output, text);
  if (!written) out.errors = render(written.error());
  return out;
}

}  // namespace ww::driver
