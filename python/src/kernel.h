// SPDX-License-Identifier: Apache-2.0
// What Python's `_core.Kernel` holds, and what calls on a GPU share.
#pragma once

#include <atomic>
#include <vector>

#include "driver/build.h"
#include "driver/call/call.h"
#include "runtime/cuda_calls.h"

namespace ww::python {

/// A build that has PTX, with the parameters as callers see them.
struct Kernel {
  driver::Build build = {};
  bool is_loaded = false;  // from what was saved: it has no report
  std::vector<driver::CallParam> params = {};
  driver::GpuKernel gpu{build};
  std::atomic<bool> has_run_on_gpu = false;  // the driver has compiled it
};

/// The driver's functions, loaded at the first use and kept. Raises where there is no driver.
const runtime::CudaCalls& cuda_calls();

}  // namespace ww::python
