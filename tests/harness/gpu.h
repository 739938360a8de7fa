// SPDX-License-Identifier: Apache-2.0
// The GPU of this machine as one more engine, when the environment has WW_DEVICE=cuda. One for the
// whole process, because starting takes long. Asked for and not there is an error, no skip.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/engines.h"
#include "runtime/cuda_device.h"

namespace ww::test {

class Gpu {
 public:
  /// What WW_DEVICE asks for; started at the first call.
  static const Gpu& wanted();
  /// As if WW_DEVICE had that value, with that library as the driver.
  Gpu(const std::string& device, const std::string& library);

  /// Whether it is asked for and runs such code; true as well where it cannot be had, so that `run`
  /// says so.
  [[nodiscard]] bool runs(target::Arch arch) const;
  /// Whether its matrix units round as the virtual GPU does for this target: those of other
  /// generations add up in other ways.
  [[nodiscard]] bool rounds_like(target::Arch arch) const;
  /// The PTX version to compile for: the newest, or what the driver reads where it will run it.
  [[nodiscard]] int ptx_for(target::Arch arch) const;
  /// As the other engines.
  std::optional<std::string> run(const std::string& ptx, const ir::Function& lowered,
                                 const std::vector<Arg>& args, Results& out) const;

 private:
  std::string problem_;  // why there is none, although there should be
  std::unique_ptr<runtime::CudaDevice> device_;
  std::optional<target::Target> target_;
};

}  // namespace ww::test
