// SPDX-License-Identifier: Apache-2.0
// Calls of a kernel on a GPU that the program uses itself: arrays that are there already, on a stream
// of the program's, in its own (the primary) context. A call does not wait. What depends on the shapes
// alone is worked out once: a repeated call compares them, fills in addresses and launches.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/build.h"
#include "driver/call/call.h"
#include "num/dtype.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"

namespace ww::driver {

class GpuKernel {
 public:
  /// `build` has PTX and outlives this.
  explicit GpuKernel(const Build& build) : build_(&build) {}

  /// Launches on GPU `number` with arrays that lie there. Fails as bind_call does, with BadLaunch for
  /// an address that is not aligned as the parameter needs it, NoDevice for a GPU that does not run
  /// the code, and as runtime::check_cuda does for what the driver refuses.
  Result<void> call(const runtime::CudaCalls& calls, int number, void* stream, CallArgs args);

  /// A call with its arguments, to be launched often. It holds as long as the kernel does.
  class Bound {
   public:
    Result<void> launch(void* stream) { return launch_.enqueue(stream); }

   private:
    friend class GpuKernel;
    explicit Bound(runtime::CudaLaunch launch) : launch_(std::move(launch)) {}
    runtime::CudaLaunch launch_;
  };
  /// Fails as `call` does, but launches nothing.
  Result<Bound> bind(const runtime::CudaCalls& calls, int number, CallArgs args);

  /// Waits for everything that was launched on the GPU, by anyone in the process. Trapped when a
  /// kernel did not run to its end.
  Result<void> wait(const runtime::CudaCalls& calls, int number);

  /// How many shapes have been worked out.
  [[nodiscard]] std::size_t plan_count() const { return plans_.size(); }

 private:
  struct Loaded {
    int number = 0;
    std::unique_ptr<runtime::CudaDevice> device = {};
  };
  struct Plan {
    std::vector<std::int64_t> key = {};  // GPU, types, shapes, numbers that the launch depends on
    runtime::CudaLaunch launch;
  };

  Result<runtime::CudaDevice*> device(const runtime::CudaCalls& calls, int number);
  Result<runtime::CudaLaunch> work_out(const runtime::CudaCalls& calls, int number, CallArgs args);
  Result<void> fill_in(runtime::CudaLaunch& launch, CallArgs args) const;
  void write_key(int number, CallArgs args);
  /// The plan with the key `key_`, first of all from now on; null if there is none.
  Plan* find_plan();

  const Build* build_;
  std::mutex mutex_;  // of all below
  std::vector<Loaded> loaded_;
  std::vector<Plan> plans_;        // the one used last is first
  std::vector<std::int64_t> key_;  // of the call at hand: keeps its memory
  std::optional<std::vector<bool>>
      is_shaping_;  // per parameter: a number that the launch depends on
};

}  // namespace ww::driver
