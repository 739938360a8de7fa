// SPDX-License-Identifier: Apache-2.0
#include "driver/run/choose_device.h"

#include <algorithm>
#include <utility>

#include "driver/build.h"
#include "runtime/cuda_device.h"

namespace ww::driver {
namespace {

DeviceChoice virtual_gpu(const ir::Function& tile, std::optional<target::Target> given,
                         sim::RunOptions options) {
  auto device = std::make_unique<runtime::SimDevice>(std::move(options));
  DeviceChoice out{.sim = device.get(), .target = given ? *given : default_target(tile)};
  out.device = std::move(device);
  return out;
}

// Without a target of its own, a program needs what its default target has that other GPUs lack.
Result<DeviceChoice> real_gpu(const ir::Function& tile, std::optional<target::Target> given,
                              const runtime::CudaCalls& calls) {
  const target::Target fallback = default_target(tile);
  const bool needs_tensor_memory = !given && fallback.has(target::Feature::TensorMemory);
  std::optional<target::Arch> arch;
  if (given) arch = given->arch;
  auto device = WW_TRY(runtime::CudaDevice::open(calls, arch));
  const target::Target native = *device->native_target();
  if (needs_tensor_memory && !native.has(target::Feature::TensorMemory))
    return fail(DiagKind::NoDevice, "the kernel uses tensor memory, and {} has none",
                device->name());
  DeviceChoice out{.target = native};
  if (given) out.target = {.arch = given->arch, .ptx = std::min(given->ptx, native.ptx)};
  out.device = std::move(device);
  return out;
}

}  // namespace

Result<DeviceChoice> choose_device(DeviceKind wish, const ir::Function& tile,
                                   std::optional<target::Target> given, sim::RunOptions options,
                                   const Result<runtime::CudaCalls>& calls) {
  if (wish == DeviceKind::Sim) return virtual_gpu(tile, given, std::move(options));
  if (!calls) {
    if (wish == DeviceKind::Cuda)
      return fail(Diag(calls.error()).with_note("`--device sim` needs no GPU"));
    return virtual_gpu(tile, given, std::move(options));
  }
  auto real = real_gpu(tile, given, *calls);
  if (real || wish == DeviceKind::Cuda) return real;
  DeviceChoice out = virtual_gpu(tile, given, std::move(options));
  out.remark = real.error().text;
  return out;
}

}  // namespace ww::driver
