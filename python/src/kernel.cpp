// SPDX-License-Identifier: Apache-2.0
// Kernels: from a text to every form of it, and calls with the caller's arrays on the virtual GPU.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "base/source.h"
#include "bindings.h"
#include "call_args.h"
#include "driver/build.h"
#include "driver/call/call.h"
#include "driver/compile_tool.h"
#include "driver/explain.h"
#include "driver/report_parts.h"
#include "kernel.h"
#include "num/dtype.h"
#include "runtime/assembler.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

std::string source_text(const std::string& path) {
  Result<SourceText> text = driver::read_source(path);
  if (!text) raise(text.error());
  return std::string(text->text());
}

// Module, path and text of the files that one imports from its folder.
std::vector<std::tuple<std::string, std::string, std::string>> imported_files(
    const std::string& path, const std::string& text) {
  auto files = driver::imported_files(path, text);
  if (!files) raise(files.error());
  std::vector<std::tuple<std::string, std::string, std::string>> out;
  for (driver::ImportedFile& file : *files)
    out.emplace_back(std::move(file.module), std::move(file.path), std::move(file.text));
  return out;
}

// A file that a kernel needs besides its own: module, path, text, prelude.
using File = std::tuple<std::string, std::string, std::string, std::string>;

SourceText source_of(const std::string& path, const std::string& text,
                     const std::vector<File>& files) {
  SourceText out(path, text);
  for (const File& file : files) out.add_file(std::get<1>(file), std::get<2>(file));
  return out;
}

std::unique_ptr<Kernel> compile(const std::string& path, const std::string& text,
                                const std::string& kernel, const std::string& target,
                                const std::string& prelude, const std::string& module,
                                const std::vector<File>& files) {
  auto out = std::make_unique<Kernel>();
  std::atomic<bool> stop = false;
  run_interruptibly(
      [&] {
        driver::BuildOptions options{
            .kernel = kernel, .target = target, .prelude = prelude, .module = module};
        for (const File& file : files)
          options.modules.push_back({std::get<0>(file), std::get<3>(file)});
        out->build = driver::build_kernel(source_of(path, text, files), options);
        if (out->build.good()) out->params = driver::call_params(out->build.tile());
      },
      stop);
  if (!out->build.good()) {
    const nb::object error = nb::module_::import_("warpwright.errors").attr("CompileError");
    PyErr_SetObject(error.ptr(), nb::str(out->build.errors.c_str()).ptr());
    throw nb::python_error();
  }
  return out;
}

std::unique_ptr<Kernel> load(const std::string& saved, const std::string& path,
                             const std::string& text, const std::vector<File>& files) {
  auto out = std::make_unique<Kernel>();
  out->is_loaded = true;
  std::optional<Diag> problem;
  {
    const nb::gil_scoped_release release;
    Result<driver::Build> build = driver::load_build(saved, source_of(path, text, files));
    if (build) {
      out->build = *std::move(build);
      out->params = driver::call_params(out->build.tile());
    } else {
      problem = std::move(build).error();
    }
  }
  if (problem) raise(*problem);
  return out;
}

std::string form(const Kernel& kernel, const std::string& name) {
  std::string errors;
  std::string text;
  {
    const nb::gil_scoped_release release;
    text = driver::form_text(kernel.build, name, errors);
  }
  if (!errors.empty()) raise(DiagKind::NotEmitted, errors);
  return text;
}

// Registers of a thread, bytes of local memory, bytes of spills.
std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> size_by(const Kernel& kernel,
                                                                const std::string& ptxas) {
  Result<runtime::AssembledSize> size;
  {
    const nb::gil_scoped_release release;
    size = runtime::assembled_size(ptxas, kernel.build.ptx, kernel.build.target->arch);
  }
  if (!size) raise(size.error());
  return {size->registers, size->local, size->spills};
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> out;
  for (const num::DType each : num::all_dtypes()) out.emplace_back(num::name_of(each));
  return out;
}

std::optional<std::string> find_ptxas(const std::string& path) {
  const Result<std::string> found = runtime::find_ptxas({.path = path});
  return found ? std::optional(*found) : std::nullopt;
}

nb::list params_of(const Kernel& kernel) {
  nb::list out;
  for (const driver::CallParam& param : kernel.params) {
    nb::dict row;
    row["name"] = param.name;
    row["variable"] = param.variable;
    row["is_array"] = param.is_array;
    row["dtype"] = param.dtype ? nb::cast(std::string(num::name_of(*param.dtype))) : nb::none();
    row["shape"] = nb::tuple(nb::cast(param.shape));
    row["writes"] = param.writes;
    out.append(row);
  }
  return out;
}

// The report of a run as text and as JSON; on a GPU, with arrays of the host.
std::pair<std::string, std::string> run(const Kernel& kernel, const nb::sequence& args,
                                        const std::string& device, const std::string& checks,
                                        const std::string& schedule, const std::string& limits) {
  const HostArgs values(args);
  const auto kind = driver::parse_device(device).value_or(driver::DeviceKind::Sim);
  return report_of(
      [&](const driver::CallOptions& options) {
        return driver::call_kernel(kernel.build, values.all, options);
      },
      {.device = kind,
       .checks = checks,
       .schedule = schedule,
       .limits = limits,
       .driver = kind == driver::DeviceKind::Cuda ? &cuda_calls() : nullptr});
}

}  // namespace

void add_kernel(nb::module_& module) {
  nb::class_<Kernel>(module, "Kernel")
      .def_prop_ro("name", [](const Kernel& k) { return k.build.tile().name; })
      .def_prop_ro("entry", [](const Kernel& k) { return k.build.entry; })
      .def_prop_ro("ptx", [](const Kernel& k) { return k.build.ptx; })
      .def_prop_ro("target", [](const Kernel& k) { return driver::target_text(*k.build.target); })
      .def_prop_ro("params", params_of)
      .def_ro("is_loaded", &Kernel::is_loaded)
      .def("save", [](const Kernel& k) { return nb::bytes(driver::save_build(k.build).c_str()); })
      .def("form", form, "name"_a)
      .def("explain_text", [](const Kernel& k) { return driver::explain_text(k.build); })
      .def("explain_json",
           [](const Kernel& k) { return driver::json_text(driver::explain_json(k.build)); })
      .def("size_by", size_by, "ptxas"_a)
      .def("run", run, "args"_a, "device"_a, "checks"_a = "", "schedule"_a = "", "limits"_a = "");
  module.def("compile", compile, "path"_a, "text"_a, "kernel"_a, "target"_a, "prelude"_a,
             "module"_a, "files"_a);
  module.def("load", load, "saved"_a, "path"_a, "text"_a, "files"_a);
  module.def("source_text", source_text, "path"_a);
  module.def("imported_files", imported_files, "path"_a, "text"_a);
  module.def("find_ptxas", find_ptxas, "path"_a);
  module.def("target_names", driver::target_names);
  module.def("dtype_names", dtype_names);
}

}  // namespace ww::python
