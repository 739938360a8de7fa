// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/cuda_errors.h"
#include "runtime/cuda_fit.h"
#include "sim/check_launch.h"
#include "sim/tensor_map/image.h"

namespace ww::runtime {
namespace {

// Numbers of cuda.h.
constexpr int kMaxDynamicShared = 8;       // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kRequiredClusterWidth = 11;  // CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
constexpr int kLargeClusterAllowed = 14;   // CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
constexpr int kCooperative = 2;            // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
constexpr int kClusterDimension = 4;       // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
constexpr int kProgrammatic = 6;           // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION

constexpr std::uint64_t kPortableCluster = 8;

Result<void> check_arguments(const CudaKernel& kernel, const Launch& launch) {
  if (kernel.params.empty()) return {};
  if (launch.arguments.size() != kernel.params.size())
    return fail(DiagKind::BadLaunch, "{} arguments for `{}`, which has {} parameters",
                launch.arguments.size(), kernel.name, kernel.params.size());
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    WW_TRY_VOID(sim::check_alignment(kernel.params[i], launch.arguments[i].bits));
  return {};
}

// What the kernel must be allowed before it can be launched like this.
Result<void> allow(const CudaKernel& kernel, const Launch& launch) {
  const CudaCalls& calls = kernel.calls;
  WW_TRY_VOID(check_shared_memory(kernel, launch.dynamic_shared));
  if (launch.dynamic_shared > 0)
    WW_TRY_VOID(check_cuda(
        calls,
        calls.function_set(kernel.function, kMaxDynamicShared,
                           static_cast<int>(launch.dynamic_shared)),
        fmt::format("giving `{}` {} bytes of shared memory", kernel.name, launch.dynamic_shared)));
  if (launch.cluster && volume(*launch.cluster) > kPortableCluster)
    WW_TRY_VOID(check_cuda(
        calls, calls.function_set(kernel.function, kLargeClusterAllowed, 1),
        fmt::format("giving `{}` clusters of {} CTAs", kernel.name, volume(*launch.cluster))));
  return {};
}

// A kernel that states its clusters does not take them from a launch.
bool states_clusters(const CudaKernel& kernel) {
  int required = 0;
  return kernel.calls.function_get(&required, kRequiredClusterWidth, kernel.function) ==
             kCudaSuccess &&
         required > 0;
}

std::vector<CudaLaunchAttribute> attributes_of(const CudaKernel& kernel, const Launch& launch) {
  std::vector<CudaLaunchAttribute> out;
  if (launch.cluster && !states_clusters(kernel)) {
    out.emplace_back().id = kClusterDimension;
    out.back().value.dims = *launch.cluster;
  }
  for (const auto& [is_set, id] :
       {std::pair(launch.is_cooperative, kCooperative), {launch.is_programmatic, kProgrammatic}}) {
    if (!is_set) continue;
    out.emplace_back().id = id;
    out.back().value.dims = {1, 0, 0};
  }
  return out;
}

}  // namespace

CudaLaunch::CudaLaunch(const Device& device, const CudaKernel& kernel, void* context,
                       const Launch& launch)
    : device_(&device),
      kernel_(&kernel),
      context_(context),
      attributes_(attributes_of(kernel, launch)),
      maps_(launch.maps),
      are_maps_old_(!launch.maps.empty()) {
  config_.grid = launch.grid;
  config_.block = launch.block;
  config_.dynamic_shared = launch.dynamic_shared;
  config_.attributes = attributes_.empty() ? nullptr : attributes_.data();
  config_.attribute_count = static_cast<std::uint32_t>(attributes_.size());
  for (const Value& value : launch.arguments) {
    values_.push_back(value.bits);
    blocks_.push_back(value.block);
  }
  for (const MapArgument& map : maps_) blocks_[map.argument].resize(sim::kTensorMapBytes);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    pointers_.push_back(blocks_[i].empty() ? static_cast<void*>(&values_[i]) : blocks_[i].data());
    low_bits_.push_back(i < kernel.params.size() ? kernel.params[i].pointee_align - 1 : 0);
  }
}

Result<CudaLaunch> CudaLaunch::make(const Device& device, const CudaKernel& kernel, void* context,
                                    const Launch& launch) {
  WW_TRY_VOID(check_arguments(kernel, launch));
  WW_TRY_VOID(allow(kernel, launch));
  CudaLaunch out(device, kernel, context, launch);
  WW_TRY_VOID(check_fit(kernel, {.config = out.config_,
                                 .cluster = launch.cluster ? volume(*launch.cluster) : 1,
                                 .is_cooperative = launch.is_cooperative}));
  return out;
}

Result<void> CudaLaunch::misaligned(std::size_t param) const {
  return sim::check_alignment(kernel_->params[param], values_[param]);
}

Result<void> CudaLaunch::submit(void* stream) {
  config_.stream = stream;
  const CudaCalls& calls = kernel_->calls;
  const int status = calls.launch(&config_, kernel_->function, pointers_.data(), nullptr);
  if (status == kCudaSuccess) return {};
  return fail(cuda_failure(calls, status, fmt::format("launching `{}`", kernel_->name)));
}

Result<void> CudaLaunch::make_maps() {
  for (const MapArgument& map : maps_)
    std::ranges::copy(WW_TRY(device_->made_map(map, values_[map.array])),
                      blocks_[map.argument].begin());
  are_maps_old_ = false;
  return {};
}

Result<void> CudaLaunch::enqueue(void* stream) {
  if (are_maps_old_) WW_TRY_VOID(make_maps());
  const CudaCalls& calls = kernel_->calls;
  void* current = nullptr;
  if (calls.context_get(&current) != kCudaSuccess || current != context_)
    WW_TRY_VOID(check_cuda(calls, calls.context_set(context_), "choosing the GPU"));
  return submit(stream);
}

}  // namespace ww::runtime
