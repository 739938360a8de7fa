// SPDX-License-Identifier: Apache-2.0
// Loops over register arrays. A register has no address: an array whose index is a loop variable
// can only stay in registers when the loop is unrolled. Programs write plain `range` loops over
// such arrays all the time, so the compiler unrolls them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

/// A register array that had to go to local memory, and why.
struct SpilledArray {
  std::string buffer;
  Span span;
  std::string reason;
};

/// Makes those Unroll loops of a lowered program serial that cannot be expanded: they contain
/// `break`, or are too large.
///
/// Returns local buffers that do not become registers: those that are indexed by anything that is not
/// constant, nor by a loop that is unrolled for them (below), or whose address goes elsewhere than to
/// copy_bytes and registers of PTX instructions.
std::vector<SpilledArray> settle_loops(Function& function);

/// Such a program for CUDA C++. Serial loops are marked as Unroll where their variable indexes a local
/// buffer (by itself, through T.let, or in a nested loop's bounds), the trip count is constant and the
/// unrolled body stays reasonable: at most 4096 statements. A loop whose trip count outer loops decide
/// stays serial and is annotated `unroll`.
Function with_unrolled_loops(const Function& function);

/// The same for PTX, with every Unroll loop expanded: its body once per round with the variable replaced,
/// indices simplified, conditions and loops that become constant resolved. Names that a body binds get
/// fresh variables in each round; storage that it allocates is allocated once, before the outermost
/// expanded loop. Names of constants and of pointers to registers are replaced by their values. No
/// loop of kind Unroll is left.
Function expand_unrolled(const Function& function);

/// The annotation of a serial loop that is to be expanded as soon as its bounds are constant.
inline constexpr std::string_view kUnrollNote = "unroll";

/// Is the loop to be expanded, by its kind or by the annotation?
bool asks_unroll(const Stmt& loop);

/// Does a `break` or `continue` in the body belong to the body's own loop? Such a loop stays one.
bool has_jump(const Function& function, const Block& body);

}  // namespace ww::ir
