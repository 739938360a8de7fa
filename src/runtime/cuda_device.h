// SPDX-License-Identifier: Apache-2.0
// A real GPU behind the CUDA driver. PTX is compiled by the driver when it is loaded; a cubin is
// taken as it is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda_calls.h"
#include "runtime/cuda_kernel.h"
#include "runtime/cuda_launch.h"
#include "runtime/cuda_texture.h"
#include "runtime/gpu_work.h"

namespace ww::runtime {

class CudaDevice final : public Device {
 public:
  /// The first GPU that runs code for `arch`, or the first of all. NoDevice when the driver does
  /// not start or there is no such GPU; notes list those there are.
  static Result<std::unique_ptr<CudaDevice>> open(const CudaCalls& calls,
                                                  std::optional<target::Arch> arch = {});
  /// The GPU of that number. NoDevice where there is none, or where it does not run code for `arch`.
  static Result<std::unique_ptr<CudaDevice>> open_at(const CudaCalls& calls, int number,
                                                     target::Arch arch);
  ~CudaDevice() override;

  [[nodiscard]] std::string name() const override;
  /// The GPU's own architecture and the newest PTX version that the driver reads.
  [[nodiscard]] std::optional<target::Target> native_target() const override;
  /// DeviceError with the compiler's log when the driver does not take the image.
  Result<void> load(const Image& image) override;
  [[nodiscard]] std::optional<Resources> resources() const override {
    return resources_of(kernel_);
  }
  Result<Address> allocate(std::size_t bytes, std::string_view name) override;
  Result<void> upload(Address to, std::span<const std::byte> bytes) override;
  Result<void> download(std::span<std::byte> to, Address from) override;
  /// By the driver's encoder; DeviceError with its words if it refuses.
  [[nodiscard]] Result<std::vector<std::byte>> encode_map(const sim::TensorMap& map) const override;
  /// An array of CUDA's with the texture's extents and its object. The device outlives it.
  Result<std::unique_ptr<CudaTexture>> make_texture(const sim::Texture& texture,
                                                    std::string_view name) {
    return CudaTexture::make(calls_, texture, name);
  }
  /// DeviceError for what the driver refuses, for a kernel that fails (an illegal address, a trap)
  /// and for one that does not end in time. After such a failure the device is of no use any more;
  /// one that is opened after its end is, unless a kernel still runs.
  Result<void> launch(const Launch& launch) override;
  Result<Timing> time(const Launch& launch, int launches) override;
  [[nodiscard]] bool hangs() const override { return hangs_; }

  /// Makes a launch ready for a program that repeats it on streams of its own. The device outlives
  /// the result. Addresses that are not aligned as the kernel needs it are BadLaunch.
  Result<CudaLaunch> prepare(const Launch& launch) {
    return CudaLaunch::make(*this, kernel_, context_, launch);
  }
  /// The launch with its maps made, to be timed (runtime/cuda_timing.h). Fails as `prepare` does, and
  /// for maps.
  Result<GpuWork> work_of(const Launch& launch);

  /// Waits for all launches in the device's context.
  Result<void> wait();
  /// Waits until an event has happened: the end of what the message calls `what`. DeviceError if that
  /// fails or takes too long, and the device is of no use any more.
  Result<void> wait_for(void* event, std::string_view what);

  /// From one place in the GPU's memory to another, by the driver: nothing that overlaps.
  Result<void> copy(Address to, Address from, std::size_t bytes);

  [[nodiscard]] const CudaCalls& calls() const { return calls_; }
  [[nodiscard]] int multiprocessors() const;

  /// How long a kernel or a copy may take.
  void set_patience(double seconds) { patience_ = seconds; }

 private:
  CudaDevice(const CudaCalls& calls, int device, int capability)
      : calls_(calls), device_(device), capability_(capability) {}
  static Result<std::unique_ptr<CudaDevice>> start(const CudaCalls& calls, int device,
                                                   int capability);
  void unload();

  CudaCalls calls_;
  int device_ = 0;
  int capability_ = 0;
  double patience_ = 60;
  void* context_ = nullptr;
  CudaKernel kernel_{.calls = calls_, .device = device_};  // the one that was loaded last
  std::vector<Address> memory_;
  bool is_lost_ = false;  // after a failure every call fails
  bool hangs_ = false;    // and some would wait forever
};

}  // namespace ww::runtime
