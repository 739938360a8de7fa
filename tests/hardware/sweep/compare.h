// SPDX-License-Identifier: Apache-2.0
// Two output buffers of a kernel, the device's and ours, side by side.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hardware/sweep/bounds.h"
#include "hardware/sweep/kernel.h"

namespace ww::sweep {

struct Comparison {
  std::size_t cases = 0;
  std::size_t mismatches = 0;        // threads with a result that differs too much
  std::vector<std::size_t> threads;  // the first few of them
  const Bound* bound = nullptr;      // none: bit for bit
  double max_ulps = 0;               // largest difference, in units of our result
  double max_share = 0;              // largest difference as a share of what is allowed
};

Comparison compare(const Kernel& kernel, std::span<const std::byte> inputs,
                   std::span<const std::byte> device, std::span<const std::byte> ours,
                   std::size_t cases);

/// One thread's operands and results in hexadecimal: "a=0x00000001 b=... | device d=... | ours
/// d=...".
std::string show_thread(const Kernel& kernel, std::span<const std::byte> inputs,
                        std::span<const std::byte> device, std::span<const std::byte> ours,
                        std::size_t cases, std::size_t thread);

}  // namespace ww::sweep
