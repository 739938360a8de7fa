// SPDX-License-Identifier: Apache-2.0
// `_core.Launcher`, what `warpwright.Kernel` and `KernelFunction` are made of: an object that is called
// with arrays. A call that looks like an earlier one (the same GPU, constants and element types) is
// launched from here without running any Python; every other one is the subclass's `_call`, which may
// end with `_learn`.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "gpu_args.h"
#include "kernel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ww::python {
namespace {

/// A parameter of the calls: one of the kernel's, or a constant that it is compiled for.
struct LauncherParam {
  nanobind::object name;      // both interned
  nanobind::object variable;  // another name for it
  bool writes = false;
  bool is_constant = false;
};

struct Launcher {
  /// A kind of call that has been made.
  struct Learned {
    nanobind::object kernel = {};  // a Kernel
    int number = 0;                // of the GPU
    std::vector<nanobind::object> constants =
        {};                               // in the order of the parameters; null: not given
    std::vector<num::DType> dtypes = {};  // of the arrays, in their order
  };

  std::vector<LauncherParam> params;
  std::vector<Learned> learned;  // the one used last is first
};

constexpr std::size_t kMaxLearned = 16;
// Kernels with more parameters are called the slow way.
constexpr std::size_t kMaxQuickParams = 32;

nb::object interned(const std::string& text) {
  return nb::steal(PyUnicode_InternFromString(text.c_str()));
}

/// The arguments of a call by parameter, borrowed from it.
struct Placed {
  std::array<PyObject*, kMaxQuickParams> values{};
  PyObject* out = Py_None;  // what the call returns
};

// --- which argument is for which parameter -------------------------------------------------------

bool place_named(const Launcher& launcher, PyObject* name, PyObject* value, Placed& placed) {
  for (std::size_t i = 0; i < launcher.params.size(); ++i) {
    if (name != launcher.params[i].name.ptr() && name != launcher.params[i].variable.ptr())
      continue;
    return std::exchange(placed.values[i], value) == nullptr;
  }
  return false;
}

// `out` is for the only array that is written and not given otherwise.
bool place_out(const Launcher& launcher, Placed& placed) {
  if (PyTuple_Check(placed.out)) return false;
  PyObject** open = nullptr;
  for (std::size_t i = 0; i < launcher.params.size(); ++i) {
    if (!launcher.params[i].writes || placed.values[i] != nullptr) continue;
    if (open != nullptr) return false;
    open = &placed.values[i];
  }
  if (open != nullptr) *open = placed.out;
  return open != nullptr;
}

// Whether the arguments are plain enough to be placed here.
bool place(const Launcher& launcher, PyObject* args, PyObject* named, Placed& placed) {
  static PyObject* const kOut = PyUnicode_InternFromString("out");
  const auto count = static_cast<std::size_t>(PyTuple_Size(args));
  if (count > launcher.params.size() || launcher.params.size() > kMaxQuickParams) return false;
  for (std::size_t i = 0; i < count; ++i)
    placed.values[i] = PyTuple_GetItem(args, static_cast<Py_ssize_t>(i));
  if (named != nullptr) {
    Py_ssize_t at = 0;
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(named, &at, &name, &value) != 0) {
      if (name == kOut)
        placed.out = value;
      else if (!place_named(launcher, name, value, placed))
        return false;
    }
  }
  if (placed.out != Py_None && !place_out(launcher, placed)) return false;
  for (std::size_t i = 0; i < launcher.params.size(); ++i)
    if (placed.values[i] == nullptr && !launcher.params[i].is_constant) return false;
  return true;
}

// --- which kernel it is for ----------------------------------------------------------------------

// Equal for sure. True and 1 are not the same constant.
bool is_same_constant(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || Py_TYPE(a) != Py_TYPE(b)) return false;
  const bool is_plain = PyLong_CheckExact(a) || PyUnicode_CheckExact(a);
  return is_plain && PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

// Whether an array may be for a parameter: constants may have been chosen by shapes.
bool has_known_extents(const driver::CallParam& param, const driver::CallArg& arg) {
  if (!param.dtype || *param.dtype != arg.dtype) return true;  // bytes that stand for elements
  if (param.extents.size() != arg.shape.size()) return false;
  for (std::size_t d = 0; d < arg.shape.size(); ++d)
    if (param.extents[d].value_or(arg.shape[d]) != arg.shape[d]) return false;
  return true;
}

bool is_for(const Launcher& launcher, const Launcher::Learned& learned, const Placed& placed,
            const GpuArgs& args) {
  if (learned.number != args.number()) return false;
  std::size_t constant = 0;
  for (std::size_t i = 0; i < launcher.params.size(); ++i)
    if (launcher.params[i].is_constant &&
        !is_same_constant(learned.constants[constant++].ptr(), placed.values[i]))
      return false;
  const Kernel& kernel = *nb::inst_ptr<Kernel>(learned.kernel);
  std::size_t array = 0;
  std::size_t at = 0;
  for (const driver::CallArg& arg : args.all()) {
    const driver::CallParam& param = kernel.params[at++];
    if (!arg.is_array()) continue;
    if (array == learned.dtypes.size() || arg.dtype != learned.dtypes[array++]) return false;
    if (!has_known_extents(param, arg)) return false;
  }
  return true;
}

Kernel* find_kernel(Launcher& launcher, const Placed& placed, const GpuArgs& args) {
  std::vector<Launcher::Learned>& all = launcher.learned;
  for (auto each = all.begin(); each != all.end(); ++each) {
    if (!is_for(launcher, *each, placed, args)) continue;
    if (each != all.begin()) std::rotate(all.begin(), each, each + 1);
    return nb::inst_ptr<Kernel>(all.front().kernel);
  }
  return nullptr;
}

// --- calls ---------------------------------------------------------------------------------------

// Null, without an error, if the call is not one that was learned.
PyObject* call_quickly(Launcher& launcher, PyObject* given, PyObject* named) {
  Placed placed;
  if (!place(launcher, given, named, placed)) return nullptr;
  GpuArgs args;
  for (std::size_t i = 0; i < launcher.params.size(); ++i)
    if (!launcher.params[i].is_constant && !args.add_quickly(placed.values[i])) return nullptr;
  if (args.number() < 0) return nullptr;
  Kernel* const kernel = find_kernel(launcher, placed, args);
  if (kernel == nullptr) return nullptr;
  const Result<void> done =
      kernel->gpu.call(cuda_calls(), args.number(), args.streams().current(), args.all());
  if (!done) {
    // Nothing was launched: `_call` has another kernel for it, or says the same.
    if (done.error().kind == DiagKind::BadArgument) return nullptr;
    raise(done.error());
  }
  return nb::handle(placed.out).inc_ref().ptr();
}

PyObject* call_slowly(PyObject* self, PyObject* args, PyObject* named) {
  const nb::object method = nb::getattr(self, "_call");
  return PyObject_Call(method.ptr(), args, named);
}

PyObject* launcher_call(PyObject* self, PyObject* args, PyObject* named) noexcept {
  try {
    Launcher& launcher = *nb::inst_ptr<Launcher>(self);
    if (nb::inst_ready(self) && !launcher.learned.empty())
      if (PyObject* const done = call_quickly(launcher, args, named); done != nullptr) return done;
    return call_slowly(self, args, named);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// --- learning ------------------------------------------------------------------------------------

using ParamRow = std::tuple<std::string, std::string, bool, bool>;

// A parameter's name, its other name, whether it is written, whether it is a constant.
std::vector<LauncherParam> params_of(const std::vector<ParamRow>& rows) {
  std::vector<LauncherParam> out;
  for (const auto& [name, variable, writes, is_constant] : rows)
    out.push_back({interned(name), interned(variable), writes, is_constant});
  return out;
}

bool is_same(const LauncherParam& a, const LauncherParam& b) {
  return a.name.is(b.name) && a.variable.is(b.variable) && a.writes == b.writes &&
         a.is_constant == b.is_constant;
}

/// Calls with such constants and such tensors are for this kernel from now on. `values` are the
/// arguments of the kernel.
void learn(Launcher& launcher, const std::vector<ParamRow>& rows, const nb::dict& constants,
           nb::object kernel, const nb::sequence& values) {
  std::vector<LauncherParam> params = params_of(rows);
  if (launcher.params.empty()) launcher.params = params;
  // A specialisation that writes other parameters would give `out` another meaning.
  if (!std::ranges::equal(launcher.params, params, is_same)) return;
  GpuArgs args;
  for (const nb::handle value : values)
    if (!args.add_quickly(value.ptr())) return;
  if (args.number() < 0) return;
  Launcher::Learned made{.kernel = std::move(kernel), .number = args.number()};
  for (const LauncherParam& param : params) {
    if (!param.is_constant) continue;
    PyObject* const value = PyDict_GetItemWithError(constants.ptr(), param.name.ptr());
    made.constants.push_back(nb::borrow(value));
  }
  for (const driver::CallArg& arg : args.all())
    if (arg.is_array()) made.dtypes.push_back(arg.dtype);
  if (launcher.learned.size() == kMaxLearned) launcher.learned.pop_back();
  launcher.learned.insert(launcher.learned.begin(), std::move(made));
}

PyType_Slot launcher_slots[] = {{Py_tp_call, reinterpret_cast<void*>(launcher_call)}, {0, nullptr}};

}  // namespace

void add_launcher(nb::module_& module) {
  nb::class_<Launcher>(module, "Launcher", nb::type_slots(launcher_slots))
      .def(nb::init<>())
      .def("_learn", learn, "params"_a, "constants"_a, "kernel"_a, "values"_a);
}

}  // namespace ww::python
