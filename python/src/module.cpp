// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <exception>
#include <future>

#include "base/check.h"
#include "base/source.h"
#include "bindings.h"

namespace nb = nanobind;

namespace ww::python {

void raise(DiagKind kind, const std::string& text) {
  const nb::object make = nb::module_::import_("warpwright.errors").attr("of_kind");
  const std::string_view name = name_of(kind);
  const nb::object error = make(nb::str(name.data(), name.size()), nb::str(text.c_str()));
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

void raise(const Diag& problem) { raise(problem.kind, render(problem)); }

void run_interruptibly(const std::function<void()>& work, std::atomic<bool>& stop) {
  constexpr auto kPoll = std::chrono::milliseconds(50);
  std::future<void> done;
  bool is_interrupted = false;
  {
    const nb::gil_scoped_release release;
    done = std::async(std::launch::async, work);
    while (done.wait_for(kPoll) != std::future_status::ready) {
      const nb::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() == 0) continue;
      is_interrupted = true;
      break;
    }
    if (is_interrupted) {
      stop = true;
      done.wait();
    }
  }
  if (is_interrupted) throw nb::python_error();
  done.get();
}

}  // namespace ww::python

NB_MODULE(_core, module) {
  // Kernels may live until the process ends: PyTorch keeps its operators.
  nb::set_leak_warnings(false);
  module.attr("__version__") = WW_VERSION;
  ww::python::add_kernel(module);
  ww::python::add_gpu(module);
  ww::python::add_sim(module);
  ww::python::add_layout(module);
  ww::python::add_tune(module);
}
