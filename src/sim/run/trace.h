// SPDX-License-Identifier: Apache-2.0
// Prints a running warp: executed instructions with their values, and the state at a line as
// tables.
#pragma once

#include <cstdint>
#include <string>

#include "sim/run/warp.h"

namespace ww::sim {

/// Writes a line for the op that is about to run, and its sources.
void trace_op(Warp& warp, std::uint32_t pc);
/// Writes its results once it has run.
void trace_results(Warp& warp, std::uint32_t pc, Mask lanes);
/// Writes registers, shared and tensor memory, if the request still wants any.
void dump_state(Warp& warp, std::uint32_t pc);

}  // namespace ww::sim
