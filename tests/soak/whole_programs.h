// SPDX-License-Identifier: Apache-2.0
// Random whole programs. Those of kind `autos` are made only where they are asked for
// (soak/auto_layouts.h). The others are of five kinds: threads that compute with scalars (soak/scalars/program.h),
// primitives of mixed scopes (soak/scopes/program.h), reductions and scans by themselves
// (soak/folds/program.h), one cast of all codes of a type (soak/casts/program.h), or a kernel with many primitives, chained
// through shared memory, tensor memory and registers, in loops and in branches:
//
//     fill every tile              so that everything has contents
//     steps                        see steps.def
//     store every register tile    so that whatever happened is seen
//
// Tiles have one part for each unit (warp, warpgroup, CTA); units go to their own part, to that of
// a neighbour, or all together to all parts. What was accessed since the last barrier is kept, and
// a barrier is written where the next access needs one: within the unit where that is enough. So a
// program is right by construction, unless one barrier or wait was left out on purpose.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/check.h"
#include "harness/exact_cast.h"
#include "harness/tape.h"
#include "soak/order.h"

namespace ww::test {

enum class ProgramKind : std::uint8_t { Tile, Scalar, Scope, Fold, Cast, Auto };
/// "tiles", "scalars", "scopes", "folds", "casts", "autos"
std::string_view name_of(ProgramKind kind);
std::optional<ProgramKind> kind_of(std::string_view name);

struct WholeProgram {
  ProgramKind kind = ProgramKind::Tile;
  Program program;
  std::size_t used = 0;                                         // choices that it was made from
  std::optional<LeftOut> left_out = {};                         // which may or may not matter
  std::map<std::string, std::uint64_t> steps;                   // by name
  std::vector<std::pair<std::string, std::string>> alike = {};  // outputs that must hold the same
  std::string written = {};       // Auto: the source with all layouts written
  std::optional<Cast> cast = {};  // of `A` into `D`
  bool may_overflow = false;      // an index: the evaluator says so, or all engines agree
};

/// Choices for one: more than other random programs need, the first for its kind.
Choices whole_choices(std::uint64_t seed, std::uint64_t number,
                      std::optional<ProgramKind> only = {});
WholeProgram whole_program(const Choices& choices);

}  // namespace ww::test
