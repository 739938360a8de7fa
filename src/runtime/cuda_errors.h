// SPDX-License-Identifier: Apache-2.0
// What the CUDA driver answers, as diagnostics: the operation, CUDA's name for the failure and its
// words. The kind says what a caller can do about it.
#pragma once

#include <string>
#include <string_view>

#include "base/diag.h"
#include "base/result.h"
#include "runtime/cuda_calls.h"

namespace ww::runtime {

constexpr int kCudaSuccess = 0;

/// "CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed)".
std::string cuda_words(const CudaCalls& calls, int status);

/// OutOfMemory, OldDriver, NoDevice or Trapped where the status says so; DeviceError otherwise.
DiagKind kind_of_cuda_status(int status);

/// "loading `scale` failed: …". `status` is not success.
Diag cuda_failure(const CudaCalls& calls, int status, std::string_view what);
Result<void> check_cuda(const CudaCalls& calls, int status, std::string_view what);

}  // namespace ww::runtime
