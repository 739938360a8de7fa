// SPDX-License-Identifier: Apache-2.0
// A kernel that the CUDA driver has loaded: its module, its function and what its parameters want.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/cuda_calls.h"
#include "runtime/device.h"
#include "sim/program.h"

namespace ww::runtime {

struct CudaKernel {
  const CudaCalls& calls;
  int device = 0;
  void* module = nullptr;
  void* function = nullptr;
  std::string name = {};
  std::vector<sim::Param> params = {};  // of PTX that can be read; empty for other images
};

/// Loads an image in the current context; nothing is loaded before. DeviceError with the compiler's
/// log when the driver does not take it, OldDriver with the PTX that the driver reads.
Result<void> load_kernel(CudaKernel& kernel, const Image& image);
void unload_kernel(CudaKernel& kernel);
/// Nothing where the driver does not tell all.
std::optional<Resources> resources_of(const CudaKernel& kernel);

/// The newest PTX version that the driver reads, as far as we know versions: 84 for 8.4.
int newest_ptx(const CudaCalls& calls);

}  // namespace ww::runtime
