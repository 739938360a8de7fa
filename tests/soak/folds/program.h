// SPDX-License-Identifier: Apache-2.0
// Random kernels of one to three reductions, scans and elementwise primitives in place: every operation
// and element type, by threads, warps, warpgroups, the CTA and clusters, over any axes, with `accum` and
// in place, between registers, shared and global memory. Tiles are small and of odd extents, so that often
// several threads hold one element, or a unit has more threads than a tile elements.
//
// No barrier stands between the calls, which have tiles of their own: what must be ordered is inside of
// a call, and so is up to the compiler.
#pragma once

#include "soak/whole_programs.h"

namespace ww::test {

/// The tape has given the kind of the program already.
WholeProgram fold_program(Tape& tape);

}  // namespace ww::test
