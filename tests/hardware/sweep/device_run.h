// SPDX-License-Identifier: Apache-2.0
// Kernels of the sweep on a GPU: many to a module, assembled by ptxas, one launch each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "foreign/toolchain.h"
#include "hardware/cuda_driver.h"
#include "hardware/sweep/kernel.h"

namespace ww::sweep {

/// Runs f(0) ... f(count - 1) on all cores.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& f);

/// An assembled module; the kernel at place i is called k<i>.
struct Module {
  std::vector<std::size_t> kernels;  // indices into all kernels
  std::vector<std::byte> image;
};

struct Assembled {
  std::vector<Module> modules;
  std::vector<std::string> problems;  // by kernel: what ptxas said against it
};

/// Groups kernels by PTX version and assembles them on all cores. A kernel that ptxas refuses is
/// found by halving.
Assembled assemble(const corpus::Toolchain& tools, std::span<const Kernel> kernels);

/// One module's kernels on the device. An error of a kernel costs the context, which is made anew.
class DeviceRunner {
 public:
  explicit DeviceRunner(device::Gpu& gpu) : gpu_(gpu) {}

  std::string open(const Module& module);
  void close();
  /// "" or what the driver said; `outputs` has the size of the output buffer.
  std::string run(const std::string& name, std::span<const std::byte> inputs,
                  std::span<std::byte> outputs, std::size_t cases);

 private:
  std::string launch(const std::string& name, std::span<const std::byte> inputs,
                     std::span<std::byte> outputs, std::size_t cases);

  device::Gpu& gpu_;
  const Module* open_ = nullptr;
  void* module_ = nullptr;
};

}  // namespace ww::sweep
