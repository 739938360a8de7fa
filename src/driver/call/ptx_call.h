// SPDX-License-Identifier: Apache-2.0
// A call of a kernel that exists as PTX only, whatever wrote it, on the virtual GPU, a real one or both,
// with the caller's arrays. PTX does not say how large the memory behind a pointer is, nor who writes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/call/call.h"
#include "driver/run/tool.h"
#include "driver/sim/tool.h"
#include "runtime/cuda_calls.h"
#include "runtime/device.h"

namespace ww::driver {

struct PtxCallRequest {
  std::string text;
  std::string kernel = {};  // empty: the only one there is
  runtime::Dims grid{1, 1, 1};
  runtime::Dims block{1, 1, 1};
  std::optional<runtime::Dims> cluster = {};
  std::uint32_t dynamic_shared = 0;
  WhichGpu device = WhichGpu::Virtual;
  const Result<runtime::CudaCalls>* driver = nullptr;  // null: that of the machine
};

struct PtxReport {
  RunReport run;                 // on the virtual GPU, where it ran there
  std::string gpu = {};          // that it ran on; empty: none
  std::string gpu_differs = {};  // where it left other bits than the virtual GPU; empty: nowhere
};

/// Runs the kernel. On both, the arrays get the results of the virtual GPU, and a kernel that does not
/// finish there does not go to the other one. An array is for a parameter of 8 bytes, a number for
/// one of its kind and range; BadArgument with the parameter's name otherwise, and when the kernel has
/// changed a read-only array. Errors in the text are rendered with their lines of PTX. Without a GPU
/// that runs the kernel: NoDriver or NoDevice.
Result<PtxReport> call_ptx(const PtxCallRequest& call, CallArgs args,
                           const CallOptions& options = {});
/// For people: `run_text` of the run, and what the comparison says.
std::string ptx_text(const PtxReport& report);

}  // namespace ww::driver
