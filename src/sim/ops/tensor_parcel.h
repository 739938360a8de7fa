// SPDX-License-Identifier: Apache-2.0
// The box of one tensor copy on its way: its bytes as in global memory, row after row, and their
// places in shared memory.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/ops/async_ops.h"
#include "sim/tensor_map/box.h"

namespace ww::sim {

/// One copy: the map, the corner, and the bytes of the box, row after row.
struct Parcel {
  TensorMap map{};
  BoxShape shape{};
  TensorPoint point{};
  std::uint32_t size = 0;
  Bytes bytes;
  Effect effect;

  [[nodiscard]] std::uint8_t* undefined() {
    return bytes.undefined.empty() ? nullptr : bytes.undefined.data();
  }
  [[nodiscard]] const std::uint8_t* undefined() const {
    return bytes.undefined.empty() ? nullptr : bytes.undefined.data();
  }
  [[nodiscard]] WriteMode mode() const { return {.combines = effect.combine != nullptr}; }
  /// Where a byte of a box at that address is.
  [[nodiscard]] std::uint64_t place(std::uint64_t address, std::uint32_t at) const {
    return swizzled(map.swizzle, address + shape.place(at));
  }
};

/// Reports a box that starts at another address than the copy engine takes.
void check_shared_address(Warp& warp, std::uint64_t address, unsigned lane);
/// The memory that a box takes, as runs without gaps. Of padded elements, with the padding.
std::vector<ByteRun> shared_runs(Warp& warp, const Parcel& parcel, std::uint64_t address,
                                 unsigned lane, AccessKind kind, Space space);
/// Writes the bytes of a box there, as far as `runs` are accessible. Padding becomes undefined.
void put_box(const Parcel& parcel, std::uint64_t address, const std::vector<ByteRun>& runs);
/// Reads the bytes of a box there for a store. Numbers of six bits are packed: each is the lower part
/// of a byte there.
void take_box(Parcel& parcel, std::uint64_t address, const std::vector<ByteRun>& runs);

}  // namespace ww::sim
