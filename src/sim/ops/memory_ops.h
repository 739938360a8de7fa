// SPDX-License-Identifier: Apache-2.0
// Shared by all instructions that access memory: moving elements between memory and registers, with
// the checks for undefined bytes, races and asynchronous data.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "sim/checks/undefined.h"
#include "sim/decode/decoder.h"
#include "sim/memory/access.h"
#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// The scope that an instruction names; without a name it is the whole GPU.
inline Scope scope_in(const Decode& in) {
  const Word scope = in.has("scope") ? in.word("scope") : "gpu";
  return scope == "cta" ? Scope::Cta : scope == "cluster" ? Scope::Cluster : Scope::Gpu;
}

/// Notes a use of shared memory of a neighbour in the cluster.
inline void note_neighbour(Warp& warp, const Region& region, const std::uint64_t* address,
                           Mask group, unsigned bytes, Touched how) {
  Neighbours* neighbours = warp.unit->neighbours.get();
  if (neighbours != nullptr && region.space == Space::Shared)
    neighbours->used(warp, region, address, group, bytes, how);
}

/// Notes for the checks of races and fences what a group of lanes does through the generic proxy.
inline void note_access(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                        unsigned bytes, Touched how, const Manner& manner = {},
                        const StoredBytes* stored = nullptr) {
  RaceTracker* races = warp.unit->races.get();
  if (races != nullptr) races->touch(warp, region, address, group, bytes, how, manner, stored);
  FenceTracker* fences = warp.unit->fences.get();
  if (fences == nullptr) return;
  if (is_read(how))
    fences->read(warp, region, address, group, bytes);
  else
    fences->wrote(warp, region, address, group, bytes);
}

/// Calls visit(address, lanes) for the lanes of each address.
template <typename Visit>
void for_each_address(const std::uint64_t* address, Mask lanes, Visit&& visit) {
  while (lanes != 0) {
    const std::uint64_t here = address[first_lane(lanes)];
    Mask same = 0;
    for_each_lane(lanes, [&](unsigned l) {
      if (address[l] == here) same |= lane_bit(l);
    });
    lanes &= ~same;
    visit(here, same);
  }
}

/// Registers that a store writes consecutively.
struct RegisterRun {
  const Place* places = nullptr;
  unsigned count = 0;
  unsigned bytes = 0;  // of each that are stored
  unsigned width = 0;  // of a register

  /// Whether a lane's bytes are at that address already.
  [[nodiscard]] bool are_at(const Warp& warp, const Region& region, std::uint64_t address,
                            unsigned lane) const {
    const std::byte* const there = region.data + region.offset(address, lane);
    for (unsigned i = 0; i < count; ++i) {
      const std::byte* const value = warp.source<std::byte>(places[i]) + std::size_t{lane} * width;
      if (std::memcmp(there + std::size_t{i} * bytes, value, bytes) != 0) return false;
    }
    return true;
  }
};

/// Counts wavefronts or sectors of an access, if the run counts.
void count_access(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                  unsigned bytes, Touched how);

/// Reports accesses to shared bytes that an asynchronous copy is still to write, or to read if this
/// writes them, and to mbarriers.
void check_marks(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                 unsigned bytes, bool is_write);
inline void check_async(Warp& warp, const Region& region, const std::uint64_t* address, Mask group,
                        unsigned bytes, bool is_write) {
  if (region.space != Space::Shared || warp.unit->ctas[region.owner]->watched == 0) return;
  check_marks(warp, region, address, group, bytes, is_write);
}

/// All three of the above, for an access as ld and st make it.
inline void access_checks(Warp& warp, const Region& region, const std::uint64_t* address,
                          Mask group, unsigned bytes, Touched how, const Manner& manner = {},
                          const StoredBytes* stored = nullptr) {
  note_access(warp, region, address, group, bytes, how, manner, stored);
  note_neighbour(warp, region, address, group, bytes, how);
  check_async(warp, region, address, group, bytes, !is_read(how));
  count_access(warp, region, address, group, bytes, how);
}

/// The register that an address starts from is used by these lanes.
inline void use_base(Warp& warp, const Address& address, Mask lanes) {
  if (warp.undefined.are_kept() && address.base.present() && !address.base.is_constant() &&
      warp.undefined.is_suspect(address.base))
    use_value(warp, address.base, lanes);
}

/// The addresses that the executing lanes name with address `i` of the op; undefined ones are
/// reported.
using LaneAddresses = std::array<std::uint64_t, kLanes>;
inline LaneAddresses used_addresses(Warp& warp, const Op& op, unsigned i = 0) {
  const Address& address = warp.program->addresses[op.address + i];
  use_base(warp, address, warp.exec);
  LaneAddresses all;
  lane_addresses(warp, address, all.data());
  return all;
}

/// Bit b set: byte b of `bytes` at this place is undefined.
inline std::uint32_t undefined_bits(const Region& region, std::uint64_t offset, unsigned bytes) {
  if (region.undefined == nullptr) return 0;
  if (bytes == 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, region.undefined + offset, sizeof word);
    if (word == 0) return 0;
  }
  std::uint32_t bits = 0;
  for (unsigned b = 0; b < bytes; ++b) bits |= region.undefined[offset + b] != 0 ? 1U << b : 0U;
  return bits;
}

/// Marks the bytes as defined, but for those of `undefined`.
inline void mark_bytes(const Region& region, std::uint64_t offset, unsigned bytes,
                       std::uint32_t undefined = 0) {
  if (region.undefined == nullptr) return;
  if (undefined == 0) {
    if (bytes == 4) {
      std::memset(region.undefined + offset, 0, 4);
    } else {
      std::memset(region.undefined + offset, 0, bytes);
    }
    return;
  }
  for (unsigned b = 0; b < bytes; ++b) {
    region.undefined[offset + b] = ((undefined >> b) & 1U) != 0 ? 0xFF : 0;
  }
}

}  // namespace ww::sim
