// SPDX-License-Identifier: Apache-2.0
// Calls of a kernel on a GPU that the program uses itself: arrays that are there already, on a stream
// of the program's, in its own (the primary) context. A call does not wait. What depends on the shapes
// alone is worked out once: a repeated call looks it up, fills in addresses and launches.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "driver/call/call.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"

namespace ww::driver {

class GpuKernel {
 public:
  /// `build` has PTX and outlives this.
  explicit GpuKernel(const Build& build) : build_(&build) {}

  /// Launches on GPU `number` with arrays whose `data` are addresses there. Fails as bind_call does,
  /// with BadLaunch for an address that is not aligned as the parameter needs it, NoDevice for a GPU
  /// that does not run the code, DeviceError for what the driver refuses.
  Result<void> call(const runtime::CudaCalls& calls, int number, void* stream,
                    const std::vector<CallArg>& args);

  /// A call with its arguments, to be launched often. It holds as long as the kernel does.
  class Bound {
   public:
    Result<void> launch(void* stream) { return device_->enqueue(launch_, stream); }

   private:
    friend class GpuKernel;
    runtime::CudaDevice* device_ = nullptr;
    runtime::Launch launch_ = {};
  };
  /// Fails as `call` does, but launches nothing.
  Result<Bound> bind(const runtime::CudaCalls& calls, int number, const std::vector<CallArg>& args);

  /// How many shapes have been worked out.
  [[nodiscard]] std::size_t plan_count() const { return plans_.size(); }

 private:
  struct Loaded {
    int number = 0;
    std::unique_ptr<runtime::CudaDevice> device = {};
  };
  struct Plan {
    int number = 0;
    std::vector<std::int64_t> key = {};  // types, shapes and numbers of the arguments
    runtime::CudaDevice* device = nullptr;
    runtime::Launch launch = {};
  };

  Result<runtime::CudaDevice*> device(const runtime::CudaCalls& calls, int number);
  /// The plan for these arguments, with their addresses.
  Result<Plan*> plan_for(const runtime::CudaCalls& calls, int number,
                         const std::vector<CallArg>& args);
  Result<Plan*> plan(const runtime::CudaCalls& calls, int number, std::vector<std::int64_t> key,
                     const std::vector<CallArg>& args);

  const Build* build_;
  std::mutex mutex_;  // of all below
  std::vector<Loaded> loaded_;
  std::vector<Plan> plans_;  // the one used last is first
};

}  // namespace ww::driver
