// SPDX-License-Identifier: Apache-2.0
// A warp is 32 lanes. What each lane has of something lies side by side, lane 0 first, so that one
// instruction is one loop over 32 neighbours; which lanes take part is a mask.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace ww::sim {

constexpr unsigned kLanes = 32;

/// Bit l is lane l.
using Mask = std::uint32_t;
constexpr Mask kAllLanes = ~Mask{0};

constexpr Mask lane_bit(unsigned lane) { return Mask{1} << lane; }
constexpr bool has_lane(Mask mask, unsigned lane) { return ((mask >> lane) & 1U) != 0; }
inline unsigned count_lanes(Mask mask) { return static_cast<unsigned>(std::popcount(mask)); }
/// The lowest lane; the mask must not be empty.
inline unsigned first_lane(Mask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

template <typename Visit>
void for_each_lane(Mask mask, Visit&& visit) {
  while (mask != 0) {
    visit(first_lane(mask));
    mask &= mask - 1;
  }
}

/// to[l] = from[l] in the lanes of the mask.
template <typename T>
void blend(T* to, const T* from, Mask mask) {
  if (mask == kAllLanes) {
    std::memcpy(to, from, kLanes * sizeof(T));
    return;
  }
#pragma GCC ivdep
  for (unsigned l = 0; l < kLanes; ++l) {
    const T before = to[l];  // both are read first: a choice of loads would be a branch
    const T after = from[l];
    to[l] = ((mask >> l) & 1U) != 0 ? after : before;
  }
}

/// Whether one of the bytes, a multiple of four of them, is not 0. It looks at all: most often all are.
inline bool any_byte(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < count; i += sizeof any) {
    std::uint32_t four = 0;
    std::memcpy(&four, bytes + i, sizeof four);
    any |= four;
  }
  return any != 0;
}

/// "0-7, 12": the lanes of a mask in words.
std::string lanes_text(Mask lanes);

/// 128 bits of a register; only moved, never calculated with.
struct Wide {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend bool operator==(const Wide&, const Wide&) = default;
};

}  // namespace ww::sim
