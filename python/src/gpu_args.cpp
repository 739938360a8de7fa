// SPDX-License-Identifier: Apache-2.0
#include "gpu_args.h"

#include <nanobind/stl/string.h>

#include <array>
#include <bit>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "bindings.h"
#include "call_args.h"
#include "driver/args/npy.h"
#include "kernel.h"
#include "num/dtype.h"
#include "runtime/cuda_calls.h"

namespace nb = nanobind;

namespace ww::python {
namespace {

using driver::CallArg;

// --- the exchange table of a type ----------------------------------------------------------------

// A tensor class of PyTorch that runs Python for its operations (FakeTensor) has no memory to show.
bool runs_python(nb::handle type) {
  if (!nb::hasattr(type, "__torch_dispatch__")) return false;
  const nb::object torch = nb::module_::import_("torch");
  return !type.attr("__torch_dispatch__")
              .is(nb::getattr(torch.attr("_C"), "_disabled_torch_dispatch_impl", nb::none()));
}

const dlpack::Exchange* find_exchange(nb::handle type) {
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") || runs_python(type)) return nullptr;
  const auto* header = static_cast<const dlpack::Header*>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (header != nullptr && header->major != dlpack::kMajorVersion) header = header->previous;
  // The header is the first member of the table.
  const auto* const table = reinterpret_cast<const dlpack::Exchange*>(header);
  const bool is_whole =
      table != nullptr && table->tensor_from_object != nullptr && table->current_stream != nullptr;
  return is_whole ? table : nullptr;
}

// Calls meet the same few types again and again. A type stays alive, so that its address is its own.
const dlpack::Exchange* exchange_of(PyTypeObject* type) {
  struct Row {
    PyTypeObject* type = nullptr;
    const dlpack::Exchange* exchange = nullptr;
  };
  static std::array<Row, 8> rows;
  static std::size_t next = 0;
  for (const Row& row : rows)
    if (row.type == type) return row.exchange;
  const nb::handle handle(reinterpret_cast<PyObject*>(type));
  const dlpack::Exchange* const found = find_exchange(handle);
  handle.inc_ref();
  Row& oldest = rows[next++ % rows.size()];
  if (oldest.type != nullptr) nb::handle(reinterpret_cast<PyObject*>(oldest.type)).dec_ref();
  oldest = {type, found};
  return found;
}

// DLDataTypeCode; none for what kernels do not have, and for vectors.
std::optional<num::DType> dtype_of(const dlpack::DataType& type) {
  using enum num::DType;
  struct Row {
    int code, bits;
    num::DType type;
  };
  static constexpr Row kRows[] = {
      {0, 8, Int8},     {0, 16, Int16},        {0, 32, Int32},      {0, 64, Int64},
      {1, 8, Uint8},    {1, 16, Uint16},       {1, 32, Uint32},     {1, 64, Uint64},
      {2, 16, Float16}, {2, 32, Float32},      {2, 64, Float64},    {4, 16, Bfloat16},
      {6, 8, Bool},     {10, 8, Float8E4M3fn}, {12, 8, Float8E5M2}, {14, 8, Float8E8M0}};
  for (const Row& row : kRows)
    if (type.lanes == 1 && row.code == type.code && row.bits == type.bits) return row.type;
  return std::nullopt;
}

// NumPy's names, as `__cuda_array_interface__` has them: "<f4".
std::optional<num::DType> dtype_of(std::string_view typestr) {
  if (typestr.size() != 3 || typestr[0] == '>') return std::nullopt;
  return driver::numpy_dtype(typestr[1], typestr[2] - '0');
}

// The last dimension fastest, without gaps. Where an extent is 1, its stride does not matter.
bool is_c_order(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::int64_t expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

// `__cuda_array_interface__` does not say which GPU an array is on.
int only_gpu() {
  const runtime::CudaCalls& calls = cuda_calls();
  int count = 0;
  if (calls.init(0) != runtime::kCudaSuccess || calls.device_count(&count) != runtime::kCudaSuccess)
    return -1;
  if (count != 1)
    raise(DiagKind::BadArgument,
          "an array with `__cuda_array_interface__` alone does not say which of the " +
              std::to_string(count) + " GPUs it is on: expected `__dlpack__`, too\n");
  return 0;
}

// --- tensors by their attributes -----------------------------------------------------------------

/// A name that Python has already is looked up faster than one to be made.
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

[[noreturn]] void raise_for_elements(const std::string& name, const std::string& type) {
  raise(DiagKind::BadArgument,
        "`" + name + "` was given a tensor of " + type + ": kernels have no such elements\n");
}

// PyTorch has one object for each element type, which lives as long as the process.
num::DType dtype_of(const nb::object& dtype, const std::string& name) {
  static std::unordered_map<PyObject*, num::DType> known;
  if (const auto found = known.find(dtype.ptr()); found != known.end()) return found->second;
  std::string text = nb::cast<std::string>(nb::str(dtype));
  if (text.starts_with("torch.")) text.erase(0, 6);
  const auto parsed = num::parse_dtype(text);
  if (!parsed) raise_for_elements(name, text);
  dtype.inc_ref();  // keeps the address its own
  return known.emplace(dtype.ptr(), *parsed).first->second;
}

std::vector<std::int64_t> numbers_of(const nb::object& sequence) {
  std::vector<std::int64_t> out;
  for (const nb::handle each : sequence) out.push_back(nb::cast<std::int64_t>(each));
  return out;
}

// --- numbers -------------------------------------------------------------------------------------

std::optional<CallArg> plain_number(PyObject* value) {
  if (PyBool_Check(value)) return driver::number_arg(value == Py_True);
  if (PyFloat_CheckExact(value)) return driver::number_arg(PyFloat_AsDouble(value));
  if (!PyLong_CheckExact(value)) return std::nullopt;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow != 0 ? std::nullopt : std::optional(driver::number_arg(number));
}

}  // namespace

void GpuArgs::set_strides(CallArg& arg, std::span<const std::int64_t> strides) {
  if (is_c_order(arg.shape, strides)) return;
  std::vector<std::int64_t>& bytes = kept_.emplace_front(strides.begin(), strides.end());
  for (std::int64_t& stride : bytes) stride = stride * num::bits_of(arg.dtype) / 8;
  arg.strides = bytes;
}

std::optional<CallArg> GpuArgs::read(const dlpack::Tensor& seen) {
  const auto dtype = dtype_of(seen.dtype);
  if (!dtype) return std::nullopt;
  const auto rank = static_cast<std::size_t>(seen.rank);
  CallArg out{.dtype = *dtype,
              .bits = std::bit_cast<std::uintptr_t>(seen.data) + seen.byte_offset,
              .shape = {seen.shape, rank}};
  if (seen.strides != nullptr) set_strides(out, {seen.strides, rank});
  return out;
}

bool GpuArgs::add_tensor(PyObject* tensor, const dlpack::Exchange& exchange) {
  dlpack::Tensor seen;
  if (exchange.tensor_from_object(tensor, &seen) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool fits =
      seen.device.type == dlpack::kCuda && (number_ < 0 || number_ == seen.device.number);
  const auto arg = fits ? read(seen) : std::nullopt;
  if (!arg) return false;
  number_ = seen.device.number;
  if (exchange_ == nullptr) exchange_ = &exchange;
  args_.push_back(*arg);
  return true;
}

bool GpuArgs::add_quickly(PyObject* value) {
  if (const dlpack::Exchange* const exchange = exchange_of(Py_TYPE(value)); exchange != nullptr)
    return add_tensor(value, *exchange);
  const std::optional<CallArg> number = plain_number(value);
  if (number) args_.push_back(*number);
  return number.has_value();
}

void GpuArgs::add_by_attributes(nb::handle tensor, const std::string& name) {
  CallArg arg{.dtype = dtype_of(nb::object(tensor.attr(names().dtype)), name),
              .bits = nb::cast<std::uintptr_t>(tensor.attr(names().data_ptr)())};
  arg.shape = kept_.emplace_front(numbers_of(tensor.attr(names().shape)));
  if (!nb::cast<bool>(tensor.attr(names().is_contiguous)()))
    set_strides(arg, numbers_of(tensor.attr("stride")()));
  has_torch_ = true;
  args_.push_back(arg);
}

void GpuArgs::use_stream(void* stream, const std::string& name) {
  if (given_.value_or(stream) != stream)
    raise(DiagKind::BadArgument,
          "`" + name + "` is ready on another stream than the arrays before it: expected one\n");
  given_ = stream;
}

// The library makes the array ready on the legacy default stream, which it calls 1.
void GpuArgs::add_by_dlpack(nb::handle array, const std::string& name) {
  const nb::object capsule = array.attr("__dlpack__")(nb::arg("stream") = 1);
  const auto* const managed =
      static_cast<const dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw nb::python_error();
  capsules_.push_front(capsule);
  const dlpack::Tensor& seen = managed->tensor;
  const auto arg = read(seen);
  if (!arg) {
    const nb::object type = array.attr("dtype");
    raise_for_elements(name, nb::cast<std::string>(nb::str(type)));
  }
  use_stream(nullptr, name);
  args_.push_back(*arg);
}

void GpuArgs::add_by_interface(nb::handle array, const Wanted& wanted) {
  const std::string& name = wanted.name;
  const nb::dict seen = nb::cast<nb::dict>(array.attr("__cuda_array_interface__"));
  const auto type = nb::cast<std::string>(seen["typestr"]);
  const auto dtype = dtype_of(type);
  if (!dtype) raise_for_elements(name, type);
  if (seen.contains("mask") && !seen["mask"].is_none())
    raise(DiagKind::BadArgument, "`" + name +
                                     "` was given a masked array, whose mask a kernel would not "
                                     "see: expected one without a mask\n");
  const nb::tuple data = nb::cast<nb::tuple>(seen["data"]);  // the address, whether it is read-only
  if (wanted.is_written && nb::cast<bool>(data[1]))
    raise(DiagKind::BadArgument,
          "`" + name + "` was given a read-only array: the kernel writes it\n");
  CallArg arg{.dtype = *dtype, .bits = nb::cast<std::uintptr_t>(data[0])};
  arg.shape = kept_.emplace_front(numbers_of(seen["shape"]));
  const nb::object strides = seen.contains("strides") ? nb::object(seen["strides"]) : nb::none();
  if (!strides.is_none()) {
    std::vector<std::int64_t> elements = numbers_of(strides);
    for (std::int64_t& stride : elements) stride = stride * 8 / num::bits_of(*dtype);
    set_strides(arg, elements);
  }
  constexpr std::uintptr_t kLegacyDefault = 1;
  const nb::object stream = seen.contains("stream") ? nb::object(seen["stream"]) : nb::none();
  const auto handle = stream.is_none() ? kLegacyDefault : nb::cast<std::uintptr_t>(stream);
  use_stream(handle == kLegacyDefault ? nullptr : std::bit_cast<void*>(handle), name);
  args_.push_back(arg);
}

void GpuArgs::add(nb::handle value, int number, const Wanted& wanted) {
  const std::string& name = wanted.name;
  const int lies_on = gpu_of(value);
  if (lies_on < 0 && !nb::hasattr(value, names().is_cuda)) {
    args_.push_back(read_number(value, name));
    return;
  }
  if (lies_on != number) {
    const nb::object device = nb::getattr(value, "device", nb::str("another GPU"));
    raise(DiagKind::BadArgument, "`" + name + "` is on " + nb::cast<std::string>(nb::str(device)) +
                                     ": expected cuda:" + std::to_string(number) + "\n");
  }
  number_ = number;
  if (!add_quickly(value.ptr())) {
    if (nb::hasattr(value, names().is_cuda))
      add_by_attributes(value, name);
    else if (nb::hasattr(value, "__dlpack__"))
      add_by_dlpack(value, name);
    else
      add_by_interface(value, wanted);
  }
  if (given_ && (has_torch_ || exchange_ != nullptr))
    raise(DiagKind::BadArgument, "`" + name +
                                     "` is of another library than the arrays before it: expected "
                                     "one, because each has streams of its own\n");
}

int gpu_of(nb::handle value) {
  if (const dlpack::Exchange* const exchange = exchange_of(Py_TYPE(value.ptr()))) {
    dlpack::Tensor seen;
    if (exchange->tensor_from_object(value.ptr(), &seen) == 0)
      return seen.device.type == dlpack::kCuda ? seen.device.number : -1;
    PyErr_Clear();
  }
  if (nb::hasattr(value, names().is_cuda))
    return nb::cast<bool>(value.attr(names().is_cuda))
               ? nb::cast<int>(value.attr(names().get_device)())
               : -1;
  if (nb::hasattr(value, "__dlpack_device__")) {
    const nb::object device = value.attr("__dlpack_device__")();
    return nb::cast<int>(device[0]) == dlpack::kCuda ? nb::cast<int>(device[1]) : -1;
  }
  return nb::hasattr(value, "__cuda_array_interface__") ? only_gpu() : -1;
}

void* StreamSource::current() const {
  if (given) return *given;
  if (exchange != nullptr) {
    void* stream = nullptr;
    if (exchange->current_stream(dlpack::kCuda, number, &stream) != 0) throw nb::python_error();
    return stream;
  }
  // Never freed: this code outlives the interpreter.
  static const nb::handle ask =
      nb::object(nb::module_::import_("torch").attr("_C").attr("_cuda_getCurrentRawStream"))
          .release();
  return std::bit_cast<void*>(nb::cast<std::uintptr_t>(ask(number)));
}

}  // namespace ww::python
