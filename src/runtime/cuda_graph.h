// SPDX-License-Identifier: Apache-2.0
// Work for a GPU that is recorded once and handed over as a whole (a CUDA graph): between two kernels of
// it the host does nothing, and the GPU waits for less than between launches that are asked for one by
// one.
#pragma once

#include "base/result.h"
#include "runtime/cuda_calls.h"
#include "runtime/gpu_work.h"

namespace ww::runtime {

class CudaGraph {
 public:
  /// Does the driver record?
  static bool has_calls(const CudaCalls& calls);

  /// `times` times the work, ready on the GPU of the current context. `calls` outlives the result.
  static Result<CudaGraph> record(const CudaCalls& calls, const GpuWork& work, int times);
  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  CudaGraph& operator=(CudaGraph&&) = delete;
  ~CudaGraph();

  [[nodiscard]] Result<void> submit(void* stream) const;

 private:
  explicit CudaGraph(const CudaCalls& calls) : calls_(&calls) {}
  Result<void> capture(const GpuWork& work, int times);

  const CudaCalls* calls_;
  void* stream_ = nullptr;  // on which it is recorded
  void* graph_ = nullptr;
  void* ready_ = nullptr;  // a CUgraphExec
};

}  // namespace ww::runtime
