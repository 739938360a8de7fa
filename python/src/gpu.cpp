// SPDX-License-Identifier: Apache-2.0
// Calls on a GPU with tensors that lie there. launcher.cpp has the short way for repeated ones.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/diag.h"
#include "bindings.h"
#include "gpu_args.h"
#include "kernel.h"
#include "runtime/cuda_device.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

GpuArgs read_tensors(const Kernel& kernel, const nb::sequence& values, int number) {
  GpuArgs out;
  std::size_t at = 0;
  for (const nb::handle each : values) {
    GpuArgs::Wanted wanted{.name = kernel.build.entry};
    if (at < kernel.params.size()) wanted = {kernel.params[at].name, kernel.params[at].writes};
    ++at;
    out.add(each, number, wanted);
  }
  return out;
}

// The GPU of the first tensor that lies on one.
std::optional<int> gpu_number(const nb::sequence& values) {
  for (const nb::handle each : values)
    if (const int number = gpu_of(each); number >= 0) return number;
  return std::nullopt;
}

void call_on_gpu(Kernel& kernel, const nb::sequence& values, int number) {
  const GpuArgs args = read_tensors(kernel, values, number);
  const runtime::CudaCalls& calls = cuda_calls();
  void* const stream = args.streams().current();
  Result<void> done;
  if (kernel.has_run_on_gpu) {
    done = kernel.gpu.call(calls, number, stream, args.all());
  } else {  // the driver compiles the PTX
    const nb::gil_scoped_release release;
    done = kernel.gpu.call(calls, number, stream, args.all());
    kernel.has_run_on_gpu = done.has_value();
  }
  if (!done) raise(done.error());
}

// Until what was launched there has ended.
void wait_for_gpu(Kernel& kernel, int number) {
  const runtime::CudaCalls& calls = cuda_calls();
  Result<void> done;
  {
    const nb::gil_scoped_release release;
    done = kernel.gpu.wait(calls, number);
  }
  if (!done) raise(done.error());
}

/// A launch with its arguments, to be repeated on the caller's current stream.
struct BoundCall {
  nb::object kernel;  // kept alive, as are the tensors
  nb::object tensors;
  StreamSource streams;
  driver::GpuKernel::Bound call;
};

BoundCall bind_on_gpu(nb::object kernel, const nb::sequence& values, int number) {
  Kernel& bound = *nb::inst_ptr<Kernel>(kernel);
  const GpuArgs args = read_tensors(bound, values, number);
  auto call = bound.gpu.bind(cuda_calls(), number, args.all());
  if (!call) raise(call.error());
  return {.kernel = std::move(kernel),
          .tensors = nb::tuple(values),
          .streams = args.streams(),
          .call = std::move(*call)};
}

PyObject* launch_bound(PyObject* self, PyObject* args, PyObject* named) noexcept {
  try {
    if (PyTuple_Size(args) != 0 || (named != nullptr && PyDict_Size(named) != 0))
      raise(DiagKind::BadArgument, "a bound call takes no arguments: it has them already\n");
    BoundCall& bound = *nb::inst_ptr<BoundCall>(self);
    const Result<void> done = bound.call.launch(bound.streams.current());
    if (!done) raise(done.error());
    return nb::none().release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// What to compile for on that GPU: "sm_90a".
std::string native_target(int number) {
  const auto device = runtime::CudaDevice::open_at(cuda_calls(), number, target::kArchs[0].arch);
  if (!device) raise(device.error());
  const auto target = (*device)->native_target();
  if (!target) raise(DiagKind::NoDevice, (*device)->name() + " is older than all known GPUs\n");
  return std::string(target::info(target->arch).name);
}

PyType_Slot bound_slots[] = {{Py_tp_call, reinterpret_cast<void*>(launch_bound)}, {0, nullptr}};

}  // namespace

const runtime::CudaCalls& cuda_calls() {
  static const Result<runtime::CudaCalls> calls = runtime::load_cuda_calls();
  if (!calls) raise(calls.error());
  return *calls;
}

void add_gpu(nb::module_& module) {
  nb::class_<BoundCall>(module, "BoundCall", nb::type_slots(bound_slots));
  module.def("gpu_number", gpu_number, "values"_a);
  module.def("call_on_gpu", call_on_gpu, "kernel"_a, "values"_a, "number"_a);
  module.def("wait_for_gpu", wait_for_gpu, "kernel"_a, "number"_a);
  module.def("bind_on_gpu", bind_on_gpu, "kernel"_a, "values"_a, "number"_a);
  module.def("native_target", native_target, "number"_a);
}

}  // namespace ww::python
