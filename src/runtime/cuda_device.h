// SPDX-License-Identifier: Apache-2.0
// A real GPU behind the CUDA driver. PTX is compiled by the driver when it is loaded; a cubin is
// taken as it is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda_calls.h"
#include "runtime/cuda_texture.h"
#include "runtime/device.h"
#include "sim/program.h"

namespace ww::runtime {

/// Something that the GPU is asked to do, and its name in messages: "running `scale`".
struct GpuWork {
  std::function<Result<void>(void* stream)> submit;
  std::string name;
};

class CudaDevice;

/// A launch that was made ready once: only addresses and the stream change, so that repeating it
/// costs little more than the driver's own part.
class CudaLaunch {
 public:
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

 private:
  friend class CudaDevice;
  explicit CudaLaunch(const CudaDevice& device) : device_(&device) {}
  /// In the current context.
  Result<void> submit(void* stream);
  [[nodiscard]] Result<void> misaligned(std::size_t param) const;
  Result<void> make_maps();

  const CudaDevice* device_;
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
  [[nodiscard]] std::optional<Resources> resources() const override;
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
  Result<CudaLaunch> prepare(const Launch& launch);

  /// Waits for all launches in the device's context.
  Result<void> wait();

  /// From one place in the GPU's memory to another, by the driver: nothing that overlaps.
  Result<void> copy(Address to, Address from, std::size_t bytes);
  /// Copies once more than `copies` times, as `time` launches. What no kernel that reads and writes
  /// the same bytes is expected to beat.
  Result<Timing> time_copy(Address to, Address from, std::size_t bytes, int copies);

  /// Seconds from the beginning of the first launch to the end of the last, recorded in a graph
  /// (runtime/cuda_graph.h), or asked for without waiting in between where the driver has none.
  Result<double> time_in_a_row(const Launch& launch, int launches);
  /// The same of something else.
  Result<double> time_in_a_row(const GpuWork& work, int times);
  /// The same, never recorded: in a graph the driver copies by other engines, at two thirds of the rate.
  Result<double> time_one_by_one(const GpuWork& work, int times);
  [[nodiscard]] int multiprocessors() const;

  /// How long a kernel or a copy may take.
  void set_patience(double seconds) { patience_ = seconds; }

 private:
  friend class CudaLaunch;
  CudaDevice(const CudaCalls& calls, int device, int capability)
      : calls_(calls), device_(device), capability_(capability) {}

  Result<void> start();
  void unload();
  Result<void> allow(const Launch& launch);
  [[nodiscard]] Result<void> check(const Launch& launch) const;
  [[nodiscard]] bool states_clusters() const;
  [[nodiscard]] std::vector<CudaLaunchAttribute> attributes_of(const Launch& launch) const;
  [[nodiscard]] CudaLaunch ready(const Launch& launch) const;
  Result<void> wait_for(void* event, std::string_view what);
  GpuWork copying(Address to, Address from, std::size_t bytes);
  Result<Timing> time_work(const GpuWork& work, int times);
  Result<double> time_one(const GpuWork& work, void* start, void* end);

  CudaCalls calls_;
  int device_ = 0;
  int capability_ = 0;
  double patience_ = 60;
  void* context_ = nullptr;
  void* module_ = nullptr;
  void* function_ = nullptr;
  std::string kernel_;
  std::vector<sim::Param> params_;  // of PTX that can be read; empty for other images
  std::vector<Address> memory_;
  bool is_lost_ = false;  // after a failure every call fails
  bool hangs_ = false;    // and some would wait forever
};

}  // namespace ww::runtime
