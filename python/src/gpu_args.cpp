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
#include "gpu.h"
#include "num/dtype.h"
#include "runtime/cuda_calls.h"

namespace nb = nanobind;

namespace ww::python {
namespace {

using driver::GpuArg;

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
  using num::DType;
  if (type.lanes != 1) return std::nullopt;
  switch (type.code << 8 | type.bits) {
    case 0 << 8 | 8:
      return DType::Int8;
    case 0 << 8 | 16:
      return DType::Int16;
    case 0 << 8 | 32:
      return DType::Int32;
    case 0 << 8 | 64:
      return DType::Int64;
    case 1 << 8 | 8:
      return DType::Uint8;
    case 1 << 8 | 16:
      return DType::Uint16;
    case 1 << 8 | 32:
      return DType::Uint32;
    case 1 << 8 | 64:
      return DType::Uint64;
    case 2 << 8 | 16:
      return DType::Float16;
    case 2 << 8 | 32:
      return DType::Float32;
    case 2 << 8 | 64:
      return DType::Float64;
    case 4 << 8 | 16:
      return DType::Bfloat16;
    case 6 << 8 | 8:
      return DType::Bool;
    case 10 << 8 | 8:
      return DType::Float8E4M3fn;
    case 12 << 8 | 8:
      return DType::Float8E5M2;
    case 14 << 8 | 8:
      return DType::Float8E8M0;
    default:
      return std::nullopt;
  }
}

// NumPy's names, as `__cuda_array_interface__` has them: "<f4".
std::optional<num::DType> dtype_of(std::string_view typestr) {
  using num::DType;
  struct Row {
    std::string_view name;
    DType type;
  };
  static constexpr Row kRows[] = {
      {"b1", DType::Bool},    {"i1", DType::Int8},    {"i2", DType::Int16},
      {"i4", DType::Int32},   {"i8", DType::Int64},   {"u1", DType::Uint8},
      {"u2", DType::Uint16},  {"u4", DType::Uint32},  {"u8", DType::Uint64},
      {"f2", DType::Float16}, {"f4", DType::Float32}, {"f8", DType::Float64}};
  if (typestr.size() != 3 || typestr[0] == '>') return std::nullopt;
  for (const Row& row : kRows)
    if (typestr.substr(1) == row.name) return row.type;
  return std::nullopt;
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

GpuArg arg_of(const dlpack::Tensor& seen, num::DType dtype) {
  const auto rank = static_cast<std::size_t>(seen.rank);
  GpuArg out{.dtype = dtype,
             .bits = std::bit_cast<std::uintptr_t>(seen.data) + seen.byte_offset,
             .shape = {seen.shape, rank}};
  if (seen.strides != nullptr && !is_c_order(out.shape, {seen.strides, rank}))
    out.strides = {seen.strides, rank};
  return out;
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

std::optional<GpuArg> plain_number(PyObject* value) {
  if (PyBool_Check(value)) return GpuArg{.kind = GpuArg::Kind::Bool, .bits = value == Py_True};
  if (PyFloat_CheckExact(value))
    return GpuArg{.kind = GpuArg::Kind::Float,
                  .bits = std::bit_cast<std::uint64_t>(PyFloat_AsDouble(value))};
  if (!PyLong_CheckExact(value)) return std::nullopt;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) return std::nullopt;
  return GpuArg{.kind = GpuArg::Kind::Int, .bits = static_cast<std::uint64_t>(number)};
}

GpuArg as_gpu_arg(const driver::CallArg& number) {
  if (const auto* flag = std::get_if<bool>(&number))
    return {.kind = GpuArg::Kind::Bool, .bits = *flag ? 1U : 0U};
  if (const auto* real = std::get_if<double>(&number))
    return {.kind = GpuArg::Kind::Float, .bits = std::bit_cast<std::uint64_t>(*real)};
  if (const auto* large = std::get_if<std::uint64_t>(&number))
    return {.kind = GpuArg::Kind::Uint, .bits = *large};
  return {.kind = GpuArg::Kind::Int,
          .bits = std::bit_cast<std::uint64_t>(std::get<std::int64_t>(number))};
}

}  // namespace

bool GpuArgs::add_tensor(PyObject* tensor, const dlpack::Exchange& exchange) {
  dlpack::Tensor seen;
  if (exchange.tensor_from_object(tensor, &seen) != 0) {
    PyErr_Clear();
    return false;
  }
  const auto dtype = dtype_of(seen.dtype);
  const bool fits =
      seen.device.type == dlpack::kCuda && dtype && (number_ < 0 || number_ == seen.device.number);
  if (!fits) return false;
  number_ = seen.device.number;
  if (exchange_ == nullptr) exchange_ = &exchange;
  args_.push_back(arg_of(seen, *dtype));
  return true;
}

bool GpuArgs::add_quickly(PyObject* value) {
  if (const dlpack::Exchange* const exchange = exchange_of(Py_TYPE(value)); exchange != nullptr)
    return add_tensor(value, *exchange);
  const std::optional<GpuArg> number = plain_number(value);
  if (number) args_.push_back(*number);
  return number.has_value();
}

void GpuArgs::add_by_attributes(nb::handle tensor, const std::string& name) {
  GpuArg arg{.dtype = dtype_of(nb::object(tensor.attr(names().dtype)), name),
             .bits = nb::cast<std::uintptr_t>(tensor.attr(names().data_ptr)())};
  arg.shape = kept_.emplace_front(numbers_of(tensor.attr(names().shape)));
  if (!nb::cast<bool>(tensor.attr(names().is_contiguous)()))
    arg.strides = kept_.emplace_front(numbers_of(tensor.attr("stride")()));
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
  const auto dtype = dtype_of(seen.dtype);
  if (!dtype) {
    const nb::object type = array.attr("dtype");
    raise_for_elements(name, nb::cast<std::string>(nb::str(type)));
  }
  use_stream(nullptr, name);
  args_.push_back(arg_of(seen, *dtype));
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
  GpuArg arg{.dtype = *dtype, .bits = nb::cast<std::uintptr_t>(data[0])};
  arg.shape = kept_.emplace_front(numbers_of(seen["shape"]));
  const nb::object strides = seen.contains("strides") ? nb::object(seen["strides"]) : nb::none();
  if (!strides.is_none()) {
    std::vector<std::int64_t>& elements = kept_.emplace_front(numbers_of(strides));
    for (std::int64_t& stride : elements) stride = stride * 8 / num::bits_of(*dtype);
    if (!is_c_order(arg.shape, elements)) arg.strides = elements;
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
    args_.push_back(as_gpu_arg(read_number(value, name)));
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
