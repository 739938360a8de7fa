// SPDX-License-Identifier: Apache-2.0
// Release and acquire patterns (order.h): fences, strong accesses, and mbarriers, which are
// locations like any other.
#pragma once

#include <cstdint>

#include "sim/order/order.h"

namespace ww::sim {

/// The purpose of a fence.
struct FenceKind {
  bool acquires = true, releases = true;
  Scope scope = Scope::Gpu;
};
void fence(Order& order, const Actor& who, const FenceKind& kind);

/// A strong access.
struct StrongAccess {
  bool reads = false, writes = false;  // both: an atomic
  bool acquires = false, releases = false;
  Scope scope = Scope::Gpu;
};
/// Lanes make a strong access at one address.
void strong_access(Order& order, const Actor& who, std::uint64_t address, unsigned bytes,
                   const StrongAccess& access);

/// Lanes arrive at an mbarrier, and wait for it.
void arrive(Order& order, const Actor& who, bool releases, Scope scope, Location& at_barrier);
void wait(Order& order, const Actor& who, bool acquires, Scope scope, const Location& at_barrier);
/// What relaxed arrivals hand on all the same: what has a fence behind it, and the order of fenced
/// work in tensor memory.
void release_relaxed(const Order& order, const Actor& who, Clocks& into, Scope scope);

}  // namespace ww::sim
