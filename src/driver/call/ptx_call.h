// SPDX-License-Identifier: Apache-2.0
// A call of a kernel that exists as PTX only, whatever wrote it, on the virtual GPU, a real one or both,
// with the caller's arrays. PTX does not say how large the memory behind a pointer is, nor who writes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/call/call.h"
#include "driver/run/tool.h"
#include "driver/sim/tool.h"
#include "runtime/cuda_calls.h"
#include "runtime/device.h"
#include "sim/program.h"

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

// --- in place ------------------------------------------------------------------------------------
//
// A kernel of a PTX text that is launched many times over memory of the caller's, in place: what a
// driver does for programs that have pointers and no arrays. Which bytes are undefined lives on from
// launch to launch, as the memory does.

/// Memory that kernels may touch.
struct PlacedMemory {
  runtime::Address address = 0;  // on the virtual GPU
  std::span<std::byte> bytes = {};
  std::uint8_t* undefined = nullptr;  // as of sim::Region; null: all of it is defined
  std::string name = {};              // for messages
};

struct PlacedLaunch {
  runtime::Launch launch = {};  // arguments hold addresses on the virtual GPU
  std::vector<PlacedMemory> memory = {};
  std::uint64_t sample = 0;  // blocks that run, as of sim::RunOptions
  std::function<bool(std::uint64_t, std::uint64_t)> progress = {};
};

struct PlacedReport {
  RunReport run = {};
  std::uint64_t blocks_left_out = 0;
};

class PlacedKernel {
 public:
  /// Fails as SimDevice::load; UnknownName: the text has no such kernel.
  static Result<PlacedKernel> load(const std::string& text, const std::string& kernel);
  [[nodiscard]] const std::vector<sim::Param>& params() const;
  /// BadLaunch for what no GPU takes. What the kernel does wrong is in the report.
  [[nodiscard]] Result<PlacedReport> launch(const PlacedLaunch& call,
                                            const CallOptions& options) const;

 private:
  PlacedKernel(std::shared_ptr<const sim::Program> program, std::string kernel)
      : program_(std::move(program)), kernel_(std::move(kernel)) {}

  std::shared_ptr<const sim::Program> program_;
  std::string kernel_;
};

}  // namespace ww::driver
