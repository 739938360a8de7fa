// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda_fit.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "runtime/cuda_errors.h"

namespace ww::runtime {
namespace {

constexpr int kMaxSharedOfBlock = 97;  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN

// 0: the driver does not say.
std::int64_t device_value(const CudaKernel& kernel, int attribute) {
  int value = 0;
  const int status = kernel.calls.device_attribute(&value, attribute, kernel.device);
  return status == kCudaSuccess ? value : 0;
}

std::int64_t static_shared(const CudaKernel& kernel) {
  int value = 0;
  const int status = kernel.calls.function_get(&value, kStaticShared, kernel.function);
  return status == kCudaSuccess ? value : 0;
}

std::string block_text(const CudaKernel& kernel, const CudaLaunchConfig& config) {
  return fmt::format("blocks of {} threads and {} bytes of shared memory", volume(config.block),
                     static_shared(kernel) + config.dynamic_shared);
}

// How many clusters run at once; nothing where the driver does not say.
std::optional<std::uint64_t> clusters_at_once(const CudaKernel& kernel, const CudaDemand& demand) {
  int count = 0;
  if (kernel.calls.active_clusters == nullptr ||
      kernel.calls.active_clusters(&count, kernel.function, &demand.config) != kCudaSuccess)
    return std::nullopt;
  return static_cast<std::uint64_t>(count);
}

std::optional<std::uint64_t> blocks_at_once(const CudaKernel& kernel, const CudaDemand& demand) {
  if (demand.cluster > 1) {
    const auto clusters = clusters_at_once(kernel, demand);
    return clusters ? std::optional(*clusters * demand.cluster) : std::nullopt;
  }
  int count = 0;
  if (kernel.calls.active_blocks == nullptr ||
      kernel.calls.active_blocks(&count, kernel.function,
                                 static_cast<int>(volume(demand.config.block)),
                                 demand.config.dynamic_shared) != kCudaSuccess)
    return std::nullopt;
  return static_cast<std::uint64_t>(count * device_value(kernel, kMultiprocessors));
}

Result<void> check_clusters(const CudaKernel& kernel, const CudaDemand& demand) {
  const auto at_once = clusters_at_once(kernel, demand);
  if (!at_once || *at_once > 0) return {};
  Diag out =
      diag(DiagKind::BadLaunch, "clusters of {} CTAs for `{}`: the GPU can hold none with {}",
           demand.cluster, kernel.name, block_text(kernel, demand.config));
  int most = 0;
  if (kernel.calls.max_cluster == nullptr ||
      kernel.calls.max_cluster(&most, kernel.function, &demand.config) != kCudaSuccess || most < 1)
    return fail(std::move(out));
  return fail(
      std::move(out).with_note(fmt::format("at most {} CTAs of such blocks make a cluster", most)));
}

}  // namespace

Result<void> check_shared_memory(const CudaKernel& kernel, std::uint32_t dynamic) {
  const std::int64_t most = device_value(kernel, kMaxSharedOfBlock);
  const std::int64_t fixed = static_shared(kernel);
  if (most == 0 || fixed + dynamic <= most) return {};
  return fail(DiagKind::BadLaunch,
              "`{}` needs {} bytes of shared memory ({} static, {} dynamic), and the GPU gives a "
              "block at most {}",
              kernel.name, fixed + dynamic, fixed, dynamic, most);
}

Result<void> check_fit(const CudaKernel& kernel, const CudaDemand& demand) {
  if (demand.cluster > 1) WW_TRY_VOID(check_clusters(kernel, demand));
  if (!demand.is_cooperative) return {};
  const auto most = blocks_at_once(kernel, demand);
  const std::uint64_t blocks = volume(demand.config.grid);
  if (!most || blocks <= *most) return {};
  return fail(DiagKind::BadLaunch,
              "a cooperative launch of `{}` with {} blocks: the GPU holds {} at once, as {}",
              kernel.name, blocks, *most, block_text(kernel, demand.config));
}

}  // namespace ww::runtime
