// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/heap.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace ww::sim {
namespace {

constexpr std::uint64_t kAlign = 16;
constexpr std::uint64_t kGuardBytes = 16;  // behind a block, so that running over its end is seen

}  // namespace

const Heap::Block* Heap::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > region_.size) return nullptr;
  const std::uint64_t room = round_up(bytes, kAlign) + kGuardBytes;
  if (room > region_.size - used_) return reuse(bytes);
  const std::uint64_t base = region_.base + used_;
  used_ += room;
  return &(blocks_[base] = {.base = base, .bytes = bytes, .room = room});
}

const Heap::Block* Heap::reuse(std::uint64_t bytes) {
  const auto fits = std::find_if(free_.begin(), free_.end(), [&](std::uint64_t base) {
    return blocks_.at(base).room >= bytes + kGuardBytes;
  });
  if (fits == free_.end()) return nullptr;
  Block& block = blocks_.at(*fits);
  free_.erase(fits);
  block.bytes = bytes;
  block.is_free = false;
  if (region_.undefined != nullptr)
    std::memset(region_.undefined + (block.base - region_.base), 0xFF, bytes);
  return &block;
}

void Heap::free(std::uint64_t base, const Party& who) {
  Block& block = blocks_.at(base);
  block.is_free = true;
  block.freed = who;
  free_.push_back(base);
}

const Heap::Block* Heap::find(std::uint64_t address) const {
  const auto above = blocks_.upper_bound(address);
  return above == blocks_.begin() ? nullptr : &std::prev(above)->second;
}

}  // namespace ww::sim
