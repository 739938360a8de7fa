// SPDX-License-Identifier: Apache-2.0
// Shifts and masks may leave a byte undefined of which some bits are known: these, of the registers
// of a warp of up to 64 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

#include "sim/lanes.h"

namespace ww::sim {

class KnownBitsTable {
 public:
  [[nodiscard]] bool empty() const { return lanes_.empty(); }
  /// Of the register at that offset of the frames.
  [[nodiscard]] std::uint64_t find(std::uint64_t at, unsigned lane) const {
    const auto found = lanes_.find(at);
    return found == lanes_.end() ? 0 : found->second[lane];
  }
  void set(std::uint64_t at, const std::uint64_t* bits, Mask who) {
    blend(lanes_[at].data(), bits, who);
  }
  /// The register is written in some other way.
  void drop(std::uint64_t at, Mask who) {
    const auto found = lanes_.find(at);
    if (found == lanes_.end()) return;
    for_each_lane(who, [&](unsigned l) { found->second[l] = 0; });
    const bool is_empty = std::all_of(found->second.begin(), found->second.end(),
                                      [](std::uint64_t bits) { return bits == 0; });
    if (is_empty) lanes_.erase(found);
  }
  void clear() { lanes_.clear(); }

 private:
  std::unordered_map<std::uint64_t, std::array<std::uint64_t, kLanes>> lanes_;
};

}  // namespace ww::sim
