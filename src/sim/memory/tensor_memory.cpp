// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace ww::sim {

std::string tensor_text(std::uint64_t address) {
  const std::uint64_t cell = shared_offset(address) / 4;
  return fmt::format("lane {}, column {} of tensor memory", cell / kTensorColumns,
                     cell % kTensorColumns);
}

TensorMemory::TensorMemory()
    : cells_(std::size_t{kTensorLanes} * kTensorColumns, 0xCDCD'CDCDU),
      undefined_(std::size_t{kTensorLanes} * kTensorColumns, 0x0F),
      pending_(std::size_t{kTensorLanes} * kTensorColumns) {}

std::optional<std::uint32_t> TensorMemory::allocate(std::uint32_t columns, std::uint32_t op,
                                                    std::uint32_t warp) {
  for (std::uint32_t at = 0; at + columns <= kTensorColumns; at += columns) {
    const auto first = taken_.begin() + at;
    if (std::find(first, first + columns, true) != first + columns) continue;
    std::fill(first, first + columns, true);
    allocations_.push_back({at, columns, op, warp});
    return at;
  }
  return std::nullopt;
}

const TensorMemory::Allocation* TensorMemory::find(std::uint32_t column) const {
  const auto found = std::find_if(allocations_.begin(), allocations_.end(),
                                  [&](const Allocation& a) { return a.column == column; });
  return found == allocations_.end() ? nullptr : &*found;
}

void TensorMemory::release(std::uint32_t column) {
  const auto found = std::find_if(allocations_.begin(), allocations_.end(),
                                  [&](const Allocation& a) { return a.column == column; });
  if (found == allocations_.end()) return;
  const std::uint32_t first = found->column;
  const std::uint32_t count = found->count;
  std::fill_n(taken_.begin() + first, count, false);
  for (unsigned lane = 0; lane < kTensorLanes; ++lane) {
    for (std::uint32_t c = first; c < first + count; ++c) {
      undefined_at(lane, c) = 0x0F;
      pending_at(lane, c) = {};
    }
  }
  allocations_.erase(found);
}

}  // namespace ww::sim
