// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "num/host_lanes.h"
#include "sim/checks/conflicts.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

constexpr std::uint64_t kWindowSize = std::uint64_t{1} << 32U;

bool in_window(std::uint64_t address, std::uint64_t window) {
  return address - window < kWindowSize;
}

/// The state space that a generic address lies in.
Space space_at(std::uint64_t address, const GlobalMemory& memory) {
  if (in_window(address, kSharedWindow)) return Space::Shared;
  if (in_window(address, kLocalWindow)) return Space::Local;
  if (in_window(address, kParamWindow)) return Space::Param;
  const Region* region = memory.find(address);
  return region != nullptr ? region->space : Space::Generic;
}

bool fits(Space wanted, Space found) {
  if (wanted == Space::Generic || wanted == found) return true;
  return wanted == Space::SharedCluster && found == Space::Shared;
}

Region* region_of(Warp& warp, std::uint64_t address) {
  if (address >= kGlobalStart) {
    if (warp.last_region != nullptr && warp.last_region->holds(address, 1)) return warp.last_region;
    Region* found = warp.unit->context.memory->find(address);
    if (found != nullptr) warp.last_region = found;
    return found;
  }
  if (in_window(address, kSharedWindow)) {
    const std::uint64_t rank = shared_rank(address);
    return rank < warp.unit->ctas.size() ? &warp.unit->ctas[rank]->shared : nullptr;
  }
  if (in_window(address, kLocalWindow)) return &warp.stack.local;
  if (in_window(address, kParamWindow)) return warp.unit->context.params;
  return nullptr;
}

const char* access_verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::Read:
      return "read";
    case AccessKind::Write:
      return "write";
    case AccessKind::Atomic:
      return "atomic";
  }
  return "";
}

// The allocation that an address misses by the fewest bytes.
const Region* closest(const GlobalMemory& memory, std::uint64_t address) {
  const Region* best = nullptr;
  std::uint64_t least = 0;
  for (const std::unique_ptr<Region>& region : memory.regions()) {
    const std::uint64_t by =
        address < region->base ? region->base - address : address - region->base - region->size;
    if (best != nullptr && by >= least) continue;
    best = region.get();
    least = by;
  }
  return best;
}

// How it is missed.
std::string missed(const Region& region, std::uint64_t address, unsigned bytes) {
  const std::string name = fmt::format("{} ({} bytes)", region.name, region.size);
  if (address < region.base)
    return fmt::format("{} bytes before the start of {}", region.base - address, name);
  const std::uint64_t past = address - region.base;
  if (past == region.size) return fmt::format("just past the end of {}", name);
  if (past > region.size)
    return fmt::format("{} bytes past the end of {}", past - region.size, name);
  return fmt::format("{} bytes of it past the end of {}", bytes - (region.size - past), name);
}

// The same of the region of the address, or the nearest where it is in none.
std::string missed(const Warp& warp, const Region* region, std::uint64_t address, unsigned bytes) {
  // What misses the first allocation or the CTA's shared memory by little is before it, not elsewhere.
  constexpr std::uint64_t kLittle = 1U << 20U;
  const Region& own = warp.cta->shared;
  const auto before = static_cast<std::uint32_t>(own.base - address);
  if (in_window(address, kSharedWindow) && before != 0 && before <= kLittle)
    return missed(own, own.base - before, bytes);
  if (region == nullptr && address >= kGlobalStart - kLittle)
    region = closest(*warp.unit->context.memory, address);
  if (region != nullptr) return missed(*region, address, bytes);
  if (in_window(address, kSharedWindow))
    return fmt::format("the cluster has {} CTAs, and the shared memory of CTA r begins at r << {}",
                       warp.unit->ctas.size(), kRankShift);
  return address < 4096 ? "a null pointer" : "no allocation is there";
}

// Leaves out the lanes whose bytes are not in a block that was handed out.
void check_heap(Warp& warp, const Heap& heap, const std::uint64_t* address, unsigned bytes,
                AccessKind kind, Mask& group) {
  for_each_lane(group, [&](unsigned l) {
    const Heap::Block* block = heap.find(address[l]);
    const std::uint64_t past = block != nullptr ? address[l] - block->base : 0;
    const bool is_inside = block != nullptr && past < block->bytes && bytes <= block->bytes - past;
    if (is_inside && !block->is_free) return;
    group &= ~lane_bit(l);
    const Party other = is_inside ? block->freed : Party{};
    if (!warp.is_new(Check::Bounds, other.op)) return;
    const std::string place =
        is_inside ? fmt::format("in a block of {} bytes that was freed", block->bytes)
        : block != nullptr
            ? fmt::format("{} bytes behind the start of a block of {} bytes of `malloc`", past,
                          block->bytes)
            : "in the heap, of which `malloc` has given out nothing";
    warp.report_at(
        Check::Bounds, lane_bit(l), address[l],
        fmt::format("{} of {} bytes at 0x{:x}: {}", access_verb(kind), bytes, address[l], place),
        other);
  });
}

void report_bad_address(Warp& warp, std::uint64_t address, unsigned lane, unsigned bytes,
                        AccessKind kind, Space space) {
  const char* verb = access_verb(kind);
  const Mask who = lane_bit(lane);
  Region* region = region_of(warp, address);
  const Space found = space_at(address, *warp.unit->context.memory);
  const bool is_inside = region != nullptr && region->holds(address, bytes);
  if (is_inside && !warp.checks(Check::Space)) return;
  if (!is_inside && !warp.checks(Check::Bounds)) {
    warp.unit->stop(Outcome::Trapped,
                    fmt::format("illegal address 0x{:x} at line {}, {}, warp {}, lane {}", address,
                                warp.program->infos[warp.current].line,
                                warp.unit->describe(*warp.cta), warp.index, lane));
    warp.stop = 0;
    return;
  }
  if (!warp.is_new(is_inside ? Check::Space : Check::Bounds)) return;
  if (is_inside) {
    const bool is_locked = !region->writable && kind != AccessKind::Read;
    const std::string what =
        is_locked ? fmt::format("{} of {}, which is read-only", verb, region->name)
        : fits(space, found)
            ? fmt::format(
                  "{} at {} in the `shared::cta` space, where CTA {} has only its own "
                  "memory, from 0x{:x} on; `shared::cluster` reaches the others",
                  verb, shared_text(*warp.unit, address), warp.cta->rank,
                  start_of(warp, AddressOrigin::Shared))
            : fmt::format("{} in the {} space at an address of the {} space", verb,
                          isa::name_of(space), isa::name_of(found));
    warp.report_at(Check::Space, who, address, what);
    return;
  }
  const std::string at =
      found == Space::Shared ? shared_text(*warp.unit, address) : fmt::format("0x{:x}", address);
  warp.report_at(Check::Bounds, who, address,
                 fmt::format("{} of {} bytes at {}: {}", verb, bytes, at,
                             missed(warp, region, address, bytes)));
}

}  // namespace

std::uint64_t start_of(const Warp& warp, AddressOrigin origin) {
  switch (origin) {
    case AddressOrigin::Absolute:
      return 0;
    case AddressOrigin::Local:
      return warp.here.local;
    case AddressOrigin::Shared:
      return std::uint64_t{warp.cta->rank} << kRankShift;
  }
  return 0;
}

void lane_addresses(const Warp& warp, const Address& address, std::uint64_t* out) {
  const std::uint64_t add =
      static_cast<std::uint64_t>(address.offset) + start_of(warp, address.origin);
  const std::uint64_t window = window_of(address.space);
  if (!address.base.present()) {
    std::fill_n(out, kLanes, add + window);
  } else if (address.is_narrow) {
    num::in_lanes([=, base = warp.source<std::uint32_t>(address.base)] {
      const auto low = static_cast<std::uint32_t>(add);
#pragma GCC ivdep
      for (unsigned l = 0; l < kLanes; ++l) out[l] = window + (base[l] + low);
    });
  } else {
    num::in_lanes([=, base = warp.source<std::uint64_t>(address.base)] {
#pragma GCC ivdep
      for (unsigned l = 0; l < kLanes; ++l) out[l] = base[l] + add + window;
    });
  }
}

Region* resolve(Warp& warp, const std::uint64_t* address, Mask& who, unsigned bytes,
                AccessKind kind, Space space, Mask& group) {
  const unsigned first = first_lane(who);
  Region* region = region_of(warp, address[first]);
  // A GPU has the parameters in global memory and reads them there, too.
  const bool is_param =
      region != nullptr && region->space == Space::Param && space == Space::Global;
  const bool right_space = region != nullptr && (fits(space, region->space) || is_param) &&
                           (region->writable || kind == AccessKind::Read) &&
                           (space != Space::Shared || region->owner == warp.cta->rank);
  if (region == nullptr || !right_space || !region->holds(address[first], bytes)) {
    who &= ~lane_bit(first);
    report_bad_address(warp, address[first], first, bytes, kind, space);
    return nullptr;
  }
  if (is_param) report_bad_address(warp, address[first], first, bytes, kind, space);
  // Most often all lanes are inside, and idle lanes point somewhere harmless.
  const std::uint64_t last = region->size - bytes;
  const auto [outside, low_bits] = num::in_lanes([=, base = region->base] {
    std::uint64_t beyond = 0;
    std::uint64_t bits = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      beyond |= address[l] - base > last ? 1U : 0U;
      bits |= address[l];
    }
    return std::pair(beyond, bits);
  });
  group = who;
  if (outside != 0) {
    for_each_lane(who, [&](unsigned l) {
      if (!region->holds(address[l], bytes)) group &= ~lane_bit(l);
    });
  }
  who &= ~group;
  if (region->heap != nullptr && warp.checks(Check::Bounds)) {
    check_heap(warp, *region->heap, address, bytes, kind, group);
    if (group == 0) return nullptr;
  }
  const unsigned align = bytes & (~bytes + 1);  // of odd sizes, what they are a multiple of
  if ((low_bits & (align - 1)) == 0) return region;
  Mask bad = 0;
  for_each_lane(group, [&](unsigned l) {
    if ((address[l] & (align - 1)) != 0) bad |= lane_bit(l);
  });
  if (bad == 0) return region;
  if (!warp.checks(Check::Align)) return region;
  const unsigned lane = first_lane(bad);
  if (warp.is_new(Check::Align, kNoOp, count_lanes(bad))) {
    warp.report_at(Check::Align, bad, address[lane],
                   fmt::format("address 0x{:x} of lane {} is not a multiple of {}", address[lane],
                               lane, align));
  }
  group &= ~bad;
  return group != 0 ? region : nullptr;
}

void note_conflicts(Warp& warp, const Region& region, const std::uint64_t* address, Mask lanes,
                    unsigned bytes, AccessKind kind) {
  Conflicts& conflicts = *warp.unit->context.conflicts;
  switch (kind) {
    case AccessKind::Read:
      return conflicts.note_read(region, address, lanes, bytes, warp.unit->index);
    case AccessKind::Write:
      return conflicts.note_write(region, address, lanes, bytes, warp.unit->index);
    case AccessKind::Atomic:
      return conflicts.note_atomic(
          region, address, lanes, bytes, warp.unit->index,
          static_cast<std::uint32_t>(warp.program->infos[warp.current].opcode));
  }
}

}  // namespace ww::sim
