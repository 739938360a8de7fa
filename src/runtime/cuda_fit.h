// SPDX-License-Identifier: Apache-2.0
// Whether a GPU can run a launch at all: shared memory of a block, clusters, and grids whose blocks run
// all at once. The driver's own refusals name neither the number nor the limit.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "runtime/cuda_kernel.h"

namespace ww::runtime {

// Numbers of cuda.h.
constexpr int kMultiprocessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr int kStaticShared = 1;      // CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES

/// The blocks of a grid or a cluster, the threads of a block.
constexpr std::uint64_t volume(const std::array<std::uint32_t, 3>& dims) {
  return std::uint64_t{dims[0]} * dims[1] * dims[2];
}

/// A launch of a kernel. Clusters and shared memory are allowed already.
struct CudaDemand {
  const CudaLaunchConfig& config;
  std::uint64_t cluster = 1;  // CTAs of one
  bool is_cooperative = false;
};

/// BadLaunch where a block needs more shared memory than the GPU gives one.
Result<void> check_shared_memory(const CudaKernel& kernel, std::uint32_t dynamic);
/// BadLaunch where the GPU can hold none of the clusters, or not all blocks of a cooperative launch.
/// Drivers that cannot be asked are not.
Result<void> check_fit(const CudaKernel& kernel, const CudaDemand& demand);

}  // namespace ww::runtime
