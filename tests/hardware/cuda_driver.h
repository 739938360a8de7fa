// SPDX-License-Identifier: Apache-2.0
// A GPU as the programs in this folder use it, by the driver's table of runtime/cuda_calls.h: they
// build where no CUDA is installed, and say so where there is no device. Unlike
// runtime::CudaDevice, it survives a kernel that fails: `restart`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/cuda_calls.h"

namespace ww::device {

using Address = std::uint64_t;
using Extent = std::array<std::uint32_t, 3>;

struct KernelLaunch {
  Extent grid{1, 1, 1}, block{1, 1, 1};
  std::optional<Extent> cluster{};  // only where the kernel leaves it open
  std::uint32_t dynamic_shared = 0;
  std::span<const std::byte> params;
};

/// A device and its context. Calls return "" or the driver's words; after an error of a kernel the
/// context is of no use any more until `restart`, which loses all memory and modules.
class Gpu {
 public:
  /// Nothing if there is no driver or no device; why is put into `reason`.
  static std::unique_ptr<Gpu> open(std::string& reason);
  ~Gpu() = default;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// "NVIDIA H200, driver 13.0".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] int arch() const;  // 90
  std::string restart();

  std::string load(std::span<const std::byte> image, void*& module);
  void unload(void* module);
  std::string find(void* module, const std::string& name, void*& function);

  std::string allocate(std::size_t bytes, Address& address);
  void release(Address address);
  std::string upload(Address to, std::span<const std::byte> bytes);
  std::string download(std::span<std::byte> to, Address from);

  /// Starts the kernel and waits for its end, at most that many seconds: then "timeout".
  std::string run(void* function, const KernelLaunch& launch, double seconds = 30);
  /// Waits for everything; what kernels printed has been written then.
  void synchronize();

 private:
  explicit Gpu(const runtime::CudaCalls& calls) : calls_(calls) {}
  std::string words(int status) const;
  std::string wait(double seconds);

  runtime::CudaCalls calls_;
  int device_ = 0;
};

}  // namespace ww::device
