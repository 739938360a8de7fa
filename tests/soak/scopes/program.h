// SPDX-License-Identifier: Apache-2.0
// Random kernels of mixed scopes: copies and elementwise primitives by single threads, warps,
// warpgroups and the CTA, on registers that other sets of threads hold, in branches that not all of
// them take. Barriers of the CTA stand between the statements.
//
// What the language has no meaning for is refused, with a place and a reason, or found by the
// evaluator; everything else must agree on all engines.
#pragma once

#include "soak/whole_programs.h"

namespace ww::test {

/// The tape has given the kind of the program already.
WholeProgram scope_program(Tape& tape);

}  // namespace ww::test
