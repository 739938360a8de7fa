// SPDX-License-Identifier: Apache-2.0
// The check of undefined values: registers with bytes that nothing has written, or that still wait
// for a load of tensor memory. How they go from sources to results is in ops/track.h.
#pragma once

#include <cstdint>

#include "sim/run/warp.h"

namespace ww::sim {

/// A source of the running op: reports undefined bytes as used.
void use_value(Warp& warp, Place place, Mask who, unsigned bytes = 8, bool is_pred = false);
/// A source of a store, which may hold undefined bytes but not those of a load under way.
void pass_on(Warp& warp, Place place, Mask who);
/// Marks a register as defined in the executing lanes.
void define_value(Warp& warp, Place place, bool is_pred = false);
/// What an op does that has no rule of its own: uses all sources, defines all results.
void use_and_define(Warp& warp);

/// Of undefined bytes, the bits that are known all the same (known_bits.h).
[[nodiscard]] std::uint64_t known_bits(const Warp& warp, Place place, unsigned lane);
/// To be set after the undefined bytes, in the executing lanes.
void set_known_bits(Warp& warp, Place place, const std::uint64_t* bits);

}  // namespace ww::sim
