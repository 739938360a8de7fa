// SPDX-License-Identifier: Apache-2.0
// Something that the GPU is asked to do, to be waited for, timed or recorded in a graph.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string>

#include "runtime/cuda_errors.h"
#include "runtime/device.h"

namespace ww::runtime {

/// `submit` asks for it in the current context and does not wait; the name is for messages:
/// "running `scale`".
struct GpuWork {
  std::function<Result<void>(void* stream)> submit;
  std::string name;
};

/// From one place in the GPU's memory to another, by the driver. `calls` outlives the result.
inline GpuWork copying(const CudaCalls& calls, Address to, Address from, std::size_t bytes) {
  std::string name = fmt::format("copying {} bytes on the GPU", bytes);
  return {[=, &calls](void* stream) {
            return check_cuda(calls, calls.copy(to, from, bytes, stream), name);
          },
          name};
}

}  // namespace ww::runtime
