// SPDX-License-Identifier: Apache-2.0
// A launch that was made ready once: only addresses and the stream change, so that repeating it
// costs little more than the driver's own part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/cuda_kernel.h"

namespace ww::runtime {

/// CudaDevice::prepare makes one.
class CudaLaunch {
 public:
  /// Allows the kernel what the launch needs. BadLaunch where the GPU cannot run it, and for an
  /// address that is not aligned as the kernel needs it. `device` encodes the maps; it and the
  /// kernel outlive the result.
  static Result<CudaLaunch> make(const Device& device, const CudaKernel& kernel, void* context,
                                 const Launch& launch);
  CudaLaunch(CudaLaunch&&) noexcept = default;
  CudaLaunch& operator=(CudaLaunch&&) noexcept = default;
  CudaLaunch(const CudaLaunch&) = delete;
  CudaLaunch& operator=(const CudaLaunch&) = delete;
  ~CudaLaunch() = default;

  /// The address of a parameter. BadLaunch for one that is not aligned as the kernel needs it.
  Result<void> set_address(std::size_t param, Address address) {
    are_maps_old_ = are_maps_old_ || (!maps_.empty() && values_[param] != address);
    values_[param] = address;
    return (address & low_bits_[param]) == 0 ? Result<void>() : misaligned(param);
  }
  void set_bits(std::size_t param, std::uint64_t bits) { values_[param] = bits; }
  /// Asks for the launch, in the device's context, and does not wait: what the kernel does wrong
  /// shows in the program's next call of CUDA. A null stream is the default one.
  Result<void> enqueue(void* stream);

  /// The tensor maps for the addresses that it has now. BadLaunch where no map can be like that.
  Result<void> make_maps();
  /// Asks for the launch in the current context, with the maps that were made last.
  Result<void> submit(void* stream);

 private:
  CudaLaunch(const Device& device, const CudaKernel& kernel, void* context, const Launch& launch);
  [[nodiscard]] Result<void> misaligned(std::size_t param) const;

  const Device* device_;
  const CudaKernel* kernel_;
  void* context_;
  CudaLaunchConfig config_ = {};
  std::vector<CudaLaunchAttribute> attributes_ = {};
  std::vector<std::uint64_t> values_ = {};
  std::vector<std::vector<std::byte>> blocks_ = {};  // of parameters that are structs, else empty
  std::vector<void*> pointers_ = {};                 // to the values
  std::vector<std::uint64_t> low_bits_ = {};         // that must be 0 in an address
  std::vector<MapArgument> maps_ = {};
  bool are_maps_old_ = false;  // an address has changed since they were made
};

}  // namespace ww::runtime
