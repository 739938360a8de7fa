// SPDX-License-Identifier: Apache-2.0
// `import`: the modules of the language are namespaces, those of Python that we model are, too, and
// all others are opaque.
#include "script/interp/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "script/api/builtins.h"

namespace ww::script {
namespace {

struct ModuleRow {
  std::string_view path;
  std::string_view space;
  bool is_partial = false;  // has more than the namespace
};

constexpr ModuleRow kModules[] = {
    {"tvm", "tvm"},
    {"tvm.script", "tvm.script"},
    {"tvm.script.ir", "tvm.script.ir"},
    {"tvm.script.tirx", "T"},
    {"tvm.script.tir", "T"},
    {"tvm.script.tirx.tile", "Tx"},
    {"tvm.script.parser.tirx", "T", true},
    {"tvm.tirx.script", "T", true},
    {"tvm.tirx.script.ir_builder", "T", true},
    {"tvm.tirx.script.ir_builder.ir", "T", true},
    {"tvm.tirx.script.parser", "T", true},
    {"tvm.tirx", "tvm.tirx"},
    {"tvm.tirx.op", "T", true},
    {"tvm.tirx.layout", "layout"},
    {"tvm.runtime", "tvm.runtime"},
    {"tvm.ir", "tvm.ir"},
    {"warpwright", "warpwright", true},
    {"warpwright.lang", "layout", true},
    {"warpwright.lang.T", "T"},
    {"warpwright.lang.Tx", "Tx"},
    {"typing", "typing", true},
    {"math", "math"},
    {"functools", "functools"},
    {"itertools", "itertools"},
    {"operator", "operator"},
    {"dataclasses", "dataclasses"},
    {"numpy", "numpy"},
    {"tvm.target", "tvm.target"},
};

// What moves from folder to folder of TVM: layouts beside its tile primitives, pools, barriers and
// roles beside the other classes for kernels. Empty for other modules.
std::string_view space_of_moving(std::string_view path) {
  if (!path.starts_with("tvm.")) return {};
  for (const std::string_view end :
       {".lang", ".lang.alloc_pool", ".lang.pipeline", ".lang.warp_role", ".lang.tile_scheduler"})
    if (path.ends_with(end)) return "T";
  if (path.find(".tile_primitive.") == std::string_view::npos) return {};
  for (const std::string_view end : {".tma_utils", ".gemm_async", ".gemm_async.tcgen05"})
    if (path.ends_with(end)) return "layout";
  return {};
}

bool is_partial(std::string_view path) {
  return !space_of_moving(path).empty() ||
         std::any_of(std::begin(kModules), std::end(kModules),
                     [&](const ModuleRow& row) { return row.path == path && row.is_partial; });
}

// Where classes for kernels live: `tvm.tirx.lang.warp_role` in one version is a part of
// `tvm.backend.cuda.lang` in another.
std::string_view canonical_module(std::string_view module) {
  const bool is_lang =
      module.starts_with("tvm.") &&
      (module.ends_with(".lang") || module.find(".lang.") != std::string_view::npos);
  return is_lang ? "tvm.backend.cuda.lang" : module;
}

// A file of the source as a value: names, as a class has them.
Value file_value(Context& in, std::string_view module, Env& env) {
  ClassObject out;
  out.name = module;
  out.env = &env;
  return in.heap.wrap(Kind::Class, std::move(out));
}

Value module_value(Context& in, std::string_view path, Span where) {
  if (const auto file = in.files.find(path); file != in.files.end())
    return file_value(in, path, *file->second.env);
  if (const auto space = known_module(path))
    return in.heap.wrap(Kind::Namespace, NamespaceObject{{}, std::string(*space)});
  return opaque_value(in, where, fmt::format("module `{}` is not modelled", path));
}

Value imported_value(Context& in, const std::string& module, const Import& import, Span head) {
  const Span where = in.span(import.place);
  const std::string inner = module + "." + import.path;
  if (known_module(inner)) return module_value(in, inner, where);
  const Value from = module_value(in, module, head);
  std::string missing = fmt::format("`{}` of module `{}` is not modelled", import.path, module);
  if (const auto reason =
          why_not_taken(fmt::format("{}.{}", canonical_module(module), import.path)))
    missing = fmt::format("`{}` of module `{}` is not taken: {}", import.path, module, *reason);
  if (from.is(Kind::Opaque)) return opaque_value(in, where, missing);
  Result<Value> member = attribute(in, from, import.path, where, where);
  if (member) return *member;
  return opaque_value(in, where, is_partial(module) ? missing : member.error().text);
}

// A file that failed fails for all that import it, as in Python.
Result<void> check_has_run(const Context& in, std::string_view module, Span where) {
  const auto file = in.files.find(module);
  if (file == in.files.end() || !file->second.failure) return {};
  return fail(Diag(*file->second.failure).with_note("imported here", where));
}

}  // namespace

std::optional<std::string_view> known_module(std::string_view path) {
  for (const ModuleRow& row : kModules)
    if (row.path == path) return row.space;
  if (const std::string_view space = space_of_moving(path); !space.empty()) return space;
  return std::nullopt;
}

Result<void> exec_import(Context& in, const Stmt& s, Env& env) {
  if (s.kind == StmtKind::ImportFrom)
    WW_TRY_VOID(check_has_run(in, in.ast().strings[s.module], in.span(s.head)));
  for (const Import& import : in.ast().list(s.imports)) {
    const Span where = in.span(import.place);
    if (s.kind == StmtKind::ImportFrom) {
      if (import.path == "*") continue;
      const Value value = imported_value(in, in.ast().strings[s.module], import, in.span(s.head));
      WW_TRY_VOID(bind_name(in, env, import.as, value, where));
      continue;
    }
    // `import a.b` binds `a`; `import a.b as c` binds c to a.b.
    const std::string_view bound = in.symbols.text(import.as);
    const bool is_renamed = bound != import.path.substr(0, import.path.find('.'));
    const std::string path = is_renamed ? import.path : std::string(bound);
    WW_TRY_VOID(check_has_run(in, path, where));
    WW_TRY_VOID(bind_name(in, env, import.as, module_value(in, path, where), where));
  }
  return {};
}

}  // namespace ww::script
