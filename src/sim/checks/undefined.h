// SPDX-License-Identifier: Apache-2.0
// The check of undefined values: registers with bytes that nothing has written. ops/track.h
// propagates them from sources to results.
#pragma once

#include <cstdint>
#include <string>

#include "sim/checks/origins.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// A source that decides something: an address, a branch, a count, a value for global memory. Undefined
/// bytes are reported with their origin, once: from then on they count as defined. `bytes`: of a lane, 16
/// at most.
void use_value(Warp& warp, Place place, Mask who, unsigned bytes = 8, bool is_pred = false);
/// A value that others see: undefined bytes are reported and stay undefined, as the copy of them does.
void show_value(Warp& warp, Place place, Mask who, unsigned bytes);
/// A source of a calculation: undefined bytes make the result undefined, which is for the caller; only
/// `uninit=early` reports them.
void calculate_with(Warp& warp, Place place, Mask who, unsigned bytes = 8, bool is_pred = false);
/// Marks a register as defined in the executing lanes.
void define_value(Warp& warp, Place place, bool is_pred = false);
/// The same for a register of so many bytes, in these lanes.
void define_lanes(Warp& warp, Place place, Mask who, unsigned bytes = 8);
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
/// The same for bytes that the running op has read from memory; `origin` is that of one of them.
void set_loaded_bytes(Warp& warp, Place place, const std::uint8_t* bits, OriginId origin);
/// Clears the notes of the running op's registers that hold no undefined bytes.
void clear_suspicions(Warp& warp);
/// Before an op runs of which registers may be undefined: does what its track function or the rule for
/// ops without one says, looks at the guard, and notes where the results' undefined bytes come from. Ops
/// that track themselves do all but the guard in their run functions.
void track_op(Warp& warp, const Op& op);

/// Where an undefined lane of a register or predicate comes from.
[[nodiscard]] OriginId origin_of(Warp& warp, Place place, unsigned lane);
/// Where undefined bytes of memory come from that the running op reads.
[[nodiscard]] OriginId origin_in(Warp& warp, const Region& region, std::uint64_t offset,
                                 unsigned lane);
/// Notes for undefined lanes of a result that the running op got them from there.
void set_origins(Warp& warp, Place place, Mask who, const OriginId* before);
/// Reports undefined bytes that the running op uses, with their origin.
void report_undefined(Warp& warp, Mask who, OriginId origin, std::uint64_t address,
                      std::string text);

/// Of undefined bytes, the bits that are known all the same (known_bits.h).
[[nodiscard]] std::uint64_t known_bits(const Warp& warp, Place place, unsigned lane);
/// To be set after the undefined bytes, in the executing lanes.
void set_known_bits(Warp& warp, Place place, const std::uint64_t* bits);

}  // namespace ww::sim
