// SPDX-License-Identifier: Apache-2.0
// The virtual GPU as a device. It takes every target, knows which bytes of memory were never
// written, and keeps the report of the last launch: findings, counters, outcome.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "sim/launch.h"

namespace ww::runtime {

class SimDevice final : public Device {
 public:
  explicit SimDevice(sim::RunOptions options = {}) : options_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return "the virtual GPU"; }
  [[nodiscard]] std::optional<target::Target> native_target() const override { return {}; }
  /// Fails with NotSimulated, naming the instruction and its line of PTX.
  Result<void> load(const Image& image) override;
  /// The program of an image, to run kernels of it many times. Fails as `load`.
  static Result<std::shared_ptr<const sim::Program>> read(const Image& image);
  /// `load` of a program that was read before. DeviceError: it has no such kernel.
  Result<void> use(std::shared_ptr<const sim::Program> program, const std::string& kernel);
  /// Memory of the caller's at an address of his choice, ascending from call to call: kernels read and
  /// write it where it lies. `undefined` is as of sim::Region; null: all of it is defined.
  void adopt(Address address, std::span<std::byte> bytes, std::uint8_t* undefined,
             std::string name) {
    device_->memory().adopt(address, bytes, undefined, std::move(name));
  }
  /// What messages call the parts of the program.
  void set_names(sim::LaunchNames names) { options_.names = std::move(names); }
  [[nodiscard]] std::optional<Resources> resources() const override;
  /// TooLarge beyond the memory that the options allow.
  Result<Address> allocate(std::size_t bytes, std::string_view name) override;
  Result<void> upload(Address to, std::span<const std::byte> bytes) override;
  Result<void> download(std::span<std::byte> to, Address from) override;
  /// BadLaunch for launches that no GPU accepts. The kernel's faults are in `report` and are not a
  /// failure.
  Result<void> launch(const Launch& launch) override;
  /// BadArgument: there is no time on the virtual GPU.
  Result<Timing> time(const Launch& launch, int launches) override;

  [[nodiscard]] bool tracks_writes() const override { return true; }
  [[nodiscard]] std::span<const std::uint8_t> undefined(Address address) const override;

  /// Of the last launch; none before the first.
  [[nodiscard]] const std::optional<sim::LaunchReport>& report() const { return report_; }
  [[nodiscard]] std::shared_ptr<const sim::Program> program() const { return program_; }
  [[nodiscard]] const sim::RunOptions& options() const { return options_; }

 private:
  [[nodiscard]] Result<std::vector<std::byte>> parameters(const Launch& launch) const;

  sim::RunOptions options_;
  std::shared_ptr<const sim::Program> program_;
  const sim::Code* kernel_ = nullptr;
  std::unique_ptr<sim::Device> device_;
  std::optional<sim::LaunchReport> report_;
};

}  // namespace ww::runtime
