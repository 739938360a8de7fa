// SPDX-License-Identifier: Apache-2.0
// The heap behind malloc and free of kernels. It reuses freed blocks only when there is no other
// room, so that the checks find a late use of them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "sim/checks/findings.h"
#include "sim/memory/memory.h"

namespace ww::sim {

class Heap {
 public:
  struct Block {
    std::uint64_t base = 0, bytes = 0;
    std::uint64_t room = 0;  // bytes that it may take, with a gap behind them
    bool is_free = false;
    Party freed{};  // who did that
  };
  explicit Heap(Region& region) : region_(region) {}

  /// A block of undefined bytes; nullptr if there is no room or the size is 0.
  const Block* allocate(std::uint64_t bytes);
  void free(std::uint64_t base, const Party& who);
  /// The block at the address or the nearest below it; nullptr: there is none.
  [[nodiscard]] const Block* find(std::uint64_t address) const;
  [[nodiscard]] const Region& region() const { return region_; }

 private:
  const Block* reuse(std::uint64_t bytes);

  Region& region_;
  std::uint64_t used_ = 0;
  std::map<std::uint64_t, Block> blocks_;  // by base
  std::deque<std::uint64_t> free_;         // bases, in the order of being freed
};

}  // namespace ww::sim
