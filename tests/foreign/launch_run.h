// SPDX-License-Identifier: Apache-2.0
// The launches of a section on the virtual GPU, and what is compared afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foreign/launches.h"
#include "sim/launch.h"

namespace ww::corpus {

struct LaunchOutcome {
  std::string problem;                          // "" or the first error or finding
  std::vector<std::vector<std::byte>> outputs;  // the buffers marked `out`
  std::string printed;
};

/// A module on the virtual GPU. Its variables keep their values from launch to launch.
class VirtualModule {
 public:
  /// Nothing if the text cannot be loaded; why is put into `reason`.
  static std::unique_ptr<VirtualModule> load(const std::string& text, const std::string& name,
                                             std::string& reason);
  /// With the values that its variables begin with.
  explicit VirtualModule(std::shared_ptr<const sim::Program> program)
      : device_(std::move(program)) {}

  /// With all checks on.
  LaunchOutcome run(const LaunchLine& launch);
  [[nodiscard]] const sim::Program& program() const { return device_.program(); }

 private:
  sim::Device device_;
};

/// The bytes of the parameters. `addresses` has one for each buffer. Nothing if the arguments do
/// not fit the kernel; why is put into `reason`.
std::optional<std::vector<std::byte>> parameter_bytes(const sim::Code& kernel,
                                                      const LaunchLine& launch,
                                                      const std::vector<std::uint64_t>& addresses,
                                                      std::string& reason);

/// FNV-1a over all output buffers, and over what was printed if the launch says so.
std::uint64_t digest_of(const LaunchLine& launch, const LaunchOutcome& outcome);

/// "" or the first elements that differ: all bits, or by more than `launch.approx`.
std::string difference(const LaunchLine& launch, const LaunchOutcome& device,
                       const LaunchOutcome& ours);

}  // namespace ww::corpus
