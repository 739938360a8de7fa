// SPDX-License-Identifier: Apache-2.0
// Operands for the instruction sweep: for each kind of operand as many values as there are threads,
// always the same ones. Every even warp keeps to one style (any bits, small numbers, edge values,
// tiny, huge, ...), the lanes of odd warps choose each for itself; later operands of a kind are
// often equal or close to the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/type.h"

namespace ww::sweep {

/// What an operand is for, where its type alone does not say which values are of interest.
enum class Use : std::uint8_t {
  Value,
  Place,        // of a bit, or how far to shift: small, around the width, and any bits
  SmallSigned,  // -40..40
  Lane,         // 0..31
  ShuffleLane,  // 0..63, sometimes any bits
  Clamp,        // the third operand of shfl: any segment mask and clamp
  OctetLane,    // 0..7
  Octets,       // what keeps shfl inside eight lanes
  WarpMask,     // not 0, whole octets of lanes, the same in a warp
  AnyWarpMask,  // not 0, any lanes, the same in a warp
  WarpLane,     // 0..31, the same in a warp
};

struct Kind {
  isa::Type type = isa::Type::B32;  // of one element
  unsigned count = 1;               // elements in one operand
  Use use = Use::Value;
  unsigned bytes = 4;       // of the column: more than the elements have if the register is wider
  bool exhaustive = false;  // go through all values in turn: for a single operand of 16 bits
  bool goes_up = false;     // Octets: for shfl.up, whose clamp is the lowest lane

  friend bool operator==(const Kind&, const Kind&) = default;
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

/// The kind of an operand of that type: pairs and vectors are taken apart into elements.
Kind kind_of(isa::Type type, Use use = Use::Value);

/// The values of `cases` threads, one after the other: operand number `index` of this kind.
std::vector<std::byte> make_values(const Kind& kind, unsigned index, std::size_t cases);

/// The value of one thread, its low 64 bits.
std::uint64_t value_at(const Kind& kind, unsigned index, std::size_t thread);

/// A number that depends on the text alone, the same on all machines.
std::uint64_t hash_of(std::string_view text);

}  // namespace ww::sweep
