// SPDX-License-Identifier: Apache-2.0
// Barriers, which order all threads that meet at them (order.h): of a CTA, of a cluster, of a warp.
#pragma once

#include <span>

#include "sim/order/order.h"

namespace ww::sim {

/// All threads of the unit passed a barrier together.
void everyone_met(Order& order);
/// These warps passed a barrier together, at which others arrived without waiting (`arrived`).
void warps_met(Order& order, std::span<const unsigned> warps, const Clocks& arrived);
/// Lanes of a warp met at its barrier.
void lanes_met(Order& order, const Actor& who);

}  // namespace ww::sim
