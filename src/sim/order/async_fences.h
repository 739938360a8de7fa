// SPDX-License-Identifier: Apache-2.0
// Fences of the async proxy and of tensor memory, which go with the order (order.h). Do not call
// anything here for programs without Order::has_fences.
#pragma once

#include <cstdint>

#include "sim/order/order.h"

namespace ww::sim {

/// fence.proxy.async of these lanes for shared (or else global) memory.
void fence_proxy(Order& order, const Actor& who, Past what);
/// Whether one is on the way from what a lane of `other` did then to `lane` of `warp`.
[[nodiscard]] bool fenced_for_proxy(const Order& order, unsigned warp, unsigned lane,
                                    unsigned other, unsigned other_lane, std::uint32_t clock,
                                    Past what);

/// tcgen05.fence::before_thread_sync and ::after_thread_sync.
void fence_tensor_before(Order& order, unsigned warp);
void fence_tensor_after(Order& order, const Actor& who);
/// The fence that tcgen05.commit is to threads that wait for its mbarrier.
void commit_tensor(Order& order, unsigned warp, Location& at_barrier);
/// Adds the part of a clock that is about tensor memory.
void join_tensor(const Order& order, WarpClocks& into, const WarpClocks& from);

/// Whether the fence before the barrier is on the way, the one behind it, or both.
[[nodiscard]] bool has_before(const Order& order, unsigned warp, unsigned lane, unsigned other,
                              std::uint32_t clock);
[[nodiscard]] bool has_after(const Order& order, unsigned warp, unsigned other,
                             std::uint32_t clock);
[[nodiscard]] bool fenced_in_tensor(const Order& order, unsigned warp, unsigned other,
                                    std::uint32_t clock);

}  // namespace ww::sim
