// SPDX-License-Identifier: Apache-2.0
// Global memory as it was: what a launch that is run again begins with, or is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/memory/memory.h"

namespace ww::sim {

/// A byte of an allocation.
struct MemoryPlace {
  const Region* region = nullptr;
  std::uint64_t offset = 0;
};

class Snapshot {
 public:
  explicit Snapshot(const GlobalMemory& memory);

  void restore() const;
  /// The first byte that is not as it was; none: all are.
  [[nodiscard]] std::optional<MemoryPlace> difference() const;

 private:
  struct Saved {
    Region* region;
    std::unique_ptr<std::byte[]> data;
    std::unique_ptr<std::uint8_t[]> undefined;  // null: not tracked
  };
  std::vector<Saved> saved_;  // of what kernels may write
};

}  // namespace ww::sim
