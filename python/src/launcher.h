// SPDX-License-Identifier: Apache-2.0
// `_core.Launcher`, what `warpwright.Kernel` and `KernelFunction` are made of: an object that is called
// with arrays. A call that looks like an earlier one (the same GPU, constants and element types) is
// launched from here without running any Python; every other one is the subclass's `_call`, which may
// end with `_learn`.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <vector>

#include "gpu_args.h"
#include "kernel.h"

namespace ww::python {

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

}  // namespace ww::python
