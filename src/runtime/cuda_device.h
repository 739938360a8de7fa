// SPDX-License-Identifier: Apache-2.0
// A real GPU behind the CUDA driver. The driver compiles PTX when it loads it, and loads a cubin as
// it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/cuda_calls.h"
#include "runtime/device.h"
#include "sim/program.h"
#include "sim/texture/texture.h"

namespace ww::runtime {

// --- textures ------------------------------------------------------------------------------------
//
// A texture or surface of the virtual GPU on a real one: a CUDA array with the same texels, and the
// object that a kernel gets as its handle.

class CudaTexture {
 public:
  /// In the current context, which outlives it. DeviceError or OutOfMemory with the driver's words
  /// where it refuses; the name is for messages.
  static Result<std::unique_ptr<CudaTexture>> make(const CudaCalls& calls,
                                                   const sim::Texture& texture,
                                                   std::string_view name);
  CudaTexture(const CudaTexture&) = delete;
  CudaTexture& operator=(const CudaTexture&) = delete;
  ~CudaTexture();

  /// The value of the kernel's parameter.
  [[nodiscard]] std::uint64_t handle() const { return handle_; }
  /// All texels, x first, without gaps, as sim::Texture has them.
  Result<void> upload(std::span<const std::byte> texels);
  Result<void> download(std::span<std::byte> texels);

 private:
  CudaTexture(const CudaCalls& calls, const sim::Texture& texture, std::string_view name)
      : calls_(calls), texture_(texture), name_(name) {}
  Result<void> create_array();
  Result<void> create_object();
  [[nodiscard]] CudaArrayCopy whole() const;

  CudaCalls calls_;
  sim::Texture texture_;
  std::string name_;
  void* array_ = nullptr;
  std::uint64_t handle_ = 0;
};

// --- the device ----------------------------------------------------------------------------------

// --- cuda event ----------------------------------------------------------------------------------
//
// An event of CUDA: a moment in the work of a GPU that can be waited for, and timed.

/// An event that is gone at the end of a block.
class CudaEvent {
 public:
  static Result<CudaEvent> make(const CudaCalls& calls) {
    void* handle = nullptr;
    WW_TRY_VOID(check_cuda(calls, calls.event_create(&handle, 0), "making an event"));
    return CudaEvent(calls, handle);
  }
  CudaEvent(CudaEvent&& other) noexcept
      : calls_(other.calls_), handle_(std::exchange(other.handle_, nullptr)) {}
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent() {
    if (handle_ != nullptr) calls_->event_destroy(handle_);
  }
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  CudaEvent(const CudaCalls& calls, void* handle) : calls_(&calls), handle_(handle) {}
  const CudaCalls* calls_;
  void* handle_;
};

// --- cuda kernel ---------------------------------------------------------------------------------
//
// A kernel that the CUDA driver has loaded: its module, its function and the requirements of its
// parameters.

struct CudaKernel {
  const CudaCalls& calls;
  int device = 0;
  void* module = nullptr;
  void* function = nullptr;
  std::string name = {};
  std::vector<sim::Param> params = {};  // of PTX that can be read; empty for other images
};

/// Loads an image in the current context; nothing is loaded before. DeviceError with the compiler's
/// log when the driver does not take it, OldDriver with the PTX that the driver reads.
Result<void> load_kernel(CudaKernel& kernel, const Image& image);
void unload_kernel(CudaKernel& kernel);
/// Nothing where the driver does not tell all.
std::optional<Resources> resources_of(const CudaKernel& kernel);

/// The newest PTX version that the driver reads, as far as we know versions: 84 for 8.4.
int newest_ptx(const CudaCalls& calls);

// --- cuda launch ---------------------------------------------------------------------------------
//
// A launch that was made ready once: only addresses and the stream change, so that repeating it
// costs little more than the driver's own part.

/// CudaDevice::prepare makes one.
class CudaLaunch {
 public:
  /// Configures the kernel for the launch. BadLaunch if the GPU cannot run it, and for an address
  /// that is not aligned as the kernel needs it. `device` encodes the maps; it and the kernel
  /// outlive the result.
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
  /// Asks for the launch, in the device's context, and does not wait: the program's next CUDA call
  /// reports the kernel's errors. A null stream is the default one.
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

class CudaDevice final : public Device {
 public:
  /// The first GPU that runs code for `arch`, or the first of all. NoDevice if the driver does not
  /// start or there is no such GPU; notes list the available ones.
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

  /// Prepares a launch for a program that repeats it on its own streams. The device outlives the
  /// result. Addresses that are not aligned as the kernel needs it are BadLaunch.
  Result<CudaLaunch> prepare(const Launch& launch) {
    return CudaLaunch::make(*this, kernel_, context_, launch);
  }
  /// The launch with its maps made, to be timed (runtime/cuda_device.h). Fails as `prepare` does, and
  /// for maps.
  Result<GpuWork> work_of(const Launch& launch);

  /// Waits for all launches in the device's context.
  Result<void> wait();
  /// Waits until an event has happened: the end of what the message calls `what`. DeviceError if that
  /// fails or takes too long, and the device is of no use any more.
  Result<void> wait_for(void* event, std::string_view what);

  /// The driver's copy within the GPU's memory; the ranges must not overlap.
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

// --- times of launches ---------------------------------------------------------------------------
//
// Times work on a GPU by its own events: single launches, launches in a row, copies. All functions
// wait, fail as CudaDevice::launch does, and leave the device unusable in the same cases.

/// Does the work once more than `times` times, an event around each: the first one does not count.
Result<Timing> time_each(CudaDevice& device, const GpuWork& work, int times);
/// The same of a copy. What no kernel that reads and writes the same bytes is expected to beat.
Result<Timing> time_copy(CudaDevice& device, Address to, Address from, std::size_t bytes,
                         int copies);

/// Seconds from the beginning of the first to the end of the last, recorded in a graph
/// (runtime/cuda_device.h), or asked for without waiting in between where the driver has none.
Result<double> time_in_a_row(CudaDevice& device, const GpuWork& work, int times);
Result<double> time_in_a_row(CudaDevice& device, const Launch& launch, int launches);
/// The same, never recorded: in a graph the driver copies by other engines, at two thirds of the rate.
Result<double> time_one_by_one(CudaDevice& device, const GpuWork& work, int times);

}  // namespace ww::runtime
