// SPDX-License-Identifier: Apache-2.0
// A kernel of a PTX text that is launched many times over memory of the caller's, in place: what a
// driver does for programs that have pointers and no arrays. Which bytes are undefined lives on from
// launch to launch, as the memory does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/call/call.h"
#include "driver/run/tool.h"
#include "runtime/device.h"
#include "sim/program.h"

namespace ww::driver {

/// Memory that kernels may touch.
struct PlacedMemory {
  runtime::Address address = 0;  // on the virtual GPU
  std::span<std::byte> bytes = {};
  std::uint8_t* undefined = nullptr;  // as of sim::Region; null: all of it is defined
  std::string name = {};              // for messages
};

struct PlacedLaunch {
  runtime::Launch launch = {};  // arguments hold addresses on the virtual GPU
  std::vector<PlacedMemory> memory = {};
  std::uint64_t sample = 0;  // blocks that run, as of sim::RunOptions
  std::function<bool(std::uint64_t, std::uint64_t)> progress = {};
};

struct PlacedReport {
  RunReport run = {};
  std::uint64_t blocks_left_out = 0;
};

class PlacedKernel {
 public:
  /// Fails as SimDevice::load; UnknownName: the text has no such kernel.
  static Result<PlacedKernel> load(const std::string& text, const std::string& kernel);
  [[nodiscard]] const std::vector<sim::Param>& params() const;
  /// BadLaunch for what no GPU takes. What the kernel does wrong is in the report.
  [[nodiscard]] Result<PlacedReport> launch(const PlacedLaunch& call,
                                            const CallOptions& options) const;

 private:
  PlacedKernel(std::shared_ptr<const sim::Program> program, std::string kernel)
      : program_(std::move(program)), kernel_(std::move(kernel)) {}

  std::shared_ptr<const sim::Program> program_;
  std::string kernel_;
};

}  // namespace ww::driver
