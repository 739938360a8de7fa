// SPDX-License-Identifier: Apache-2.0
// An event of CUDA: a moment in the work of a GPU that can be waited for, and timed.
#pragma once

#include <utility>

#include "base/result.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_errors.h"

namespace ww::runtime {

/// An event that is gone at the end of a block.
class CudaEvent {
 public:
  static Result<CudaEvent> make(const CudaCalls& calls) {
    void* handle = nullptr;
    WW_TRY_VOID(check_cuda(calls, calls.event_create(&handle, 0), "making an event"));
    return CudaEvent(calls, handle);
  }
  CudaEvent(CudaEvent&& other) noexcept
      : calls_(other.calls_), handle_(std::exchange(other.handle_, nullptr)) {}
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent() {
    if (handle_ != nullptr) calls_->event_destroy(handle_);
  }
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  CudaEvent(const CudaCalls& calls, void* handle) : calls_(&calls), handle_(handle) {}
  const CudaCalls* calls_;
  void* handle_;
};

}  // namespace ww::runtime
