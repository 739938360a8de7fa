// SPDX-License-Identifier: Apache-2.0
// The speed of the tensor cores themselves: one CTA per SM, 8 warps each, that do nothing but
// mma.sync on registers, 4 fragments of A times 8 of B into 32 accumulators that do not wait for
// each other. No kernel that uses mma.sync can be faster. It is a tile program of ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/source.h"
#include "gpu.h"
#include "num/dtype.h"
#include "runtime/device.h"

namespace ww::bench {

/// The program, and which of its kernels is for operands of that type on so many SMs. BadArgument
/// for types that it has none for.
SourceText ceiling_source();
Result<std::string> ceiling_kernel(num::DType dtype, int multiprocessors);

class MmaCeiling {
 public:
  /// Compiles and loads it, and checks that it computes: two passes give twice the sums of one, and
  /// none of them is 0. DeviceError otherwise.
  static Result<MmaCeiling> make(Gpu& gpu, num::DType dtype);

  /// As many passes as have at least so many operations.
  [[nodiscard]] std::int32_t passes_for(double operations) const;
  [[nodiscard]] double operations(std::int32_t passes) const;
  /// Seconds of a launch.
  Result<double> time(std::int32_t passes);

 private:
  MmaCeiling(runtime::CudaDevice& device, runtime::Launch launch, double operations_per_pass)
      : device_(&device), launch_(std::move(launch)), operations_per_pass_(operations_per_pass) {}
  [[nodiscard]] runtime::Launch with_passes(std::int32_t passes) const;

  runtime::CudaDevice* device_;
  runtime::Launch launch_;
  double operations_per_pass_;
};

/// Whether sums of two passes are twice those of one, thread by thread.
Result<void> check_ceiling(num::DType sum, std::span<const std::byte> once,
                           std::span<const std::byte> twice);

}  // namespace ww::bench
