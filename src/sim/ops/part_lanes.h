// SPDX-License-Identifier: Apache-2.0
// Registers that hold two numbers side by side (f16x2, bf16x2, f32x2): the 32 lanes are 64 numbers,
// and one loop goes over them all.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "num/host_lanes.h"
#include "sim/lanes.h"
#include "sim/op.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// The 64 halves of a register, copied out, so that their type matters to the caller alone.
template <typename Whole>
struct Halves {
  using Half = std::conditional_t<sizeof(Whole) == 4, std::uint16_t, std::uint32_t>;
  alignas(64) Half at[2 * kLanes];

  void read(const Warp& warp, Place place) {
    std::memcpy(at, warp.source<Whole>(place), sizeof at);
  }
  void write(Warp& warp, Place place) const {
    alignas(64) Whole whole[kLanes];
    std::memcpy(whole, at, sizeof at);
    warp.write(place, whole);
  }
};

/// p[0] = F(p[1], p[2], …) in both halves of registers of type Whole, kSources of them; as map_rare_lanes
/// and map_lanes_by.
template <auto F, typename Whole, std::size_t kSources>
[[gnu::flatten]] void map_rare_halves(Warp& warp, const Op& op) {
  Halves<Whole> d;
  Halves<Whole> s[kSources];
  for (std::size_t i = 0; i < kSources; ++i) s[i].read(warp, op.p[i + 1]);
#pragma GCC ivdep
  for (unsigned i = 0; i < 2 * kLanes; ++i) {
    if constexpr (kSources == 1) d.at[i] = F(s[0].at[i]);
    if constexpr (kSources == 2) d.at[i] = F(s[0].at[i], s[1].at[i]);
    if constexpr (kSources == 3) d.at[i] = F(s[0].at[i], s[1].at[i], s[2].at[i]);
  }
  d.write(warp, op.p[0]);
}
template <auto F, auto Wide, typename Whole, std::size_t kSources>
[[gnu::flatten]] void map_halves_by(Warp& warp, const Op& op) {
  num::in_lanes([&] { map_rare_halves<Wide, Whole, kSources>(warp, op); },
                [&] { map_rare_halves<F, Whole, kSources>(warp, op); });
}

}  // namespace ww::sim
