// SPDX-License-Identifier: Apache-2.0
// The CUDA driver as a table of functions, found in libcuda.so.1 while the program runs: nothing of
// CUDA is needed to build, and a machine without a driver gets a reasoned no. Tests fill the table
// with functions of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace ww::runtime {

/// CUlaunchAttribute: the dimensions of clusters, or a flag in the first of them.
struct CudaLaunchAttribute {
  int id = 0;
  std::array<char, 4> padding{};
  union {
    std::array<char, 64> bytes;
    std::array<std::uint32_t, 3> dims;
  } value{};
};
/// CUlaunchConfig.
struct CudaLaunchConfig {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  void* stream = nullptr;
  CudaLaunchAttribute* attributes = nullptr;
  std::uint32_t attribute_count = 0;
};
static_assert(sizeof(CudaLaunchAttribute) == 72 && sizeof(CudaLaunchConfig) == 56);

struct CudaCalls {
#define WW_CUDA_CALL(member, symbol, parameters) int(*member) parameters = nullptr;
#include "runtime/cuda_calls.def"
#undef WW_CUDA_CALL
};

/// The functions of the library. NoDriver when it cannot be loaded, OldDriver when it lacks one of
/// them.
Result<CudaCalls> load_cuda_calls(const std::string& library = "libcuda.so.1");

}  // namespace ww::runtime
