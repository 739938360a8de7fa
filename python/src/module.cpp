// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <chrono>
#include <future>
#include <stdexcept>

#include "base/cancel.h"
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

namespace {

/// A function that runs on a thread of its own. Threads have small stacks where a shell sets no limit
/// (`ulimit -s unlimited`), and the compiler needs a large one for deeply nested programs.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work) : task_(work), done_(task_.get_future()) {
    constexpr std::size_t kStackBytes = std::size_t{16} << 20U;
    pthread_attr_t attributes;
    WW_CHECK(pthread_attr_init(&attributes) == 0, "a thread's attributes");
    pthread_attr_setstacksize(&attributes, kStackBytes);
    is_running_ = pthread_create(&thread_, &attributes, &Worker::run, this) == 0;
    pthread_attr_destroy(&attributes);
    if (!is_running_) throw std::runtime_error("a thread cannot be started");
  }
  ~Worker() {
    if (is_running_) pthread_join(thread_, nullptr);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Throws what the function did.
  std::future<void>& done() { return done_; }

 private:
  static void* run(void* self) {
    static_cast<Worker*>(self)->task_();
    return nullptr;
  }
  std::packaged_task<void()> task_;
  std::future<void> done_;
  pthread_t thread_{};
  bool is_running_ = false;
};

}  // namespace

void run_interruptibly(const std::function<void()>& work, std::atomic<bool>& stop) {
  constexpr auto kPoll = std::chrono::milliseconds(50);
  bool is_interrupted = false;
  {
    const nb::gil_scoped_release release;
    Worker worker([&] {
      const CancelScope scope(stop);
      work();
    });
    while (!is_interrupted && worker.done().wait_for(kPoll) != std::future_status::ready) {
      const nb::gil_scoped_acquire acquire;
      is_interrupted = PyErr_CheckSignals() != 0;
    }
    if (is_interrupted) stop = true;
    worker.done().wait();
    if (!is_interrupted) worker.done().get();
  }
  if (is_interrupted) throw nb::python_error();
}

}  // namespace ww::python

NB_MODULE(_core, module) {
  // Kernels may live until the process ends: modules have them, and PyTorch keeps its operators.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = WW_VERSION;
  ww::python::add_kernel(module);
  ww::python::add_gpu(module);
  ww::python::add_launcher(module);
  ww::python::add_sim(module);
  ww::python::add_placed(module);
  ww::python::add_layout(module);
  ww::python::add_tune(module);
}
