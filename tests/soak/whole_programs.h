// SPDX-License-Identifier: Apache-2.0
// Random whole programs: a kernel with many primitives of several kinds, chained through shared
// memory, tensor memory and registers, in loops and in branches.
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

#include "lower/harness.h"
#include "lower/tape.h"
#include "soak/draft.h"

namespace ww::test {

struct WholeProgram {
  Program program;
  std::size_t used = 0;                        // choices that it was made from
  std::optional<LeftOut> left_out = {};        // which may or may not matter
  std::map<std::string, std::uint64_t> steps;  // by name
};

/// Choices for one: more than other random programs need.
Choices whole_choices(std::uint64_t seed, std::uint64_t number);
WholeProgram whole_program(const Choices& choices);

}  // namespace ww::test
