// SPDX-License-Identifier: Apache-2.0
// What Python's `_core.Kernel` holds.
#pragma once

#include <memory>
#include <vector>

#include "driver/build.h"
#include "driver/call/call.h"
#include "driver/call/gpu_call.h"

namespace ww::python {

/// A build that has PTX, with the parameters as callers see them.
struct Kernel {
  driver::Build build = {};
  bool is_loaded = false;  // from what was saved: it has no report
  std::vector<driver::CallParam> params = {};
  driver::GpuKernel gpu{build};
};

}  // namespace ww::python
