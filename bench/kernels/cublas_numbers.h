// SPDX-License-Identifier: Apache-2.0
// What the two parts of cuBLAS have in common: numbers of cublas_api.h and library_types.h, and how their
// libraries are found.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>

#include "base/result.h"
#include "num/dtype.h"
#include "runtime/device.h"

namespace ww::bench {

constexpr int kBlasPlain = 0;   // CUBLAS_OP_N
constexpr int kTransposed = 1;  // CUBLAS_OP_T
constexpr int kComputeF32 = 68;
constexpr int kComputeI32 = 72;
constexpr int kTypeF32 = 0;  // CUDA_R_32F
/// Bytes that cuBLAS may use beside its operands.
constexpr std::size_t kCublasWorkspace = std::size_t{32} << 20U;

/// BadArgument where cuBLAS has no such type.
Result<int> cublas_type(num::DType type);

/// The first of these that can be loaded; never closed, as the driver is not. Io with the names
/// otherwise.
Result<void*> open_library(std::string_view name, const std::vector<std::string>& places);
template <typename Function>
bool find_symbol(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  return function != nullptr;
}

inline void* gpu_pointer(runtime::Address address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): of the GPU
}

}  // namespace ww::bench
