// SPDX-License-Identifier: Apache-2.0
// The extension `warpwright._core`: a file per topic, each of which adds its functions and classes to
// the module. Nothing is decided here; the driver (src/driver) does the work, and its JSON goes to
// Python as it is. What the driver refuses becomes an exception of warpwright/errors.py.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <string>

#include "base/diag.h"

namespace ww::python {

void add_kernel(nanobind::module_& module);
void add_gpu(nanobind::module_& module);
void add_launcher(nanobind::module_& module);
void add_sim(nanobind::module_& module);
void add_placed(nanobind::module_& module);
void add_layout(nanobind::module_& module);
void add_tune(nanobind::module_& module);

/// Raises the exception that errors.py has for a kind of diagnostic, with the rendered text. The
/// caller holds the GIL.
[[noreturn]] void raise(DiagKind kind, const std::string& text);
[[noreturn]] void raise(const Diag& problem);

/// Runs `work` on a thread of its own without the GIL, in a CancelScope of `stop`, while this one looks
/// for Ctrl-C: then it sets `stop`, waits for the work to end and raises KeyboardInterrupt.
void run_interruptibly(const std::function<void()>& work, std::atomic<bool>& stop);

}  // namespace ww::python
