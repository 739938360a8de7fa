// SPDX-License-Identifier: Apache-2.0
// The memories of the virtual GPU. Every byte a thread can address lies in a `Region`: an
// allocation in global memory, a constant variable, the shared memory of a CTA, the parameters, the
// local memory of a warp. All of them live in one 64-bit address space, the generic one:
//
//   0x0_0000_0000   nothing: null pointers land here
//   0x1_0000_0000   shared memory: that of CTA r of the cluster begins at r << 24
//   0x2_0000_0000   local memory: the same address is another place in each lane
//   0x3_0000_0000   kernel parameters
//   0x4_0000_0000   functions, for indirect calls
//   0x10_0000_0000  global and constant memory, allocations far apart
//
// An address in a state space is the generic one less the window's start; global, constant and
// generic addresses are the same. So, as on hardware, an address of a CTA's own shared memory is also
// its address for the rest of the cluster, and bits 24 and up say the rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isa/operand.h"
#include "sim/texture/texture.h"

namespace ww::sim {

using isa::Space;

constexpr std::uint64_t kSharedWindow = 0x1'0000'0000U;
constexpr std::uint64_t kLocalWindow = 0x2'0000'0000U;
constexpr std::uint64_t kParamWindow = 0x3'0000'0000U;
constexpr std::uint64_t kCodeWindow = 0x4'0000'0000U;
/// Not an address of any instruction: where the race check sees tensor memory.
constexpr std::uint64_t kTensorWindow = 0x5'0000'0000U;
constexpr std::uint64_t kGlobalStart = 0x10'0000'0000U;
/// Bits of a shared address below the rank of the CTA.
constexpr unsigned kRankShift = 24;

/// Where the shared memory of a CTA of the cluster begins; and of an address in there, the CTA, and
/// the place in its memory.
constexpr std::uint64_t shared_start(std::uint64_t rank) {
  return kSharedWindow + (rank << kRankShift);
}
constexpr std::uint64_t shared_rank(std::uint64_t address) {
  return (address - kSharedWindow) >> kRankShift;
}
constexpr std::uint64_t shared_offset(std::uint64_t address) {
  return address & ((std::uint64_t{1} << kRankShift) - 1);
}

/// What a generic address adds to an address in the space.
constexpr std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::Shared:
    case Space::SharedCluster:
      return kSharedWindow;
    case Space::Local:
      return kLocalWindow;
    case Space::Param:
      return kParamWindow;
    case Space::Generic:
    case Space::Global:
    case Space::Const:
    case Space::Tensor:
      return 0;
  }
  return 0;
}

/// The least multiple of `step` that is not less.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

struct WordOwners;
struct GridRecord;
class Heap;

/// A run of memory. `undefined` has one byte for each byte of data: 0 once it has been written.
struct Region {
  std::uint64_t base = 0;  // generic address of the first byte
  std::uint64_t size = 0;
  std::byte* data = nullptr;
  std::uint8_t* undefined = nullptr;  // null: not tracked
  WordOwners* owners = nullptr;       // null: no watch (checks/conflicts.h)
  std::uint64_t lane_stride = 0;      // local memory: distance of two lanes' bytes
  Space space = Space::Global;
  bool writable = true;
  bool is_awaited = false;      // an earlier grid may still write it (checks/grid_wait.h)
  GridRecord* grids = nullptr;  // null: no history of launches (checks/grid_history.h)
  std::uint32_t owner = 0;      // shared memory: rank of the CTA
  Heap* heap = nullptr;         // that hands out parts of it, which alone may be used
  std::string name{};           // for messages: "parameter 0", "variable `table`", "shared memory"

  /// Whether the bytes lie inside. No address overflows here: sizes are far below 2^64.
  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const {
    return address - base < size && bytes <= size - (address - base);
  }
  [[nodiscard]] std::uint64_t offset(std::uint64_t address, unsigned lane) const {
    return address - base + lane * lane_stride;
  }
};

/// Global and constant memory: allocations that live across launches. Not to be changed while a
/// kernel runs; the bytes themselves may be.
class GlobalMemory {
 public:
  GlobalMemory() = default;

  /// A new allocation of that many bytes (at least 1 is reserved), undefined and filled with
  /// `fill`. Throws std::bad_alloc when the host has no memory; the caller bounds the size.
  Region& allocate(std::uint64_t size, std::uint64_t align, std::string name,
                   Space space = Space::Global, std::byte fill = std::byte{0xCD});
  /// An allocation after all others over the caller's bytes, which must outlive this, as must
  /// `undefined`; without `undefined` all bytes are defined.
  Region& adopt(std::uint64_t base, std::span<std::byte> bytes, std::uint8_t* undefined,
                std::string name);
  /// Where the next allocation of that size goes, given where the last one ended; moves `next` on.
  static std::uint64_t place(std::uint64_t& next, std::uint64_t size, std::uint64_t align);
  /// Copies into the start of the region and marks it as defined.
  static void write(Region& region, std::span<const std::byte> bytes);
  /// The region of that address, or the nearest below it if `nearest`; nullptr: none.
  [[nodiscard]] Region* find(std::uint64_t address) const;
  [[nodiscard]] const Region* nearest(std::uint64_t address) const;
  [[nodiscard]] std::span<const std::unique_ptr<Region>> regions() const { return regions_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// What tex, suld and so on know by handles.
  [[nodiscard]] TextureTable& textures() { return textures_; }

 private:
  std::vector<std::unique_ptr<Region>> regions_;  // by ascending base
  std::vector<std::unique_ptr<std::byte[]>> data_;
  std::vector<std::unique_ptr<std::uint8_t[]>> undefined_;
  std::uint64_t next_ = kGlobalStart;
  std::uint64_t bytes_ = 0;
  TextureTable textures_;
};

}  // namespace ww::sim
