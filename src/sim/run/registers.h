// SPDX-License-Identifier: Apache-2.0
// The registers of a CTA's warps as setmaxnreg moves them: a kernel whose register count is fixed
// (`.maxnreg`, or a block size with `.minnctapersm`) starts with that many for each thread, and
// others may take the registers that warps give back. Without a fixed count ptxas ignores the
// instruction, and so does this.
#pragma once

#include <cstdint>

namespace ww::sim {

class Warp;

/// Registers of each thread when the kernel starts; 0: not fixed.
[[nodiscard]] std::uint32_t registers_at_launch(const Warp& warp);
/// Registers of each thread of the warp now.
[[nodiscard]] std::uint32_t registers_of(const Warp& warp);
/// Registers left in the CTA, for each thread of one warp. Ended warps hold none.
[[nodiscard]] std::int64_t free_registers(const Warp& warp);
/// The warp has executed the running setmaxnreg, which all warps of its warpgroup must do.
void note_request(Warp& warp);
/// Reports requests for registers that an ended warp of the warpgroup has not executed.
void check_requests(Warp& warp);

}  // namespace ww::sim
