// SPDX-License-Identifier: Apache-2.0
// Notes about the lanes of few registers, those with undefined bytes: their known bits, and where
// they come from. A register is identified by its offset in the frames of a warp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/lanes.h"

namespace ww::sim {

/// A T for each lane of a register; T{} where nothing was set.
template <typename T>
class LaneTable {
 public:
  [[nodiscard]] bool empty() const { return lanes_.empty(); }
  [[nodiscard]] T find(std::uint64_t at, unsigned lane) const {
    const auto found = lanes_.find(at);
    return found == lanes_.end() ? T{} : found->second[lane];
  }
  void set(std::uint64_t at, const T* notes, Mask who) { blend(lanes_[at].data(), notes, who); }
  void drop(std::uint64_t at, Mask who) {
    const auto found = lanes_.find(at);
    if (found == lanes_.end()) return;
    for_each_lane(who, [&](unsigned l) { found->second[l] = T{}; });
    const bool is_empty = std::all_of(found->second.begin(), found->second.end(),
                                      [](const T& note) { return note == T{}; });
    if (is_empty) lanes_.erase(found);
  }
  /// The same for all registers from there on.
  void drop_from(std::uint64_t first, Mask who) {
    std::vector<std::uint64_t> registers;
    for (const auto& [at, notes] : lanes_)
      if (at >= first) registers.push_back(at);
    for (const std::uint64_t at : registers) drop(at, who);
  }
  void clear() { lanes_.clear(); }

 private:
  std::unordered_map<std::uint64_t, std::array<T, kLanes>> lanes_;
};

}  // namespace ww::sim
