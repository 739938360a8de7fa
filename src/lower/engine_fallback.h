// SPDX-License-Identifier: Apache-2.0
// Copies of the copy engine on a target without one, where the kernel allows it (ir/engine_fallback.h).
// The thread that would start a copy makes it, and the mbarriers keep their counts:
//
//     full.arrive(0, tx_count=8192)                  Tx.copy_async(tile, A[…])
//     Tx.copy_async(tile, A[…], mbar=full)     →     cp.async.mbarrier.arrive.shared.b64 [full]
//                                                    mbarrier.arrive.shared.b64 _, [full]
//
// The first of the two instructions makes one arrival more, when all cp.async of the thread have landed;
// the phase is held open for it as the bytes would hold it. The second is the arrival that expected the
// bytes, behind the copies now, and it releases what the thread has stored. Until all bytes have come no
// phase ends with the engine either, so waiting for the arrival a little longer blocks nothing more.
//
// A copy to global memory becomes a `copy`, which is done when the call is: bulk groups go. So do the
// fences between the threads' view of memory and the engine's, and counts of registers, which such
// targets do not move between warps.
#pragma once

#include <vector>

#include "lower/call.h"
#include "lower/lower.h"

namespace ww::lower {

/// The statements whose copies threads make in place of the engine.
struct EngineFallback {
  std::vector<ir::StmtId> copies = {};
};

/// Rewrites the function, if the target needs it and the kernel allows it. What cp.async cannot do goes to
/// `errors` (NotOnTarget): copies to several CTAs, reductions, and bytes expected in another block than
/// that of the copies.
EngineFallback replace_engine(ir::Function& function, const ir::LaunchShape& launch,
                              target::Target target, std::vector<Diag>& errors);

/// Errors for copies that several threads come to: each would make all of it.
void check_replaced(const EngineFallback& fallback, Context& context, const ir::ActiveSets& active,
                    std::vector<Diag>& errors);
/// Says in the report what the copies cost.
void note_replaced(const EngineFallback& fallback, const Context& context, LoweringReport& report);

}  // namespace ww::lower
