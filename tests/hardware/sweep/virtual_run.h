// SPDX-License-Identifier: Apache-2.0
// A kernel of the sweep on the virtual GPU.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hardware/sweep/kernel.h"

namespace ww::sweep {

struct VirtualOptions {
  bool checked = false;    // all checks on; a finding is a problem
  std::uint64_t seed = 0;  // not 0: warps take turns by chance
};

struct VirtualResult {
  bool is_simulated = true;        // whether the module could be loaded
  std::string problem;             // "" or the first error or finding
  std::vector<std::byte> outputs;  // the output buffer
};

VirtualResult run_virtual(const Kernel& kernel, std::span<const std::byte> inputs,
                          std::size_t cases, const VirtualOptions& options);

}  // namespace ww::sweep
