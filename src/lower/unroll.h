// SPDX-License-Identifier: Apache-2.0
// Loops over register arrays. A register has no address: an array whose index is a loop variable
// can only stay in registers when the loop is unrolled. Programs write plain `range` loops over
// such arrays all the time, so the compiler unrolls them.
#pragma once

#include "ir/function.h"
#include "lower/lowering_report.h"

namespace ww::lower {

/// Makes serial what are Unroll loops in a lowered program and cannot be expanded: they are left by
/// `break`, or beyond all bounds.
///
/// Local buffers that do not become registers are added to `report.spilled`, with the reason: those that
/// are indexed by anything that is not constant, nor by a loop that is unrolled for them (below), or
/// whose address goes elsewhere than to copy_bytes and registers of PTX instructions.
void settle_loops(ir::Function& function, LoweringReport& report);

/// Such a program for emitters. Serial loops are marked as Unroll where their variable indexes a local
/// buffer (by itself, through T.let, or in a nested loop's bounds), the trip count is constant and the
/// unrolled body stays reasonable: at most 4096 statements. A loop whose trip count outer loops decide
/// stays serial and is annotated `unroll`.
ir::Function with_unrolled_loops(const ir::Function& function);

/// The same, with every Unroll loop expanded: its body once per round with the variable replaced, indices
/// simplified, conditions and loops that become constant resolved. Names that a body binds get
/// fresh variables in each round; storage that it allocates is allocated once, before the outermost
/// expanded loop. Names of constants and of pointers to registers are replaced by what they stand
/// for. What an emitter for PTX wants to see: no loop of kind Unroll is left.
ir::Function expand_unrolled(const ir::Function& function);

}  // namespace ww::lower
