// SPDX-License-Identifier: Apache-2.0
#include "driver/run/device_kind.h"

#include <algorithm>
#include <utility>

#include "driver/build.h"
#include "runtime/cuda_device.h"

namespace ww::driver {

std::span<const DeviceRow> device_rows() {
  static constexpr DeviceRow kRows[] = {
      {DeviceKind::Auto, "auto",
       "a GPU that can run code for the target, otherwise the virtual GPU"},
      {DeviceKind::Sim, "sim", "the virtual GPU, with all checks"},
      {DeviceKind::Cuda, "cuda", "a GPU"},
      {DeviceKind::Eval, "eval", "the reference evaluator, which does not lower the program"}};
  return kRows;
}

std::string_view name_of(DeviceKind kind) {
  return device_rows()[static_cast<std::size_t>(kind)].name;
}

std::optional<DeviceKind> parse_device(std::string_view name) {
  for (const DeviceRow& row : device_rows())
    if (row.name == name) return row.kind;
  return std::nullopt;
}

// --- the choice ----------------------------------------------------------------------------------

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
