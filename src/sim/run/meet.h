// SPDX-License-Identifier: Apache-2.0
// Collective instructions: lanes of a warp that must execute one together.
#pragma once

#include "sim/lanes.h"
#include "sim/op.h"

namespace ww::sim {

/// Whether all of `wanted` (less ended lanes) execute this op now. If not, the lanes wait for the
/// rest; if the rest cannot arrive, this reports it and the lanes continue without them. Lanes may
/// exit instead of arriving, unless the instruction is `aligned`.
bool meet(Warp& warp, Mask wanted, bool aligned = false);
/// The same for the lanes of a member mask in a register, which all executing lanes must agree on
/// and be members of; `mask` gets it, less ended lanes.
bool meet_mask(Warp& warp, Place place, Mask& mask);
/// The same for all lanes of the warp, for instructions that are `.aligned`.
bool meet_all(Warp& warp);
/// Whether the split has been let go without the lanes it waited for.
bool is_meeting_grant(const Warp& warp);

}  // namespace ww::sim
