// SPDX-License-Identifier: Apache-2.0
// Dispatch: for each tile primitive the first variant that accepts it, its code in place of the
// call, and the proof that the code does what the call means.
#pragma once

#include <vector>

#include "base/diag.h"
#include "lower/call.h"
#include "lower/lowering_report.h"

namespace ww::lower {

struct Tampering;  // test_lowering.h

/// Replaces the tile calls of the function. `active` are the active sets of its statements, made
/// before anything was changed. `tampering` is for tests that plant faults, and null otherwise.
void dispatch(Context& context, const ir::ActiveSets& active, LoweringReport& report,
              std::vector<Diag>& errors, Tampering* tampering = nullptr);

}  // namespace ww::lower
