// SPDX-License-Identifier: Apache-2.0
// One cast of every code of a type up to 16 bits, or of many numbers of a wider one: any two types,
// any rounding and saturation, for any target; in memory, in registers of threads, warps and CTAs, or
// of scalars. All engines agree, and what they leave is what the formats say (harness/exact_cast.h).
// What a target has no instruction for is declined; a cast without settings is not.
#pragma once

#include "soak/whole_programs.h"

namespace ww::test {

/// The tape has given the kind of the program already.
WholeProgram cast_program(Tape& tape);

}  // namespace ww::test
