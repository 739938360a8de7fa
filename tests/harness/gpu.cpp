// SPDX-License-Identifier: Apache-2.0
#include "harness/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "num/matrix_mode.h"
#include "runtime/cuda_calls.h"

namespace ww::test {

const Gpu& Gpu::wanted() {
  const char* const device = std::getenv("WW_DEVICE");
  // Never destroyed: the driver may be gone before static objects are.
  static const Gpu& gpu = *new Gpu(device == nullptr ? "" : device, "libcuda.so.1");
  return gpu;
}

Gpu::Gpu(const std::string& device, const std::string& library) {
  if (device.empty()) return;
  problem_ = fmt::format("WW_DEVICE is `{}`, expected `cuda` or nothing", device);
  if (device != "cuda") return;
  const auto calls = runtime::load_cuda_calls(library);
  if (!calls) {
    problem_ = calls.error().text;
    return;
  }
  auto opened = runtime::CudaDevice::open(*calls);
  problem_ = opened ? "" : opened.error().text;
  if (!opened) return;
  device_ = *std::move(opened);
  target_ = device_->native_target();
  fmt::print("on {}\n", device_->name());
}

bool Gpu::runs(target::Arch arch) const {
  if (!problem_.empty()) return true;
  return target_ && runtime::runs_on(arch, target::info(target_->arch).number);
}

bool Gpu::rounds_like(target::Arch arch) const {
  if (!target_) return true;
  const auto mode = [](target::Arch each) { return num::mode_of(target::info(each).number).name; };
  return mode(target_->arch) == mode(arch);
}

int Gpu::ptx_for(target::Arch arch) const {
  const int newest = target::ptx_versions().back();
  return target_ && runs(arch) ? std::min(newest, target_->ptx) : newest;
}

std::optional<std::string> Gpu::run(const std::string& ptx, const ir::Function& lowered,
                                    const std::vector<Arg>& args, Results& out) const {
  if (!problem_.empty()) return problem_;
  return run_on(*device_, ptx, lowered, args, out);
}

}  // namespace ww::test
