// SPDX-License-Identifier: Apache-2.0
// Calls on a GPU with PyTorch's tensors. The attributes of a tensor are read here rather than in
// Python, because a launch should cost little more than the driver's own part.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/diag.h"
#include "bindings.h"
#include "call_args.h"
#include "kernel.h"
#include "num/dtype.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

// Loaded at the first use, and kept: the driver stays where it is.
const runtime::CudaCalls& cuda_calls() {
  static const Result<runtime::CudaCalls> calls = runtime::load_cuda_calls();
  if (!calls) raise(calls.error());
  return *calls;
}

// PyTorch has one object for each element type, which lives as long as the process.
num::DType dtype_of(const nb::object& dtype, const std::string& name) {
  static std::unordered_map<PyObject*, num::DType> known;
  if (const auto found = known.find(dtype.ptr()); found != known.end()) return found->second;
  std::string text = nb::cast<std::string>(nb::str(dtype));
  if (text.starts_with("torch.")) text.erase(0, 6);
  const auto parsed = num::parse_dtype(text);
  if (!parsed)
    raise(DiagKind::BadArgument, "`" + name + "` was given a tensor of " + text +
                                     ": kernels have "
                                     "no such elements\n");
  dtype.inc_ref();  // keeps the address its own
  return known.emplace(dtype.ptr(), *parsed).first->second;
}

/// Attributes of a tensor: a name that Python has already is looked up faster than one to be made.
struct Names {
  static nb::handle intern(const char* name) { return PyUnicode_InternFromString(name); }
  nb::handle is_cuda = intern("is_cuda"), get_device = intern("get_device"),
             dtype = intern("dtype"), data_ptr = intern("data_ptr"), shape = intern("shape"),
             is_contiguous = intern("is_contiguous");
};
const Names& names() {
  static const Names made;
  return made;
}

driver::ArrayView tensor_view(nb::handle tensor, int number, const std::string& name) {
  if (nb::cast<int>(tensor.attr(names().get_device)()) != number) {
    const nb::object device = tensor.attr("device");
    raise(DiagKind::BadArgument, "`" + name + "` is on " + nb::cast<std::string>(nb::str(device)) +
                                     ": expected cuda:" + std::to_string(number) + "\n");
  }
  driver::ArrayView out;
  out.dtype = dtype_of(tensor.attr(names().dtype), name);
  out.data = std::bit_cast<std::byte*>(nb::cast<std::uintptr_t>(tensor.attr(names().data_ptr)()));
  for (const nb::handle extent : tensor.attr(names().shape))
    out.shape.push_back(nb::cast<std::int64_t>(extent));
  if (nb::cast<bool>(tensor.attr(names().is_contiguous)())) return out;
  const auto width = nb::cast<std::int64_t>(tensor.attr("element_size")());
  for (const nb::handle stride : tensor.attr("stride")())
    out.strides.push_back(nb::cast<std::int64_t>(stride) * width);
  return out;
}

std::vector<driver::CallArg> read_tensors(const Kernel& kernel, const nb::sequence& args,
                                          int number) {
  std::vector<driver::CallArg> out;
  std::size_t at = 0;
  for (const nb::handle each : args) {
    const std::string& name =
        at < kernel.params.size() ? kernel.params[at].name : kernel.build.entry;
    ++at;
    if (nb::hasattr(each, names().is_cuda))
      out.emplace_back(tensor_view(each, number, name));
    else
      out.push_back(read_number(each, name));
  }
  return out;
}

// `stream` is a CUstream as a number.
void call_on_gpu(Kernel& kernel, const nb::sequence& args, int number, std::uintptr_t stream) {
  const std::vector<driver::CallArg> values = read_tensors(kernel, args, number);
  const runtime::CudaCalls& calls = cuda_calls();
  Result<void> done;
  if (kernel.has_run_on_gpu) {
    done = kernel.gpu.call(calls, number, std::bit_cast<void*>(stream), values);
  } else {  // the driver compiles the PTX
    const nb::gil_scoped_release release;
    done = kernel.gpu.call(calls, number, std::bit_cast<void*>(stream), values);
    kernel.has_run_on_gpu = done.has_value();
  }
  if (!done) raise(done.error());
}

/// A launch with its arguments, to be repeated on the caller's current stream.
struct BoundCall {
  nb::object kernel;  // kept alive, as are the tensors
  nb::object tensors;
  nb::object streams;  // a function: the current stream of a GPU, as a number
  nb::object number;
  driver::GpuKernel::Bound call;
};

BoundCall bind_on_gpu(nb::object kernel, const nb::sequence& args, int number, nb::object streams) {
  Kernel& bound = *nb::inst_ptr<Kernel>(kernel);
  auto call = bound.gpu.bind(cuda_calls(), number, read_tensors(bound, args, number));
  if (!call) raise(call.error());
  return {.kernel = std::move(kernel),
          .tensors = nb::tuple(args),
          .streams = std::move(streams),
          .number = nb::int_(number),
          .call = std::move(*call)};
}

void launch_bound(BoundCall& bound) {
  const auto stream = nb::cast<std::uintptr_t>(bound.streams(bound.number));
  const Result<void> done = bound.call.launch(std::bit_cast<void*>(stream));
  if (!done) raise(done.error());
}

// What to compile for on that GPU: "sm_90a".
std::string native_target(int number) {
  const auto device = runtime::CudaDevice::open_at(cuda_calls(), number, target::kArchs[0].arch);
  if (!device) raise(device.error());
  const auto target = (*device)->native_target();
  if (!target) raise(DiagKind::NoDevice, (*device)->name() + " is older than all known GPUs\n");
  return std::string(target::info(target->arch).name);
}

}  // namespace

void add_gpu(nb::module_& module) {
  nb::class_<BoundCall>(module, "BoundCall").def("__call__", launch_bound);
  module.def("call_on_gpu", call_on_gpu, "kernel"_a, "args"_a, "number"_a, "stream"_a);
  module.def("bind_on_gpu", bind_on_gpu, "kernel"_a, "args"_a, "number"_a, "streams"_a);
  module.def("native_target", native_target, "number"_a);
}

}  // namespace ww::python
