// SPDX-License-Identifier: Apache-2.0
#include "gpu_args.h"

#include <nanobind/stl/string.h>

#include <array>
#include <bit>
#include <optional>
#include <unordered_map>

#include "bindings.h"
#include "call_args.h"
#include "num/dtype.h"

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

// The last dimension fastest, without gaps. Where an extent is 1, its stride does not matter.
bool is_c_order(const dlpack::Tensor& tensor) {
  if (tensor.strides == nullptr) return true;
  std::int64_t expected = 1;
  for (std::int32_t d = tensor.rank - 1; d >= 0; --d) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != expected) return false;
    expected *= tensor.shape[d];
  }
  return true;
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

// PyTorch has one object for each element type, which lives as long as the process.
num::DType dtype_of(const nb::object& dtype, const std::string& name) {
  static std::unordered_map<PyObject*, num::DType> known;
  if (const auto found = known.find(dtype.ptr()); found != known.end()) return found->second;
  std::string text = nb::cast<std::string>(nb::str(dtype));
  if (text.starts_with("torch.")) text.erase(0, 6);
  const auto parsed = num::parse_dtype(text);
  if (!parsed)
    raise(DiagKind::BadArgument,
          "`" + name + "` was given a tensor of " + text + ": kernels have no such elements\n");
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
  const auto rank = static_cast<std::size_t>(seen.rank);
  GpuArg arg{.dtype = *dtype,
             .bits = std::bit_cast<std::uintptr_t>(seen.data) + seen.byte_offset,
             .shape = {seen.shape, rank}};
  if (!is_c_order(seen)) arg.strides = {seen.strides, rank};
  args_.push_back(arg);
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
  args_.push_back(arg);
}

void GpuArgs::add(nb::handle value, int number, const std::string& name) {
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
  if (!add_quickly(value.ptr())) add_by_attributes(value, name);
}

int gpu_of(nb::handle value) {
  if (const dlpack::Exchange* const exchange = exchange_of(Py_TYPE(value.ptr()))) {
    dlpack::Tensor seen;
    if (exchange->tensor_from_object(value.ptr(), &seen) == 0)
      return seen.device.type == dlpack::kCuda ? seen.device.number : -1;
    PyErr_Clear();
  }
  if (!nb::cast<bool>(nb::getattr(value, names().is_cuda, nb::bool_(false)))) return -1;
  return nb::cast<int>(value.attr(names().get_device)());
}

void* StreamSource::current() const {
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
