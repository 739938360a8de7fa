// SPDX-License-Identifier: Apache-2.0
// The CUDA driver as a table of functions, found in libcuda.so.1 while the program runs: the build
// needs nothing of CUDA, and a machine without a driver gets an error with the reason. Tests fill
// the table with their own functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/diag.h"
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

/// CUDA_ARRAY3D_DESCRIPTOR.
struct CudaArrayDesc {
  std::size_t width = 0, height = 0, depth = 0;  // texels; 0: not an extent of it
  int format = 0;                                // CUarray_format
  std::uint32_t channels = 1;
  std::uint32_t flags = 0;
};
/// CUDA_RESOURCE_DESC of an array.
struct CudaResourceDesc {
  int type = 0;  // CU_RESOURCE_TYPE_ARRAY
  void* array = nullptr;
  std::array<char, 120> others{};
  std::uint32_t flags = 0;
};
/// CUDA_TEXTURE_DESC.
struct CudaTextureDesc {
  std::array<int, 3> address{};  // CUaddress_mode
  int filter = 0;                // CUfilter_mode
  std::uint32_t flags = 0;
  std::uint32_t anisotropy = 0;
  int mip_filter = 0;
  std::array<float, 3> mip_levels{};  // bias, least, most
  std::array<float, 4> border{};
  std::array<int, 12> reserved{};
};
/// CUDA_MEMCPY3D: one side of it, and all.
struct CudaCopySide {
  std::array<std::size_t, 4> start{};  // x in bytes, y, z, level
  int memory = 0;                      // CUmemorytype
  void* host = nullptr;
  std::uint64_t device = 0;
  void* array = nullptr;
  void* reserved = nullptr;
  std::size_t pitch = 0, height = 0;
};
struct CudaArrayCopy {
  CudaCopySide from, to;
  std::size_t width_bytes = 0, height = 0, depth = 0;
};
static_assert(sizeof(CudaArrayDesc) == 40 && sizeof(CudaResourceDesc) == 144 &&
              sizeof(CudaTextureDesc) == 104 && sizeof(CudaArrayCopy) == 200);

struct CudaCalls {
#define WW_CUDA_CALL(member, symbol, parameters) int(*member) parameters = nullptr;
#include "runtime/cuda_calls.def"
#undef WW_CUDA_CALL
};

/// The functions of the library. NoDriver when it cannot be loaded, OldDriver when it lacks one of
/// them.
Result<CudaCalls> load_cuda_calls(const std::string& library = "libcuda.so.1");

// --- cuda errors ---------------------------------------------------------------------------------
//
// Errors of the CUDA driver as diagnostics: the operation, CUDA's name for the failure and its
// text. The kind says what a caller can do about it.

constexpr int kCudaSuccess = 0;

/// "CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed)".
std::string cuda_words(const CudaCalls& calls, int status);

/// OutOfMemory, OldDriver, NoDevice or Trapped where the status says so; DeviceError otherwise.
DiagKind kind_of_cuda_status(int status);

/// "loading `scale` failed: …". `status` is not success.
Diag cuda_failure(const CudaCalls& calls, int status, std::string_view what);
Result<void> check_cuda(const CudaCalls& calls, int status, std::string_view what);

}  // namespace ww::runtime
