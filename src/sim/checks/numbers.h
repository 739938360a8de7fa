// SPDX-License-Identifier: Apache-2.0
// The `numbers` check: finite operands that produce a NaN or an infinity.
#pragma once

#include "sim/run/warp.h"

namespace ww::sim {

/// Lanes in which all sources, or all results, of the running op are finite.
[[nodiscard]] Mask finite_lanes(const Warp& warp, bool results);
/// After the op: reports lanes whose sources were finite and whose results are not.
void report_numbers(Warp& warp, Mask lanes, Mask finite_before);

}  // namespace ww::sim
