// SPDX-License-Identifier: Apache-2.0
// Tensor memory of one SM: 128 lanes of 512 columns, 32 bits each, allocated by columns. An address
// has the lane in its upper and the column in its lower half.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/memory/memory.h"
#include "sim/order/clocks.h"

namespace ww::sim {

constexpr unsigned kTensorLanes = 128;
constexpr unsigned kTensorColumns = 512;

/// Where checks see a cell of a CTA's tensor memory: `cell` is lane * kTensorColumns + column.
constexpr std::uint64_t address_of_cell(unsigned rank, std::uint32_t cell) {
  return kTensorWindow + (std::uint64_t{rank} << kRankShift) + std::uint64_t{cell} * 4;
}
constexpr bool is_in_tensor(std::uint64_t address) {
  return address >= kTensorWindow && address < kGlobalStart;
}
/// "lane 3, column 16 of tensor memory"
std::string tensor_text(std::uint64_t address);

class TensorMemory {
 public:
  struct Allocation {
    std::uint32_t column = 0, count = 0;
    std::uint32_t op = kNoOp;  // that made it
    std::uint32_t warp = 0;
  };

  TensorMemory();
  /// The lowest run of that many free columns, at a multiple of its size; if empty, wait.
  std::optional<std::uint32_t> allocate(std::uint32_t columns, std::uint32_t op,
                                        std::uint32_t warp);
  /// The allocation that starts there, or nullptr.
  [[nodiscard]] const Allocation* find(std::uint32_t column) const;
  void release(std::uint32_t column);
  [[nodiscard]] bool is_allocated(std::uint32_t column) const { return taken_[column]; }
  [[nodiscard]] const std::vector<Allocation>& allocations() const { return allocations_; }

  [[nodiscard]] std::uint32_t& at(unsigned lane, unsigned column) {
    return cells_[lane * kTensorColumns + column];
  }
  /// Bit b: byte b of the cell is undefined.
  [[nodiscard]] std::uint8_t& undefined_at(unsigned lane, unsigned column) {
    return undefined_[lane * kTensorColumns + column];
  }
  /// All of them, lane by lane.
  [[nodiscard]] std::span<const std::uint32_t> cells() const { return cells_; }
  [[nodiscard]] std::span<const std::uint8_t> undefined_cells() const { return undefined_; }
  /// Writes to the cell that have not been waited for, and who made the latest.
  struct Pending {
    std::uint32_t op = kNoOp;
    std::uint16_t warp = 0;  // of the CTA
    std::uint16_t count = 0;
  };
  [[nodiscard]] Pending& pending_at(unsigned lane, unsigned column) {
    return pending_[lane * kTensorColumns + column];
  }
  bool relinquished = false;
  /// The clocks of warps that freed columns, for the warps that get them next.
  Clocks freed_clock;

 private:
  std::vector<std::uint32_t> cells_;
  std::vector<std::uint8_t> undefined_;
  std::vector<Pending> pending_;
  std::array<bool, kTensorColumns> taken_{};
  std::vector<Allocation> allocations_;
};

}  // namespace ww::sim
