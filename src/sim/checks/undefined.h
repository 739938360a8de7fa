// SPDX-License-Identifier: Apache-2.0
// The check of undefined values: registers with bytes that nothing has written. How they go from sources to results is in ops/track.h.
#pragma once

#include <cstdint>

#include "sim/run/warp.h"

namespace ww::sim {

/// A source of the running op: reports undefined bytes as used.
void use_value(Warp& warp, Place place, Mask who, unsigned bytes = 8, bool is_pred = false);
/// Marks a register as defined in the executing lanes.
void define_value(Warp& warp, Place place, bool is_pred = false);
/// The same for a register of up to 64 bits, in these lanes.
void define_lanes(Warp& warp, Place place, Mask who);
/// Looks at the running op's registers, guard and results included: whether none is suspect.
[[nodiscard]] bool has_no_suspect(const Warp& warp);
/// Whether nothing of the running op's registers is undefined, guard and results included: then all
/// stays so, whatever the op does. false: they have to be looked at.
[[nodiscard]] inline bool all_defined(Warp& warp) {
  if (warp.undefined.was_defined(warp.current)) return true;
  if (!has_no_suspect(warp)) return false;
  warp.undefined.note_defined(warp.current);
  return true;
}
/// Makes these the undefined bytes of a register of up to 64 bits, in the executing lanes.
void set_undefined_bytes(Warp& warp, Place place, const std::uint8_t* bits);
/// Clears the notes of the running op's registers that hold no undefined bytes.
void clear_suspicions(Warp& warp);
/// What an op does that has no rule of its own: uses all sources, defines all results.
void use_and_define(Warp& warp);

/// Of undefined bytes, the bits that are known all the same (known_bits.h).
[[nodiscard]] std::uint64_t known_bits(const Warp& warp, Place place, unsigned lane);
/// To be set after the undefined bytes, in the executing lanes.
void set_known_bits(Warp& warp, Place place, const std::uint64_t* bits);

}  // namespace ww::sim
