// SPDX-License-Identifier: Apache-2.0
// What Python's `_core.Kernel` holds.
#pragma once

#include <atomic>
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
  std::atomic<bool> has_run_on_gpu = false;  // the driver has compiled it
};

}  // namespace ww::python
