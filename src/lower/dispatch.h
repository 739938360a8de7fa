// SPDX-License-Identifier: Apache-2.0
// Dispatch: for each tile primitive the first variant that accepts it, its code in place of the
// call, and the proof that the code does what the call means.
#pragma once

#include "lower/call.h"
#include "lower/lower.h"

namespace ww::lower {

/// Replaces the tile calls of the function. `active` are the active sets of its statements, made
/// before anything was changed; `proofs` gets the code to prove, `out` the report and the errors.
void dispatch(Context& context, const ir::ActiveSets& active, const Options& options,
              BackgroundProofs& proofs, Lowered& out);

}  // namespace ww::lower
