// SPDX-License-Identifier: Apache-2.0
// Loops over register arrays. A register has no address: an array whose index is a loop variable
// can only stay in registers when the loop is unrolled. Programs write plain `range` loops over
// such arrays all the time, so the compiler unrolls them.
#pragma once

#include "ir/function.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Marks as Unroll the serial loops of a lowered program whose variable indexes a local buffer (by
/// itself, through T.let, or in a nested loop's bounds), where the trip count is constant and the
/// unrolled body stays reasonable: at most 4096 statements. A loop whose trip count outer loops
/// decide stays serial and is annotated `unroll`. Unroll loops that cannot be expanded (left by
/// `break`, or beyond all bounds) become serial.
///
/// Local buffers that are indexed by anything else that is not constant, or whose address goes
/// elsewhere than to copy_bytes and registers of PTX instructions, are added to `report.spilled`,
/// with the reason.
void unroll_register_loops(ir::Function& function, LoweringReport& report);

/// Expands every Unroll loop: its body once per round with the variable replaced, indices
/// simplified, conditions and loops that become constant resolved. Names that a body binds get
/// fresh variables in each round; storage that it allocates is allocated once, before the outermost
/// expanded loop. Names of constants and of pointers to registers are replaced by what they stand
/// for. What an emitter for PTX wants to see: no loop of kind Unroll is left.
ir::Function expand_unrolled(const ir::Function& function);

}  // namespace ww::lower
