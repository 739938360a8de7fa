// SPDX-License-Identifier: Apache-2.0
// Random kernels whose threads compute with scalars: nested expressions over integers and floats of
// every width, names that are assigned, branches, loops of every kind, computed indices. Inputs are
// any bits and edge values (harness/edges.h).
//
// All engines must agree bit for bit; besides, these must come out alike within a program:
//   - an expression with literals, which the front end folds, and with parameters of their values
//   - a condition as a value, and as what an `if` is decided by
// In some programs indices may overflow: then the evaluator says so, or all agree.
#pragma once

#include "soak/whole_programs.h"

namespace ww::test {

/// The tape has given the kind of the program already.
WholeProgram scalar_program(Tape& tape);

}  // namespace ww::test
